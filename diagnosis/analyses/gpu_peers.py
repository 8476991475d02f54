"""One GPU beside its equals in one listing: fewer NVLinks, a narrower PCIe link, a lower power limit, lower clocks at work.

Peers are the GPUs of the same input (and model, where it is told). Derives `gpu_outlier` with code `nvlink`, `nvlink-mesh` (a board
without switch, whose GPUs need not have equally many), `pcie-width`, `pcie-generation`, `power-limit` or `clock`, citing the
GPU's own rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import parse_number

_BUSY = 50.0  # per cent of use from which link speed and clocks say something
_SLOW = 0.75  # a clock below this share of its peers' median is behind


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `gpu_outlier` observations."""
    yield from _nvlinks(facts)
    yield from _topology(facts)
    yield from _compare(facts, "gpu_link", "width", "pcie-width", busy=False, share=0.99)
    yield from _compare(facts, "gpu_link", "generation", "pcie-generation", busy=True, share=0.99)
    for kind in ("gpu_power", "gpu_row"):
        yield from _compare(facts, kind, "limit", "power-limit", busy=False, share=0.9)
    yield from _compare(facts, "gpu_clocks", "sm", "clock", busy=True, share=_SLOW)


def _number(one: Observation, name: str) -> float | None:
    return parse_number(one.attributes.get(name, "").split(" ")[0].rstrip("x%W"))


def _is_busy(one: Observation) -> bool:
    use = _number(one, "utilization")
    if use is not None:
        return use >= _BUSY
    return one.attributes.get("reason_idle", "Active") != "Active" and one.attributes.get("pstate", "P8") in (
        "P0",
        "P1",
        "P2",
    )


def _compare(facts: Facts, kind: str, name: str, code: str, *, busy: bool, share: float) -> Iterator[Derived]:
    groups: dict[tuple[str, str, str], dict[str, Observation]] = defaultdict(dict)
    for one in facts.by_kind.get(kind, ()):
        if _number(one, name) is not None and (not busy or _is_busy(one)):
            model = one.code if kind == "gpu_row" else one.attributes.get("model", "")
            groups[(one.input, one.node, model)][one.entity] = one
    for _, rows in sorted(groups.items()):
        for gpu, one in sorted(rows.items()):
            own = _number(one, name)
            peers = [value for other, row in rows.items() if other != gpu and (value := _number(row, name)) is not None]
            if len(peers) < 2 or own is None:
                continue
            middle = median(peers)
            if own < share * middle and sum(value < share * middle for value in peers) * 3 <= len(peers):
                yield _make(one, code, {"value": f"{own:g}", "peers": f"{middle:g}"}), [one]


def _nvlinks(facts: Facts) -> Iterator[Derived]:
    groups: dict[tuple[str, str, str], dict[str, list[Observation]]] = defaultdict(lambda: defaultdict(list))
    for one in facts.by_kind.get("nvlink", ()):
        groups[(one.input, one.node, one.attributes.get("model", ""))][one.entity].append(one)
    for _, rows in sorted(groups.items()):
        up = {
            gpu: len({one.attributes.get("link", "") for one in found if one.code == "active"})
            for gpu, found in rows.items()
        }
        most = max(up.values())
        for gpu, found in sorted(rows.items()):
            down = [one for one in found if one.code != "active"]
            peers = [count for other, count in up.items() if other != gpu]
            if down and peers and up[gpu] < most and sum(count < most for count in peers) * 3 <= 2 * len(peers):
                yield _make(down[0], "nvlink", {"value": str(up[gpu]), "peers": str(most)}), down


def _topology(facts: Facts) -> Iterator[Derived]:
    """Compare how many NVLinks the matrix of `topo -m` gives each GPU, summed over the others."""
    groups: dict[tuple[str, str], dict[str, Observation]] = defaultdict(dict)
    for one in facts.by_kind.get("gpu_topology", ()):
        groups[(one.input, one.node)][one.entity] = one
    for _, rows in sorted(groups.items()):
        counts = {gpu: int(_number(one, "nvlinks") or 0) for gpu, one in rows.items()}
        most = max(counts.values())
        behind = sorted(gpu for gpu, count in counts.items() if count < most)
        if len(counts) < 3 or not behind or (any(not counts[gpu] for gpu in behind) and len(behind) > 1):
            continue
        # through a switch, a GPU has equally many links to all others
        switched = all(rows[gpu].attributes.get("alike") == "yes" for gpu in behind)
        if len(behind) * 3 <= len(counts) * (1 if switched else 2):
            for gpu in behind:
                numbers = {"value": str(counts[gpu]), "peers": str(most)}
                yield _make(rows[gpu], "nvlink" if switched else "nvlink-mesh", numbers), [rows[gpu]]


def _make(one: Observation, code: str, attributes: dict[str, str]) -> Observation:
    text = f"{code} {attributes['value']}, its peers {attributes['peers']}"
    more = {name: value for name, value in one.attributes.items() if name in ("pci", "gpu", "model")}
    return derive_at(one, "gpu_outlier", code, text, {**more, **attributes}, entity=one.entity)
