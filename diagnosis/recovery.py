"""Whether what a cause rests on is over: its remedy was done afterwards, and nothing of it was seen since.

A boot of the host, a reset of the GPU, or the driver's word that nothing is left to do (Xid 154 with the action None).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.observation import Observation
from diagnosis.entities import node_of
from diagnosis.facts import Facts
from diagnosis.model import Action, Hypothesis

# what is done about a fault -> what shows that it was done
_REMEDIES: dict[Action, tuple[str, ...]] = {
    "restart-app": ("boot",),
    "reset-gpu": ("reset", "cleared", "boot"),
    "reboot": ("boot", "cleared"),
}


@dataclass(frozen=True, slots=True)
class Recovery:
    """Something that ends faults: on one GPU, or on a whole host when `entity` is empty."""

    code: str
    entity: str
    seen: Observation


def find_recoveries(facts: Facts) -> list[Recovery]:
    """Return what ended faults, in the order in which it was seen."""
    found = [
        Recovery(one.code, facts.resolver.resolve(one.entity, one.node) if one.entity else "", one)
        for one in facts.by_kind.get("recovery", ())
    ]
    found += [
        Recovery("cleared", facts.resolver.resolve(one.entity, one.node), one)
        for one in facts.by_kind.get("xid", ())
        if one.code == "154" and one.attributes.get("action") == "None" and one.entity
    ]
    return sorted(found, key=lambda one: (one.seen.time or 0.0, one.seen.input, one.seen.line))


def ended_by(one: Hypothesis, action: Action, recoveries: Sequence[Recovery]) -> Recovery | None:
    """Return what ended a cause with this action: it came after all that supports the cause. None when nothing did."""
    codes = _REMEDIES.get(action, ())
    evidence = [seen for finding in one.findings if finding.supports for seen in finding.observations()]
    for recovery in reversed(recoveries):
        if recovery.code not in codes or not evidence or not _is_of(recovery, one):
            continue
        if all(_is_before(seen, recovery.seen) for seen in evidence):
            return recovery
    return None


def _is_of(recovery: Recovery, one: Hypothesis) -> bool:
    if recovery.entity:
        return recovery.entity == one.entity
    node = node_of(one.entity) or one.node
    return node == recovery.seen.node and (bool(node) or recovery.seen.attributes.get("by") == "separator")


def _is_before(seen: Observation, after: Observation) -> bool:
    """Tell whether one line is surely older: by time, or by its place in the same input where a place tells (not across boots
    that only the kernel's first line shows: the log of one boot is often pasted twice)."""
    if seen.time is not None and after.time is not None:
        return seen.time < after.time
    tells = after.attributes.get("by") != "kernel"
    return tells and seen.input == after.input and seen.line < after.line
