"""How often a container was throttled by its CPU limit, from the counters that cAdvisor exports.

Derives `cpu-throttle` with the `share` of periods that were throttled: over the window when there are several samples, else
since the container began.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from collectors.observation import Sample
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts, observe_sample

_THROTTLED, _PERIODS = "container_cpu_cfs_throttled_periods_total", "container_cpu_cfs_periods_total"


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `cpu-throttle` observation for each container."""
    counters: dict[tuple[str, str], dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for metric in (_THROTTLED, _PERIODS):
        for sample in facts.by_metric.get(metric, ()):
            labels = "|".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            counters[sample.node, labels][metric].append(sample)
    for _, series in sorted(counters.items()):
        throttled, periods = _rise(series[_THROTTLED]), _rise(series[_PERIODS])
        if throttled is None or not periods:
            continue
        last = max(series[_THROTTLED], key=lambda one: (one.time or 0.0, one.input, one.line))
        pod = last.labels.get("pod", "")
        attributes = {
            "share": f"{throttled / periods:.3f}",
            "periods": f"{periods:.0f}",
            "throttled": f"{throttled:.0f}",
        }
        line = replace(observe_sample(last), entity=f"pod:{pod}" if pod else "")
        text = f"cpu-throttle share={attributes['share']}"
        yield derive_at(line, "cpu-throttle", "", text, attributes, entity=line.entity), [line]


def _rise(samples: list[Sample]) -> float | None:
    if not samples:
        return None
    ordered = sorted(samples, key=lambda one: (one.time or 0.0, one.input, one.line))
    return ordered[-1].value - ordered[0].value if len(ordered) > 1 else ordered[-1].value
