"""Conditions in a description: as a table, or field by field with keys sorted, as custom resources print them."""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Record
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_facts import fact
from collectors.orchestration.kube_fields import RULER, Field
from collectors.table import read_columns


def condition_facts(input_name: str, root: Field, about: Described) -> Iterator[Record]:
    """Yield `condition` or, of a node, `node-condition` facts."""
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
