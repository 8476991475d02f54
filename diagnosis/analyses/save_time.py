"""How long saves of a checkpoint held a job up, from the times of its own log.

Reads the `phase` facts of saving (and the ends of epochs) and `step` facts. Yields `long-save` (with `seconds`) where it took five
minutes and more. Code `stalled`: from the line that begins a save to the line that ends it with hardly a line and no step between,
in a log that otherwise tells of steps much more often. Code `since`: the log does not tell of steps, or only the end of an epoch and
`Saved checkpoint ...` are printed. A save in the background, with steps going on meanwhile, holds nobody up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice, pairwise
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts

_BACKGROUND = re.compile(r"(?<!if )async")  # TorchTitan says "(or staging if async is enabled)" of every save
_LEAST = 300.0  # seconds
_MOST = 6 * 3600.0  # longer than that a log was cut or the job was stopped between
_MOST_LINES = 40  # between beginning and end while nothing goes on
_RARER = 3.0  # how much longer than the time between two lines that tell of steps
_MOST_FACTS = 8  # of one input


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `long-save` observations, citing the line before the save and the line that ends it."""
    logs: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    saves = [one for one in facts.by_kind.get("phase", ()) if one.code == "checkpoint" and one.time is not None]
    if not any(one.attributes.get("edge") == "end" for one in saves):
        return
    for kind in ("phase", "step"):
        for one in facts.by_kind.get(kind, ()):
            if one.time is not None or kind == "step":
                logs[one.input, one.attributes.get("rank", "")].append(one)
    for _, lines in sorted(logs.items()):
        lines.sort(key=lambda one: one.line)
        yield from islice(_measure(lines), _MOST_FACTS)


def _measure(lines: list[Observation]) -> Iterator[Derived]:
    rhythm = _tell_rhythm(lines)
    before: Observation | None = None  # where the save began, or the last that was seen before it
    for one in lines:
        edge = one.attributes.get("edge")
        if one.code != "checkpoint" or edge == "begin" or one.kind != "phase":
            before = one
            continue
        if edge == "part":
            continue
        if before is not None and before.kind == "phase" and before.code in ("checkpoint", "epoch"):
            seconds = (one.time or 0.0) - (before.time or 0.0)
            if _LEAST <= seconds <= _MOST and not _BACKGROUND.search(before.text + one.text):
                near = one.line - before.line <= _MOST_LINES
                stalled = before.code == "checkpoint" and near and rhythm is not None and seconds >= _RARER * rhythm
                code, attributes = "stalled" if stalled else "since", {"seconds": f"{seconds:.0f}"}
                yield derive_at(one, "long-save", code, attributes=attributes, entity=one.entity), [before, one]
        before = None


def _tell_rhythm(lines: list[Observation]) -> float | None:
    """Return the usual time between two lines that tell of steps, None where there are fewer than three."""
    times = [one.time for one in lines if one.kind == "step" and one.time is not None]
    return median(abs(after - before) for before, after in pairwise(times)) if len(times) >= 3 else None
