"""Compare what the kubelet says is left of a device with the node's own table: refused although enough are free.

A refusal reads `requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0`; the table is the
`Allocated resources` of `kubectl describe node`. Yields `kubelet-devices`, code `stale`, attributes resource, requested,
available, free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_REFUSAL = re.compile(
    r"requested number of devices unavailable for (?P<resource>[\w./-]+?)\. Requested: ?(?P<requested>\d+), Available: ?(?P<available>\d+)"
)
_MOST = 200  # refusals that are looked at: they repeat


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield one observation for each table that contradicts a refusal on its node."""
    tables = [one for one in facts.by_kind.get("allocated", ()) if one.attributes.get("free")]
    if not tables:
        return
    refusals = [(one, match) for one in facts.observations if (match := _REFUSAL.search(one.text))][:_MOST]
    nodes = {one.node for one in tables if one.node}
    done: set[tuple[str, str, str]] = set()
    for refusal, match in refusals:
        for table in tables:
            if table.attributes.get("resource") != match["resource"] or not _same_node(refusal, table, nodes):
                continue
            free = read_number(table, "free")
            if free is None or free < float(match["requested"]) or free <= float(match["available"]):
                continue
            key = (table.node, match["resource"], match["requested"])
            if key in done:
                continue
            done.add(key)
            values = {name: match[name] for name in ("resource", "requested", "available")}
            derived = Observation(
                refusal.source, "kubelet-devices", refusal.input, refusal.line, refusal.line_end, refusal.text, code="stale",
                time=refusal.time, node=table.node or refusal.node, attributes={**values, "free": table.attributes["free"]},
            )  # fmt: skip
            yield derived, [refusal, table]


def _same_node(refusal: Observation, table: Observation, nodes: set[str]) -> bool:
    if refusal.node and table.node:
        return refusal.node == table.node
    return len(nodes) <= 1
