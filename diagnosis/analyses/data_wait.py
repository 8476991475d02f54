"""How much of a training step is waiting for data, from a run's own progress lines.

Derives, for each input (and rank), `data-wait` with the median `share` of a step spent waiting for data. The first step is left
out: it pays for compilation and for filling the loader's queues.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_LEAST = 3  # lines from which the first is left out


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `data-wait` observation for each run whose lines tell."""
    runs: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("step", ()):
        if read_number(one, "step_ms"):
            runs[one.input, one.attributes.get("rank", "")].append(one)
    for _, steps in sorted(runs.items()):
        yield from _tell_wait(sorted(steps, key=lambda one: one.line))


def _tell_wait(steps: list[Observation]) -> Iterator[Derived]:
    rows = []
    for one in steps:
        step, data = read_number(one, "step_ms"), read_number(one, "data_ms")
        if step and data is not None and 0 <= data <= step * 1.05:  # rounding of two printed numbers
            rows.append((data / step, one))
    steady = rows[1:] if len(rows) >= _LEAST else rows
    if len(steady) < 2:
        return
    middle = median(share for share, _ in steady)
    waiting = median(read_number(one, "data_ms") or 0.0 for _, one in steady)
    near = sorted(steady, key=lambda row: (abs(row[0] - middle), row[1].line))[:3]
    longest = max(steady, key=lambda row: read_number(row[1], "data_ms") or 0.0)
    cited = sorted({one.line: one for _, one in (*near, longest)}.values(), key=lambda one: one.line)
    attributes = {"share": f"{middle:.3f}", "data_ms": f"{waiting:.6g}", "lines": str(len(steady))}
    yield derive_at(cited[0], "data-wait", attributes=attributes, entity=cited[0].entity), cited
