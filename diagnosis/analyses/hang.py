"""When a collective began to wait, and which ranks and hosts said nothing of it: where to look when nothing shows why.

Reads `watchdog-timeout` and `progress` (who waited), `init` and the relations rank → host. Yields one `hang` fact with `since` and
`until` (a minute around one timeout before the first complaint, by the clock of the log), `timeout_s`, and, where some ranks are silent,
`silent` (their numbers) and `look_at` (their hosts).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from collectors.clock import is_possible
from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number, read_ranks

_AROUND = 60.0  # seconds
_MOST_NAMED = 8


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield at most one `hang` fact."""
    timeouts = facts.by_kind.get("watchdog-timeout", ())
    if not timeouts:
        return
    first = min(timeouts, key=_began)
    waited = (read_number(first, "ran_ms") or read_number(first, "timeout_ms") or 0.0) / 1000
    attributes = {"timeout_s": f"{waited:.0f}"}
    if first.time is not None and is_possible(began := first.time - waited):
        attributes |= {"since": _clock(began - _AROUND), "until": _clock(began + _AROUND)}
    silent = find_silent([*timeouts, *facts.by_kind.get("progress", ())], facts)
    if silent:
        hosts = _hosts_of(silent, facts)
        named = ", ".join(map(str, silent[:_MOST_NAMED])) + (" ..." if len(silent) > _MOST_NAMED else "")
        attributes["silent"] = named
        attributes["look_at"] = f"{', '.join(hosts[:_MOST_NAMED])} (rank {named})" if hosts else f"rank {named}"
    text = f"waiting since about {attributes.get('since', '?')}" + (
        f"; silent: rank {attributes['silent']}" if silent else ""
    )
    yield derive_at(first, "hang", "", text, attributes, node=""), [first]


def _began(one: Observation) -> tuple[float, str, int]:
    ran = (read_number(one, "ran_ms") or 0.0) / 1000
    return (one.time - ran if one.time is not None else float("inf"), one.input, one.line)


def _clock(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S")


def find_silent(said: Sequence[Observation], facts: Facts) -> list[int]:
    """Return the ranks of the job that are in none of these facts, an empty list when those are many."""
    spoke = {rank for one in said if (rank := read_ranks(one, "rank")) is not None}
    sizes = {ranks for one in facts.by_kind.get("init", ()) if (ranks := read_ranks(one, "ranks")) is not None}
    size = max(sizes | {rank + 1 for rank in spoke}, default=0)
    missing = [rank for rank in range(size) if rank not in spoke]
    return missing if len(missing) * 2 < size else []


def _hosts_of(ranks: Sequence[int], facts: Facts) -> list[str]:
    wanted = {f"rank:{rank}" for rank in ranks}
    hosts = {
        facts.resolver.host(one.lower[5:])
        for one in facts.relations
        if one.how == "on" and one.upper in wanted and one.lower.startswith("node:")
    }
    return sorted(hosts)
