"""How long a model server took to load its weights: by its own count, or from the first line about it to the last.

Derives `weights-load` with `seconds`, and `mib_per_second` where the size of the weights is printed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_MOST = 86400.0  # seconds: beyond a day the two lines belong to different starts


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield one `weights-load` observation an input, for the slowest load."""
    inputs: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("weights", ()):
        inputs[one.input].append(one)
    for _, lines in sorted(inputs.items()):
        best: tuple[float, Observation, list[Observation]] | None = None
        start: Observation | None = None
        for one in sorted(lines, key=lambda line: line.line):
            if one.code == "start":
                start = one if start is None else start
                continue
            seconds = read_number(one, "seconds")
            cited = [one]
            if seconds is None and start is not None and start.time is not None and one.time is not None:
                seconds, cited = one.time - start.time, [start, one]
            if seconds is not None and 0 <= seconds <= _MOST and (best is None or seconds > best[0]):
                best = (seconds, one, cited)
        if best is not None:
            yield _make(*best), _with_first(best[2], lines)


def _with_first(cited: list[Observation], lines: list[Observation]) -> list[Observation]:
    first = next((one for one in sorted(lines, key=lambda line: line.line) if one.code == "done"), None)
    return [*cited, first] if first is not None and first not in cited else cited


def _make(seconds: float, one: Observation, cited: list[Observation]) -> Observation:
    attributes = {"seconds": f"{seconds:.0f}"}
    size = read_number(one, "gib")
    if size and seconds > 0:
        attributes["mib_per_second"] = f"{size * 1024 / seconds:.1f}"
    return derive_at(one, "weights-load", attributes=attributes, entity=one.entity)
