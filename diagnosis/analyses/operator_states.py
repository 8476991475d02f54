"""A state of the GPU Operator that stays not ready for longer than an installation takes.

Derives `operator-stuck`: code = the first state that is not ready in the last summary (the others wait for it), attribute
minutes. A summary that says ready ends it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived
from diagnosis.facts import Facts

_LONG = 900.0  # seconds: a driver is built and loaded within ten minutes or so


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield one `operator-stuck` for each input whose last summaries name the same first state for a quarter of an hour."""
    inputs: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("operator-state", ()):
        if one.time is not None and (one.attributes.get("summary") == "yes" or one.code == "ready"):
            inputs[one.input].append(one)
    for _, seen in sorted(inputs.items()):
        ordered = sorted(seen, key=lambda one: (one.time or 0.0, one.line))
        last = ordered[-1]
        run: list[Observation] = []
        for one in reversed(ordered):
            if one.code != last.code:
                break
            run.append(one)
        lasted = (last.time or 0.0) - (run[-1].time or 0.0)
        if last.code != "ready" and lasted >= _LONG:
            attributes = {**last.attributes, "minutes": f"{lasted / 60:.0f}"}
            yield replace(last, kind="operator-stuck", attributes=attributes), [run[-1], last]
