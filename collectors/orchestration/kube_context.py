"""Which object a section of `kubectl describe` is about, told from the lines above it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from collectors.identity import normalise_node
from collectors.orchestration.kube_command import command_above
from collectors.orchestration.kube_names import entity_of

_FIELD = re.compile(
    rb"^(Name|Namespace|Kind|Node|Roles|Taints|Unschedulable|Capacity|Allocatable|Allocated resources|Containers|Init Containers|Priority|"
    rb"Service Account|QoS Class|Node-Selectors|Tolerations|Volumes|Events):[ \t]*([^\r\n]*)",
    re.M,
)
_NODE_FIELDS = frozenset({"Roles", "Taints", "Unschedulable", "Capacity", "Allocatable", "Allocated resources"})
_POD_FIELDS = frozenset(
    {
        "Node",
        "Containers",
        "Init Containers",
        "Priority",
        "Service Account",
        "QoS Class",
        "Node-Selectors",
        "Tolerations",
    }
)
_BACK = 131072  # bytes looked at above a section


@dataclass(frozen=True, slots=True)
class Described:
    """An object as its description names it; `node` is where a pod runs."""

    kind: str = ""
    name: str = ""
    namespace: str = ""
    node: str = ""

    @property
    def entity(self) -> str:
        """Return the object's entity."""
        return entity_of(self.kind, self.name, self.namespace)


def read_node_field(text: str) -> str:
    """Return the host in a pod's `Node:` field (`gpu-node-07/10.0.0.7`), "" for `<none>`.

    >>> read_node_field("gpu-node-07/10.0.0.7"), read_node_field("<none>")
    ('gpu-node-07', '')
    """
    name = text.strip().partition("/")[0]
    return "" if not name or name.startswith("<") else normalise_node(name)


def kind_by_fields(fields: Iterable[str]) -> str:
    """Return `Pod` or `Node` when a description has fields that only theirs has."""
    names = set(fields)
    return "Node" if names & _NODE_FIELDS else "Pod" if names & _POD_FIELDS else ""


def described_above(data: bytes, offset: int) -> Described:
    """Return the object whose description the section at `offset` belongs to: its fields above, else the command above."""
    start = max(0, offset - _BACK)
    named = data.rfind(b"\nName:", start, offset) + 1 or (0 if start == 0 and data.startswith(b"Name:") else -1)
    fields = list(_FIELD.finditer(data, named, offset)) if named >= 0 else []  # without a name none of them counts
    chosen: dict[str, str] = {}
    for match in reversed(fields):
        name, value = match[1].decode(), match[2].decode("utf-8", "replace").strip()
        if name == "Events" and match.start() < offset:
            break
        chosen[name] = value
        if name == "Name":
            break
    command = command_above(data, offset)
    if "Name" not in chosen:
        if command.verb == "describe":
            kind = command.kind
            return Described(kind, command.name if kind != "Node" else normalise_node(command.name), command.namespace)
        return Described()
    kind = chosen.get("Kind", "")
    kind = kind or kind_by_fields(chosen)
    if not kind and command.verb == "describe":
        kind = command.kind
    if kind == "Job" and "volcano" in command.text:
        kind = "VolcanoJob"
    namespace = chosen.get("Namespace", "")
    return Described(
        kind,
        chosen["Name"],
        "" if namespace.startswith("<") else namespace,
        read_node_field(chosen.get("Node", "")) if kind == "Pod" else "",
    )
