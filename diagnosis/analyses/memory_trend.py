"""Host memory that only ever grows (or what is available, that only ever shrinks) over a series of samples.

Derives `memory-trend` with code `growing` or `shrinking` and the `factor` between the ends. A plateau, a fall or a handful of
samples is no trend: nearly every step must go the same way and the whole change must be large. The same for one process in
repeated answers of ps: fewer are needed where each is above the one before.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from collectors.observation import Observation, Sample
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts, observe_sample
from diagnosis.figures import read_number

_USED = re.compile(
    r"(?i)(?:^|_)(?:rss|pss|uss)(?:_|$)|mem(?:ory)?_(?:used|usage|working_set)|working_set_bytes|resident_memory|virtual_memory_used"
)
_AVAILABLE = re.compile(r"(?i)mem(?:ory)?_?(?:avail(?:able)?|free)")
_NOT_HOST = re.compile(r"(?i)gpu|cuda|dcgm|hbm|vram|^vllm|_fb_")
_LEAST = 6  # samples
_STEADY = 0.9  # share of steps that go the same way
_FACTOR = 1.5
_LEAST_ANSWERS, _FACTOR_ANSWERS, _LARGE = 4, 2.0, 2**30  # of ps: how many, how much more at the end, bytes that count


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `memory-trend` observations, citing the first and the last sample."""
    for metric in sorted(facts.by_metric):
        sign = 1 if _USED.search(metric) else -1 if _AVAILABLE.search(metric) else 0
        if sign == 0 or _NOT_HOST.search(metric):
            continue
        series: dict[tuple[str, str, str], list[Sample]] = defaultdict(list)
        for sample in facts.by_metric[metric]:
            names = tuple(
                f"{name}={value}"
                for name, value in sorted(sample.labels.items())
                if name not in ("step", "epoch", "iteration")
            )
            series[sample.input, sample.node, "|".join((sample.entity, *names))].append(sample)
        for _, samples in sorted(series.items()):
            samples.sort(key=lambda one: (one.time if one.time is not None else 0.0, one.line))
            factor = _measure([one.value for one in samples], sign)
            if factor is not None:
                yield (
                    _make(samples, "growing" if sign > 0 else "shrinking", factor),
                    [observe_sample(samples[0]), observe_sample(samples[-1])],
                )
    yield from _follow_processes(facts)


def _follow_processes(facts: Facts) -> Iterator[Derived]:
    answers: dict[tuple[str, str, str, str], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("process", ()):
        if read_number(one, "rss") is not None and one.attributes.get("command"):
            answers[one.input, one.node, one.entity, one.attributes["command"]].append(one)
    for _, rows in sorted(answers.items()):
        rows.sort(key=lambda one: one.line)
        sizes = [read_number(one, "rss") or 0.0 for one in rows]
        if len(rows) < _LEAST_ANSWERS or any(after <= before for before, after in pairwise(sizes)):
            continue
        if sizes[0] <= 0 or sizes[-1] < _LARGE or sizes[-1] / sizes[0] < _FACTOR_ANSWERS:
            continue
        last, factor = rows[-1], f"{sizes[-1] / sizes[0]:.3f}"
        text = f"memory-trend rss {sizes[0]:g} -> {sizes[-1]:g}"
        attributes = {"metric": "rss", "factor": factor, "samples": str(len(rows))}
        yield derive_at(last, "memory-trend", "growing", text, attributes, entity=last.entity), [rows[0], last]


def _measure(values: list[float], sign: int) -> float | None:
    if len(values) < _LEAST or min(values) <= 0:
        return None
    steps = [sign * (after - before) for before, after in pairwise(values)]
    if sum(step > 0 for step in steps) < _STEADY * len(steps):
        return None
    factor = values[-1] / values[0] if sign > 0 else values[0] / values[-1]
    return factor if factor >= _FACTOR else None


def _make(samples: list[Sample], code: str, factor: float) -> Observation:
    first, last = samples[0], samples[-1]
    text = f"memory-trend {last.metric} {first.value:g} -> {last.value:g} over {len(samples)} samples"
    attributes = {"metric": last.metric, "factor": f"{factor:.3f}", "samples": str(len(samples))}
    return derive_at(observe_sample(last), "memory-trend", code, text, attributes)
