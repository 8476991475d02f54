"""What `kubectl describe node` says: taints, what the node has, what of it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.observation import Record
from collectors.orchestration.gpu_nodes import missing_devices
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_facts import fact, resource_facts
from collectors.orchestration.kube_fields import Field
from collectors.orchestration.kube_resources import parse_quantity


def node_facts(input_name: str, root: Field, about: Described) -> Iterator[Record]:
    """Yield `taint` and `node` facts and those of its resources."""
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
