"""How much a training job computes against what its GPUs can.

Reads `step` (tflops, mfu), `model-size`, `run-gpu`, `run-peak` and whatever names the GPUs. Derives, for each input, `step-work` with
code `low`, `ordinary` or `unknown` and the `share` of the GPU's dense peak. A share says something only of a model that is known to
be large, since small ones keep no GPU busy; mixtures of experts reach less than dense models. Published runs of large dense models
reach 0.3 to 0.5, so that a tenth is low whatever the layout.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number
from diagnosis.rulebook.peaks import find_peak

_LOW, _LOW_WITH_EXPERTS = 0.1, 0.04  # of the dense peak
_PARAMETERS, _HIDDEN = 1e9, 2048  # from which on a model is large
_SURE_PEAK = 400.0  # TFLOP/s: programs that don't know a card take that of an A100, 312
_MOST_OF = 0.8  # of the lines that must be low


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `step-work` observations."""
    inputs: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("step", ()):
        inputs[one.input].append(one)
    for _, steps in sorted(inputs.items()):
        yield from _work(sorted(steps, key=lambda one: one.line), facts)


def _work(steps: list[Observation], facts: Facts) -> Iterator[Derived]:
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
    yield (
        derive_at(near, "step-work", code, attributes=attributes, entity=near.entity),
        [near, rows[-1], *size[:1], *proof[:1]],
    )


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
