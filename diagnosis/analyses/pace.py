"""The pace of a training run, from its own progress lines: how much of a step is waiting for data, and whether it slows down.

Derives, for each input (and rank), `data-wait` with the median `share` of a step spent waiting for data, and `slowdown` with the
`factor` between the median step time of the last third of the lines and that of the first. The first step is left out: it pays
for compilation and for filling the loader's queues.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from collectors.observation import Observation
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_LEAST = 3  # lines of progress from which a trend may be told


def derive(facts: Facts) -> Iterator[tuple[Observation, list[Observation]]]:
    """Yield `data-wait` and `slowdown` observations."""
    runs: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("step", ()):
        if read_number(one, "step_ms"):
            runs[one.input, one.attributes.get("rank", "")].append(one)
    for _, steps in sorted(runs.items()):
        steps.sort(key=lambda one: one.line)
        yield from _share(steps)
        yield from _slowdown(steps)


def make(one: Observation, kind: str, attributes: dict[str, str], code: str = "") -> Observation:
    """Return a derived observation that stands where `one` stands."""
    text = f"{kind} " + " ".join(f"{name}={value}" for name, value in attributes.items())
    return Observation(
        "derived", kind, one.input, one.line, one.line, text, code=code, time=one.time, node=one.node,
        entity=one.entity, attributes=attributes, raw=one.raw,
    )  # fmt: skip


def _share(steps: list[Observation]) -> Iterator[tuple[Observation, list[Observation]]]:
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
    yield (
        make(cited[0], "data-wait", {"share": f"{middle:.3f}", "data_ms": f"{waiting:.6g}", "lines": str(len(steady))}),
        cited,
    )


def _slowdown(steps: list[Observation]) -> Iterator[tuple[Observation, list[Observation]]]:
    if len(steps) < _LEAST:
        return
    # batches may grow within a run: where all lines tell what was computed, the time for the same work counts
    work = [read_number(one, "tflops") or 0.0 for one in steps]
    times = [1 / value for value in work] if all(work) else [read_number(one, "step_ms") or 0.0 for one in steps]
    part = max(1, len(steps) // 3)
    before, after = median(times[:part]), median(times[-part:])
    middle = median(times[part : len(times) - part] or times[-part:])
    if before <= 0 or min(after, middle) < before:  # it must have lasted, not only have ended badly
        return
    cited = [steps[0], steps[-part], steps[-1]]
    yield make(steps[-1], "slowdown", {"factor": f"{after / before:.3f}"}), cited
