"""`kubectl describe` of pods, nodes and custom resources (their Events section is read by `kube_events`).

Formats: kubectl/pkg/describe (1.11 to 1.36); custom resources print their fields in title case, keys sorted, so that a condition's
Message comes before its Type. A description may be cut (`| grep -A9 ^Capacity`, `| tail -20`). Samples::

    Status:           Failed
    Reason:           UnexpectedAdmissionError
    Message:          Pod Allocate failed due to ...

    Conditions:
      Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason         Message
      ----             ------  -----------------                 ------------------                ------         -------
      Ready            False   Thu, 13 Feb 2025 09:41:26 +0800   Thu, 13 Feb 2025 09:40:00 +0800   KubeletNotReady   PLEG is not healthy

      Conditions:
        Last Transition Time:  2023-11-13T03:21:58Z
        Message:               1/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable
        Reason:                NotEnoughResources
        Status:                True
        Type:                  Unschedulable
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Record
from collectors.orchestration.described_conditions import condition_facts
from collectors.orchestration.described_node import node_facts
from collectors.orchestration.described_pod import read_pod
from collectors.orchestration.kube_command import command_above
from collectors.orchestration.kube_context import Described, described_above, kind_by_fields, read_node_field
from collectors.orchestration.kube_facts import fact
from collectors.orchestration.kube_fields import Field, read_fields
from collectors.regex import compile_later

SOURCE = "kube-objects"
LAYERS = ("scheduler", "platform")
HEADS = (
    r"^Name: {2,}\S",
    r"^(?:Capacity|Allocatable|Allocated resources|Conditions|Taints|Containers|Init Containers|Node-Selectors|Spec|Status|Labels): *$",
    r"^(?:Labels|Taints|Tolerations|Node-Selectors|Status|Reason|Message|Unschedulable|Controlled By): {2,}\S",
    r"^ +(?:State|Last State|Last Transition Time|Conditions|Limits|Requests): *\S*",
)
SIGNATURES = (
    (
        r"^(?:Name|Namespace|Labels|Annotations|Status|Tolerations|Taints|Unschedulable|Roles|Node-Selectors|Controlled By|QoS Class|Kind|"
        r"API Version): {2,}\S"
    ),
    (
        r"^ {2,}(?:State|Last State|Reason|Exit Code|Restart Count|Ready|Image|Image ID|Last Transition Time|Message|Started|Finished|"
        r"nvidia\.com/gpu): {2,}\S"
    ),
    r"^(?:Capacity|Allocatable|Allocated resources|Conditions|Containers|Init Containers):$",
)

_HEAD = compile_later("|".join(f"(?:{one})" for one in HEADS))


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield the facts of one described object."""
    offset, first = reader.offset, reader.number
    head = reader.peek() or ""
    if not _HEAD.search(head):
        return
    if head.startswith(" ") and not head.lstrip().startswith(
        ("Last Transition Time:", "Conditions:", "State:", "Last State:", "Limits:", "Requests:")
    ):
        return
    root = read_fields(reader)
    if not root.fields or (
        len(root.fields) == 1 and not root.fields[0].fields and not root.fields[0].rows and not root.fields[0].value
    ):
        return
    about = _about(root, reader.data, offset)
    if about.kind == "Node" and about.name:
        reader.node = normalise_node(about.name)
    if about.kind == "Node":
        yield from node_facts(reader.input, root, about)
    elif about.kind == "Pod":
        yield from read_pod(reader.input, root, about, first)
    else:
        yield from _other_facts(reader.input, root, about, first)
    yield from condition_facts(reader.input, root, about)


def _about(root: Field, data: bytes, offset: int) -> Described:
    name, kind = root.text("Name"), root.text("Kind")
    namespace = root.text("Namespace")
    keys = [one.key for one in root.fields]
    if not name:
        above = described_above(data, offset)
        kind = kind or above.kind or kind_by_fields(key for key in keys if key != "Tolerations" or len(keys) > 1)
        if not kind and (
            root.text("Status") in ("Failed", "Pending") or {"Limits", "Requests", "State", "Last State"} & set(keys)
        ):
            kind = "Pod"
        spec = root.get("Spec")
        if not kind and spec is not None and spec.get("Min Member"):
            kind = "PodGroup"
        return Described(kind, above.name, above.namespace, above.node or read_node_field(root.text("Node")))
    if not kind:
        command = command_above(data, offset)
        kind = kind_by_fields(keys) or (command.kind if command.verb == "describe" else "")
    if kind == "Job" and "volcano" in root.text("API Version"):
        kind = "VolcanoJob"
    return Described(
        kind,
        name,
        "" if namespace.startswith("<") else namespace,
        read_node_field(root.text("Node")) if kind == "Pod" else "",
    )


def _other_facts(input_name: str, root: Field, about: Described, first: int) -> Iterator[Record]:
    """A queue, pod group, workload or quota: the numbers and names that say how much it may have, has and wants."""
    attributes: dict[str, str] = {}
    stack = [(root, "")]
    while stack and len(attributes) < 60:
        holder, path = stack.pop()
        for one in holder.fields:
            key = f"{path}.{one.key}" if path else one.key
            if one.key in ("Conditions", "Labels", "Annotations", "Metadata", "Managed Fields"):
                continue
            if one.value:
                attributes.setdefault(key.lower().replace(" ", "_"), one.value[:200])
            stack.append((one, key))
    if about.kind in ("", "Pod", "Node") and not attributes.keys() & {
        "spec.queue",
        "spec.min_member",
        "spec.min_available",
    }:
        return
    yield from fact(input_name, first, first, about, "object", about.kind, about.name, attributes)
