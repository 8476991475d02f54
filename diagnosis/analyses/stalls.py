"""What a job was busy with when a collective began to wait: look one timeout back from the watchdog's line.

Reads `watchdog-timeout` and `phase` facts, and `rendezvous` where ranks waited in vain for the store: rank 0 writes the first key
of a group when it enters the first collective. Yields `stalled-in` (code the phase) where saving, evaluating, preparing data or
compiling began about when the collective that later timed out was started, or, without times, where it is the last thing that
began in that log before the timeout and no end of it is printed, or what a rank that did not time out is at right after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_BEFORE, _AFTER = 180.0, 90.0  # seconds around the start of the collective in which the phase began
_NEAR = 40  # lines after the timeout in which another rank shows what it is at
_MOST_LINES = 400  # between the phase and the timeout where no time tells


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield at most one `stalled-in` for each input that shows a timeout."""
    phases = sorted(facts.by_kind.get("phase", ()), key=lambda one: (one.input, one.line))
    if not phases:
        return
    first: dict[str, Observation] = {}
    waited: dict[str, set[str]] = defaultdict(set)
    waits = [one for one in facts.by_kind.get("rendezvous", ()) if one.code == "store-timeout"]
    for one in (*facts.by_kind.get("watchdog-timeout", ()), *waits):
        waited[one.input].add(one.attributes.get("rank", ""))
        if one.input not in first or one.line < first[one.input].line:
            first[one.input] = one
    for name, timeout in sorted(first.items()):
        found = list(_look_back(timeout, phases, name))
        yield from found or _look_around(timeout, phases, waited[name])


def _look_back(timeout: Observation, phases: Sequence[Observation], name: str) -> Iterator[Derived]:
    ran = (read_number(timeout, "ran_ms") or read_number(timeout, "milliseconds") or 0.0) / 1000.0
    began = timeout.time - ran if timeout.time is not None else None
    for phase in reversed(phases):
        if phase.attributes.get("edge") != "begin":
            continue
        here = phase.input == name and phase.line < timeout.line
        if began is not None and phase.time is not None:
            if not -_BEFORE <= phase.time - began <= _AFTER:
                continue
        elif not here or timeout.line - phase.line > _MOST_LINES:
            continue
        later = [one for one in phases if one.input == phase.input and one.line > phase.line and one.code == phase.code]
        later = [one for one in later if one.input != name or one.line < timeout.line]
        ended = next((one for one in later if one.attributes.get("edge") == "end"), None)
        if ended is not None and not _is_late(ended, began):
            continue
        parts = [one for one in later if one.attributes.get("edge") == "part"]
        busy = phase.attributes.get("rank") or timeout.attributes.get("awaited", "")
        attributes = {"phase": phase.code, "timeout_s": f"{ran:.0f}", "rank": busy}
        text = f"{phase.code} began before the collective that waited {ran:.0f} s"
        entity = f"rank:{busy}" if busy else phase.entity
        yield (
            derive_at(phase, "stalled-in", phase.code, text, attributes, entity=entity),
            [phase, *parts[-2:], timeout],
        )
        return


def _look_around(timeout: Observation, phases: Sequence[Observation], waited: set[str]) -> Iterator[Derived]:
    """Find what a rank that did not time out was at, by a line without time right after the others' timeouts."""
    for phase in phases:
        rank = phase.attributes.get("rank", "")
        near = phase.input == timeout.input and timeout.line < phase.line <= timeout.line + _NEAR
        if near and rank and rank not in waited and phase.time is None and phase.attributes.get("edge") == "begin":
            text = f"{phase.code} goes on in rank {rank} while others time out"
            attributes = {"phase": phase.code, "rank": rank}
            yield derive_at(phase, "stalled-in", phase.code, text, attributes, entity=f"rank:{rank}"), [phase, timeout]
            return


def _is_late(ended: Observation, began: float | None) -> bool:
    """Tell whether the work ended only long after the others had begun to wait."""
    return began is not None and ended.time is not None and ended.time - began > 120.0
