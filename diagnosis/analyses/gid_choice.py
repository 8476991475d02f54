"""Whether the GID index that a variable pins is the one that the table of GIDs would offer.

Reads `env` (NCCL_IB_GID_INDEX) and `gid` rows (`show_gids`). Derives, for each adapter of a RoCE port, `gid-choice`: code `absent`
where nothing stands at the index, `v1` where RoCE v1 stands there, which is not routed, `link-local` where the address can't be
routed; only where the same adapter has a RoCE v2 row with an IPv4 address, which attribute `better` names. An InfiniBand port has
no such row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `gid-choice` for each adapter whose pinned index is the wrong one."""
    tables: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for row in facts.by_kind.get("gid", ()):
        tables[row.node, row.entity].append(row)
    pinned: dict[tuple[str, str], Observation] = {}
    for one in facts.by_kind.get("env", ()):
        value = one.attributes.get("value", "")
        if one.code == "NCCL_IB_GID_INDEX" and value.isdecimal():
            pinned.setdefault((one.node, value), one)
    for (host, index), variable in sorted(pinned.items()):
        for (node, nic), rows in sorted(tables.items()):
            if not host or not node or host == node:
                yield from _judge(variable, index, nic, rows)


def _judge(variable: Observation, index: str, nic: str, rows: Sequence[Observation]) -> Iterator[Derived]:
    routed = [row for row in rows if row.attributes.get("version") == "v2" and row.attributes.get("ipv4")]
    chosen = next((row for row in rows if row.code == index), None)
    if not routed or chosen in routed:
        return
    version = chosen.attributes.get("version") if chosen is not None else None
    code = {None: "absent", "v1": "v1"}.get(version, "link-local")
    name = nic.partition(":")[2]
    text = (
        f"GID index {index} of {name}: {code.replace('-', ' ')}; index {routed[0].code} is RoCE v2 with an IPv4 address"
    )
    attributes = {"nic": name, "index": index, "better": routed[0].code, "variable": variable.code}
    place = chosen or variable
    proof = [variable, *([chosen] if chosen is not None else []), routed[0]]
    yield derive_at(place, "gid-choice", code, text, attributes, node=place.node or variable.node, entity=nic), proof
