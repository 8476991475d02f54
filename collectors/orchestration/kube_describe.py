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

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Record
from collectors.orchestration.gpu_nodes import missing_devices
from collectors.orchestration.kube_command import command_above
from collectors.orchestration.kube_context import Described, described_above, kind_by_fields, read_node_field
from collectors.orchestration.kube_facts import fact, pod_facts, resource_facts
from collectors.orchestration.kube_fields import RULER, Field, read_fields
from collectors.orchestration.kube_names import entity_of, kind_named
from collectors.orchestration.kube_resources import parse_quantity, plain_number
from collectors.regex import compile_later
from collectors.table import read_columns

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
    last = max(reader.number - 1, first)
    if about.kind == "Node":
        yield from _node_facts(reader.input, root, about)
    elif about.kind == "Pod":
        yield from _pod_facts(reader.input, root, about, first, last)
    else:
        yield from _other_facts(reader.input, root, about, first)
    yield from _conditions(reader.input, root, about)


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


def _node_facts(input_name: str, root: Field, about: Described) -> Iterator[Record]:
    for entry in root.fields:
        if entry.key == "Taints":
            for number, text in [
                (entry.line, entry.value),
                *entry.rows,
                *((one.line, f"{one.key}:{one.value}") for one in entry.fields),
            ]:
                match = re.match(r"(?P<key>[\w./-]+)(?:=(?P<value>[\w.-]*))?:(?P<effect>\w+)", text)
                if match:
                    yield from fact(
                        input_name,
                        number,
                        number,
                        about,
                        "taint",
                        match["key"],
                        text,
                        {"value": match["value"] or "", "effect": match["effect"]},
                    )
        elif entry.key == "Unschedulable":
            yield from fact(
                input_name,
                entry.line,
                entry.line,
                about,
                "node",
                "",
                f"Unschedulable: {entry.value}",
                {"unschedulable": entry.value},
            )
    tables = {
        name: {one.key: (one.value, one.line) for one in whole.fields}
        for name in ("Capacity", "Allocatable")
        if (whole := root.get(name)) is not None
    }
    requested: dict[str, tuple[str, str, int]] = {}
    table = root.get("Allocated resources")
    for number, line in table.rows if table is not None else ():
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) == 3 and parse_quantity(cells[1]) is not None:
            requested[cells[0]] = (cells[1], cells[2], number)
    yield from resource_facts(input_name, about, tables.get("Capacity", {}), tables.get("Allocatable", {}), requested)
    labels = root.get("Labels")
    if labels is not None and "Capacity" in tables:
        yield from missing_devices(input_name, about, [(labels.line, labels.value), *labels.rows], tables["Capacity"])


def _pod_facts(input_name: str, root: Field, about: Described, first: int, last: int) -> Iterator[Record]:
    status, reason, message = root.get("Status"), root.get("Reason"), root.get("Message")
    requests: dict[str, float] = {}
    containers: list[Record] = []
    for group in ("Init Containers", "Containers", "Ephemeral Containers"):
        holder = root.get(group)
        for one in holder.fields if holder else ():
            containers.extend(_container(input_name, one, about))
            if group == "Containers":
                wanted = one.get("Requests") or one.get("Limits")
                for resource in wanted.fields if wanted else ():
                    requests[resource.key] = requests.get(resource.key, 0.0) + (parse_quantity(resource.value) or 0.0)
    loose = (
        root if "Limits" in (one.key for one in root.fields) or "Requests" in (one.key for one in root.fields) else None
    )
    if loose is not None and not requests:
        wanted = loose.get("Requests") or loose.get("Limits")
        requests = {one.key: parse_quantity(one.value) or 0.0 for one in wanted.fields} if wanted else {}
    tolerations = root.get("Tolerations")
    attributes = {
        "status": status.value.split(" ")[0] if status else "",
        "phase": status.value if status else "",
        "reason": reason.value if reason else "",
        "message": message.value if message else "",
        "owner": root.text("Controlled By"),
        "selector": "" if root.text("Node-Selectors").startswith("<") else root.text("Node-Selectors"),
        "scheduler": root.text("Scheduler Name"),
        "tolerations": "; ".join([tolerations.value, *(text for _, text in tolerations.rows)]) if tolerations else "",
    }
    place = message or reason or status
    line = place.line if place else first
    end = message.last if message else line
    if status or reason or requests:
        yield from pod_facts(
            input_name, line, end, about, attributes, {name: plain_number(value) for name, value in requests.items()}
        )
    yield from containers


