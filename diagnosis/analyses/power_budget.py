"""Whether the power limits of the GPUs leave the host's power supplies enough for the rest of the machine.

Reads `supply` and `gpu_power`. Yields `power-budget` (code `short`) on a host whose GPUs alone may draw more than four fifths of what
all its supplies together give: processors, memory, fans and the short peaks of the GPUs above their limit come on top.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import parse_number, read_number

_SHARE = 0.8


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `power-budget` facts."""
    supplies: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("supply", ()):
        supplies[one.node].append(one)
    if not supplies:
        return
    limits: dict[str, list[tuple[float, Observation]]] = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    last: dict[str, tuple[str, int]] = {}
    for one in facts.by_kind.get("gpu_power", ()):
        watts = _watts(one.attributes.get("limit", ""))
        place, before = (one.input, one.line), last.get(one.node)
        if watts <= 0 or (one.entity and (one.node, one.entity) in seen):
            continue
        if not one.entity and before and before != (place[0], place[1] - 1):
            continue  # another query of the same cards
        seen.add((one.node, one.entity))
        last[one.node] = place
        limits[one.node].append((watts, one))
    for node, found in supplies.items():
        most = sum(read_number(one, "watts") or 0.0 for one in found)
        drawn = sum(watts for watts, _ in limits.get(node, ()))
        if drawn > _SHARE * most:
            text = f"the GPUs may draw {drawn:.0f} W of the {most:.0f} W that the power supplies give"
            attributes = {"gpu_watts": f"{drawn:.0f}", "supply_watts": f"{most:.0f}"}
            yield (
                derive_at(found[0], "power-budget", "short", text, attributes, node=node),
                [*found[:4], *(one for _, one in limits[node][:8])],
            )


def _watts(text: str) -> float:
    return parse_number(text.partition(" ")[0]) or 0.0
