"""What a rule's pattern captured, as an observation: its named groups become attributes, and name the entity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from collectors.identity import normalise_node, normalise_pci
from collectors.observation import Observation
from collectors.prefix import Line

# Groups of a rule's pattern that name an entity, in the order of how well they identify it.
_ENTITY_GROUPS = (
    "gpu",
    "nic",
    "pod",
    "filesystem",
    "volume",
    "job",
    "queue",
    "rank",
    "namespace",
    "pcie_device",
    "process",
    "container",
)


def inherit(hit: Observation, parsed: Observation | None) -> Observation:
    """Give a hit that names no entity what a collector read on the same line: entity, node, time and attributes."""
    if parsed is None or hit.entity:
        return hit
    return replace(
        hit, entity=parsed.entity, node=parsed.node or hit.node, time=parsed.time if hit.time is None else hit.time,
        attributes={**parsed.attributes, **hit.attributes},
    )  # fmt: skip


def make_hit(key: str, groups: Mapping[str, str], line: Line, source: str, node: str) -> Observation:
    """Make the observation of a rule's pattern: its named groups become attributes, and name the entity."""
    attributes = {**line.labels, **groups}
    if line.rank and "rank" not in attributes:
        attributes["rank"] = line.rank
    if line.uptime is not None:
        attributes["uptime"] = f"{line.uptime:.6f}"
    return Observation(
        source,
        "text",
        line.input,
        line.number,
        line.number,
        line.text,
        code=key,
        time=line.time,
        node=normalise_node(groups.get("node", "")) or node,
        entity=name_entity(attributes),
        attributes=attributes,
        raw=line.raw,
    )


def name_entity(attributes: dict[str, str]) -> str:
    """Return the entity that captured groups name: a PCI address or UUID before an index, a GPU before its rank."""
    if attributes.get("pci"):
        return "gpu:" + (normalise_pci(attributes["pci"]) or attributes["pci"])
    if attributes.get("uuid"):
        return "gpu:" + attributes["uuid"]
    for group in _ENTITY_GROUPS:
        if attributes.get(group):
            value = attributes[group]
            return f"{group}:{normalise_pci(value) or value}" if group == "pcie_device" else f"{group}:{value}"
    return ""