def _container(input_name: str, one: Field, about: Described) -> Iterator[Record]:
    state, before = one.get("State"), one.get("Last State")
    if state is None and before is None:
        return
    now = state or Field("State", "", one.line, one.line, 0)
    earlier = before or Field("Last State", "", one.line, one.line, 0)
    reason, message = now.get("Reason"), now.get("Message")
    attributes = {
        "container": one.key,
        "state": now.value,
        "reason": now.text("Reason"),
        "message": now.text("Message"),
        "exit_code": now.text("Exit Code"),
        "last_state": earlier.value,
        "last_reason": earlier.text("Reason"),
        "last_exit_code": earlier.text("Exit Code"),
        "last_message": earlier.text("Message"),
        "restarts": one.text("Restart Count"),
        "ready": one.text("Ready"),
        "image": one.text("Image"),
    }
    line = (reason or now).line
    text = ": ".join(part for part in (now.value, attributes["reason"], attributes["message"]) if part)
    end = message.last if message and message.last >= line else line
    yield from fact(
        input_name, line, end, about, "container", attributes["reason"] or now.value, text, attributes, node=about.node
    )
    last_reason = earlier.get("Reason")
    if last_reason is not None:
        code = earlier.get("Exit Code") or last_reason
        text = f"{earlier.value}: {last_reason.value}: {attributes['last_message']}".rstrip(": ")
        yield from fact(
            input_name,
            last_reason.line,
            max(code.line, last_reason.line),
            about,
            "container-end",
            last_reason.value,
            text,
            {
                "container": one.key,
                "reason": last_reason.value,
                "exit_code": earlier.text("Exit Code"),
                "restarts": attributes["restarts"],
            },
            node=about.node,
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


def _conditions(input_name: str, root: Field, about: Described) -> Iterator[Record]:
    holders = [root]
    while holders:
        holder = holders.pop(0)
        for entry in holder.fields:
            if entry.key == "Conditions":
                yield from _condition_table(input_name, entry, about)
                yield from _condition_list(input_name, entry.fields, about)
            elif entry.key == "Last Transition Time" and holder is root:
                yield from _condition_list(input_name, root.fields, about)
                return
            elif entry.fields and entry.indent < 8:
                holders.append(entry)


def _condition_table(input_name: str, entry: Field, about: Described) -> Iterator[Record]:
    columns = None
    for number, line in entry.rows:
        if RULER.match(line):
            continue
        if columns is None:
            columns = read_columns(line)
            if "type" not in columns.names or "status" not in columns.names:
                return
            continue
        row = columns.row(line)
        if not row.get("status"):
            continue
        message = row.get("message", "")
        kind = "node-condition" if about.kind == "Node" or "lastheartbeattime" in columns.names else "condition"
        yield from fact(
            input_name,
            number,
            number,
            about,
            kind,
            row.get("type", ""),
            f"{row.get('type', '')}={row['status']} {row.get('reason', '')} {message}".strip(),
            {"status": row["status"], "reason": row.get("reason", ""), "message": message},
            node=about.node,
        )


def _condition_list(input_name: str, fields: list[Field], about: Described) -> Iterator[Record]:
    group: dict[str, Field] = {}
    for one in [*fields, None]:
        if one is None or one.key in group:
            if "Type" in group or "Status" in group:
                yield from _condition(input_name, group, about)
            group = {}
        if one is not None and one.key in (
            "Message",
            "Reason",
            "Status",
            "Type",
            "Last Transition Time",
            "Last Update Time",
            "Last Probe Time",
        ):
            group[one.key] = one


def _condition(input_name: str, group: dict[str, Field], about: Described) -> Iterator[Record]:
    values = {key: one.value for key, one in group.items()}
    place = group.get("Message") or group.get("Type") or group["Status"]
    kind = "node-condition" if about.kind == "Node" else "condition"
    code = values.get("Type") or values.get("Status", "")
    text = values.get("Message", "") or f"{code}={values.get('Status', '')} {values.get('Reason', '')}".strip()
    yield from fact(
        input_name,
        place.line,
        place.last,
        about,
        kind,
        code,
        text,
        {
            "status": values.get("Status", ""),
            "reason": values.get("Reason", ""),
            "message": values.get("Message", ""),
            "since": values.get("Last Transition Time", ""),
        },
        node=about.node,
    )


__all__ = ["HEADS", "LAYERS", "SIGNATURES", "SOURCE", "entity_of", "kind_named", "parse_block"]
