"""Where the time of a training step goes by the trainer's own timers (`step-timers`).

Derives `step-share`, code `data` or `communication`: its median `share` of a step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `step-share` observations: one for data and one for communication."""
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
                attributes = {"share": f"{middle:.3f}", "ms": spent, "lines": str(len(steady))}
                yield derive_at(near, "step-share", code, attributes=attributes, entity=near.entity), [near]
