"""Which rank computes longer than its peers, from tables of step times by rank.

In a synchronous job every rank's step takes equally long: the slow one is told by its own work (forward, compute, data) and by
waiting least. Derives `slow-rank` with code `compute` or `data` and the `factor` to the peers' median.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_OWN = {
    "compute": (
        "forward_ms",
        "compute_ms",
        "fwd_ms",
        "forward_time",
        "compute_time",
        "forward_s",
        "compute_s",
        "backward_ms",
    ),
    "data": ("data_ms", "data_time", "dataloader_ms", "data_wait_ms", "data_s", "load_ms"),
}
_FACTOR = 1.25
_PEERS, _STEPS = 3, 2


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `slow-rank` observation for a rank that is behind in most of its steps."""
    tables: dict[str, dict[str, list[Observation]]] = defaultdict(lambda: defaultdict(list))
    for one in facts.by_kind.get("step", ()):
        if one.attributes.get("rank"):
            tables[one.input][one.attributes["rank"]].append(one)
    for _, ranks in sorted(tables.items()):
        if len(ranks) > _PEERS:
            for code, names in _OWN.items():
                yield from _compare(ranks, code, names)


def _compare(ranks: dict[str, list[Observation]], code: str, names: tuple[str, ...]) -> Iterator[Derived]:
    for name in names:
        typical = {
            rank: median(values)
            for rank, rows in ranks.items()
            if len(values := [value for one in rows if (value := read_number(one, name)) is not None]) >= _STEPS
        }
        if len(typical) <= _PEERS:
            continue
        for rank, own in sorted(typical.items()):
            peers = median(value for other, value in typical.items() if other != rank)
            if (
                peers > 0
                and own >= _FACTOR * peers
                and sum(value >= _FACTOR * peers for value in typical.values()) * 4 <= len(typical)
            ):
                rows = ranks[rank]
                gpu = rows[0].attributes.get("gpu", "")
                attributes = {"rank": rank, "factor": f"{own / peers:.3f}", "column": name, "gpu": gpu}
                text = f"slow-rank rank={rank} {name} {own:g} ms, peers {peers:g} ms"
                yield derive_at(rows[0], "slow-rank", code, text, attributes, entity=f"rank:{rank}"), rows[:3]
        return
