"""Whether a training run became slower within its own log.

Derives, for each input (and rank), `slowdown` with the `factor`: between the median step time of the last third of the progress
lines and that of the first, for the same work where the lines tell how much; or, where these are alike, of a figure that fell late
and stayed there to the end of the input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_LEAST = 3  # lines of progress from which thirds may be compared
_FACTOR, _SLOWER, _MOST_OF = 1.5, 1.3, 0.8
_LEAST_LINES, _LEAST_TAIL, _CANDIDATES = 12, 4, 48


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield at most one `slowdown` observation for each run."""
    runs: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("step", ()):
        runs[one.input, one.attributes.get("rank", "")].append(one)
    for _, steps in sorted(runs.items()):
        steps.sort(key=lambda one: one.line)
        thirds = _compare_thirds([one for one in steps if read_number(one, "step_ms")])
        late = None if thirds and float(thirds[0].attributes["factor"]) >= _SLOWER else _find_late(steps)
        if found := late or thirds:
            yield found


def _compare_thirds(steps: list[Observation]) -> Derived | None:
    if len(steps) < _LEAST:
        return None
    # batches may grow within a run: where all lines tell what was computed, the time for the same work counts
    work = [read_number(one, "tflops") or 0.0 for one in steps]
    times = [1 / value for value in work] if all(work) else [read_number(one, "step_ms") or 0.0 for one in steps]
    part = max(1, len(steps) // 3)
    before, after = median(times[:part]), median(times[-part:])
    middle = median(times[part : len(times) - part] or times[-part:])
    if before <= 0 or min(after, middle) < before:  # it must have lasted, not only have ended badly
        return None
    cited = [steps[0], steps[-part], steps[-1]]
    attributes = {"factor": f"{after / before:.3f}"}
    return derive_at(steps[-1], "slowdown", attributes=attributes, entity=steps[-1].entity), cited


def _find_late(steps: list[Observation]) -> Derived | None:
    for figure in ("tflops", "mfu", "rate", "step_ms"):
        rows = [(value, one) for one in steps if (value := read_number(one, figure)) and value > 0]
        if len(rows) < _LEAST_LINES:
            continue
        times = [value if figure == "step_ms" else 1 / value for value, _ in rows]
        found = _find_change(times)
        if found:
            at, factor = found
            because = [rows[at - 1][1], rows[at][1], rows[-1][1]]
            attributes = {"factor": f"{factor:.3f}", "figure": figure}
            return derive_at(rows[-1][1], "slowdown", attributes=attributes, entity=rows[-1][1].entity), because
        return None
    return None


def _find_change(times: Sequence[float]) -> tuple[int, float] | None:
    """Return from where on nearly all is slower, to the end, than nearly all before, and by how much."""
    best: tuple[float, int] | None = None
    tail = max(_LEAST_TAIL, len(times) // 20)
    first, last = len(times) // 4, len(times) - tail
    for at in range(first, last + 1, max(1, (last - first) // _CANDIDATES)):
        before, after = times[1:at], times[at:]
        base = median(before)
        if median(after) < _FACTOR * base or sum(one < _SLOWER * base for one in after) > (1 - _MOST_OF) * len(after):
            continue
        if sum(one >= _SLOWER * base for one in before) <= (1 - _MOST_OF) * len(before):
            best = max(best or (0.0, 0), (median(after) / base, -at))
    return (-best[1], best[0]) if best else None
