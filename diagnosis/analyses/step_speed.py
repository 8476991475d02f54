"""How much a training job computes against what its GPUs can, whether that fell within the run, and where its steps' time goes.

Reads `step` (tflops, mfu, rate, step_ms), `step-timers`, `model-size`, `run-gpu`, `run-peak` and whatever names the GPUs. Yields

- `step-work` for each input: code `low`, `ordinary` or `unknown`, `share` of the GPU's dense peak. A share says something only of a
  model that is known to be large, since small ones keep no GPU busy; mixtures of experts reach less than dense models. Published
  runs of large dense models reach 0.3 to 0.5, so that a tenth is low whatever the layout;
- `slowdown` where a figure fell late and stayed there to the end of the input (`diagnosis.analyses.pace` compares the thirds);
- `step-share`, code `data` or `communication`: the median share of a step in the trainer's own timers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.pace import make
from diagnosis.facts import Facts
from diagnosis.figures import read_number
from diagnosis.rulebook.peaks import find_peak

Derived = Iterator[tuple[Observation, list[Observation]]]
_LOW, _LOW_WITH_EXPERTS = 0.1, 0.04  # of the dense peak
_PARAMETERS, _HIDDEN = 1e9, 2048  # from which on a model is large
_SURE_PEAK = 400.0  # TFLOP/s: programs that don't know a card take that of an A100, 312
_FACTOR, _SLOWER, _MOST_OF = 1.5, 1.3, 0.8
_LEAST_LINES, _LEAST_TAIL, _CANDIDATES = 12, 4, 48


def derive(facts: Facts) -> Derived:
    """Yield `step-work`, `slowdown` and `step-share` observations."""
    inputs: dict[str, list[Observation]] = defaultdict(list)
    runs: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("step", ()):
        inputs[one.input].append(one)
        runs[one.input, one.attributes.get("rank", "")].append(one)
    for _, steps in sorted(inputs.items()):
        yield from _work(sorted(steps, key=lambda one: one.line), facts)
    told = {(one.input, one.attributes.get("rank", "")) for one in facts.by_kind.get("slowdown", ())}
    for run, steps in sorted(runs.items()):
        if run not in told:
            yield from _late_slowdown(sorted(steps, key=lambda one: one.line))
    yield from _timers(facts)


def _work(steps: list[Observation], facts: Facts) -> Derived:
    rows = [one for one in steps if read_number(one, "tflops") or read_number(one, "mfu")]
    rows = rows[min(10, max(1, len(rows) // 5)) :]  # the first pay for compilation and full queues
    if len(rows) < 2:
        return
    peak, proof = _peak(rows[0].input, facts)
    shares = [(share, one) for one in rows if (share := _share(one, peak))]
    if len(shares) < 2:
        return
    middle = median(share for share, _ in shares)
    size, experts = _size(rows[0].input, facts)
    floor = _LOW_WITH_EXPERTS if experts else _LOW
    low = middle < floor and sum(share < floor for share, _ in shares) >= _MOST_OF * len(shares)
    code = "ordinary" if not low else "low" if size else "unknown"
    near = min(shares, key=lambda row: (abs(row[0] - middle), row[1].line))[1]
    attributes = {"share": f"{middle:.3f}", "percent": f"{middle * 100:.1f}", **({"peak": f"{peak:g}"} if peak else {})}
    yield make(near, "step-work", attributes, code), [near, rows[-1], *size[:1], *proof[:1]]


def _share(one: Observation, peak: float) -> float:
    tflops, mfu = read_number(one, "tflops") or 0.0, read_number(one, "mfu") or 0.0
    if tflops and peak:
        return tflops / peak
    stated = tflops / mfu * 100 if tflops and mfu else peak  # the peak that the program counted with
    return mfu / 100 if stated >= _SURE_PEAK else 0.0


def _peak(name: str, facts: Facts) -> tuple[float, list[Observation]]:
    """Return the TFLOP/s of the slowest GPU that the inputs name, or that the program itself counts with."""
    named: list[tuple[float, list[Observation]]] = []
    for one in chain.from_iterable(
        facts.by_kind.get(kind, ()) for kind in ("run-gpu", "gpu_row", "gpu_listed", "test-device")
    ):
        model = one.attributes.get("model") or one.code
        named.append(
            (find_peak(model, facts.reference.peaks), [one] if one.kind == "run-gpu" and one.input == name else [])
        )
    for metric in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_SM_CLOCK"):
        samples = facts.by_metric.get(metric, ())
        named.extend((find_peak(sample.labels.get("modelName", ""), facts.reference.peaks), []) for sample in samples)
    known = [row for row in named if row[0]]
    if known:
        return min(known, key=lambda row: (row[0], not row[1]))
    stated = [one for one in facts.by_kind.get("run-peak", ()) if one.input == name]
    return (read_number(stated[0], "tflops") or 0.0, stated[:1]) if stated else (0.0, [])


def _size(name: str, facts: Facts) -> tuple[list[Observation], bool]:
    """Return the line that states a large model, if any, and whether the model is a mixture of experts."""
    sizes = facts.by_kind.get("model-size", ())
    sizes = [one for one in sizes if one.input == name] or list(sizes)
    large = [
        one
        for one in sizes
        if (read_number(one, "parameters") or 0) >= _PARAMETERS or (read_number(one, "hidden") or 0) >= _HIDDEN
    ]
    return large, any((read_number(one, "experts") or 0) > 1 for one in sizes)


def _late_slowdown(steps: list[Observation]) -> Derived:
    for figure in ("tflops", "mfu", "rate", "step_ms"):
        rows = [(value, one) for one in steps if (value := read_number(one, figure)) and value > 0]
        if len(rows) < _LEAST_LINES:
            continue
        times = [value if figure == "step_ms" else 1 / value for value, _ in rows]
        found = _find_change(times)
        if found:
            at, factor = found
            because = [rows[at - 1][1], rows[at][1], rows[-1][1]]
            yield make(rows[-1][1], "slowdown", {"factor": f"{factor:.3f}", "figure": figure}), because
        return


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


def _timers(facts: Facts) -> Derived:
    inputs: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("step-timers", ()):
        inputs[one.input].append(one)
    for _, rows in sorted(inputs.items()):
        rows.sort(key=lambda one: one.line)
        steady = rows[1:] or rows
        for code in ("data", "communication"):
            shares = [
                ((read_number(one, f"{code}_ms") or 0.0) / (read_number(one, "total_ms") or 1.0), one) for one in steady
            ]
            middle = median(share for share, _ in shares)
            near = min(shares, key=lambda row: (abs(row[0] - middle), row[1].line))[1]
            spent = f"{median(read_number(one, f'{code}_ms') or 0.0 for one in steady):.6g}"
            if middle > 0:
                yield (
                    make(near, "step-share", {"share": f"{middle:.3f}", "ms": spent, "lines": str(len(steady))}, code),
                    [near],
                )
