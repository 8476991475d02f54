"""What DCGM's gauge of the last Xid tells: `DCGM_FI_DEV_XID_ERRORS` keeps its value until another Xid or a new start of the exporter.

Derives `last_xid` (code = the Xid) for each GPU, with attribute state: `new` when the value came up within the readings, `standing`
when it was there from the first on, so that nobody knows when it struck, and `stale` when the GPU answers although the Xid says that
it is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation, Sample
from diagnosis.analyses.derived import Derived
from diagnosis.facts import Facts

_GAUGE = "DCGM_FI_DEV_XID_ERRORS"
_GONE = frozenset({79})  # the GPU cannot answer after it
_ANSWERS = ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE")
_SAME_READING = 5.0  # seconds


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield one `last_xid` for each GPU whose gauge shows an Xid at last."""
    series: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    for one in facts.by_metric.get(_GAUGE, ()):
        series[one.node, one.entity or repr(sorted(one.labels.items()))].append(one)
    for key, samples in sorted(series.items()):
        samples.sort(key=lambda one: (one.time or 0.0, one.input, one.line))
        last = samples[-1]
        if not 0 < last.value < 1000:  # 0: none yet; very large numbers stand for blank
            continue
        first = len(samples) - 1
        while first and samples[first - 1].value == last.value:
            first -= 1
        state = "new" if first else "stale" if last.value in _GONE and _answers(facts, key, last) else "standing"
        shown = samples[first] if first else last
        yield (
            Observation(
                last.source, "last_xid", shown.input, shown.line, shown.line, f"{_GAUGE} {last.value:g}", code=f"{last.value:.0f}",
                time=shown.time, node=last.node, entity=last.entity, attributes={**last.labels, "state": state}, raw=shown.raw,
            ),
            [],
        )  # fmt: skip


def _answers(facts: Facts, key: tuple[str, str], last: Sample) -> bool:
    """Tell whether the same GPU gives a temperature or a power in the same reading."""
    for metric in _ANSWERS:
        for one in facts.by_metric.get(metric, ()):
            near = one.time is None or last.time is None or one.time >= last.time - _SAME_READING
            if (one.node, one.entity) == key and 0 < one.value < 1e6 and near:
                return True
    return False
