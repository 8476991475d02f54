"""Tools of infiniband-diags that walk the fabric: iblinkinfo, ibqueryerrors and ibnetdiscover.

rdma-core 1.6 to 55 (and MLNX_OFED, DOCA); documented in their manual pages, the texts stand in
`infiniband-diags/{iblinkinfo,ibqueryerrors,ibnetdiscover}.c`. A link that runs below what both ends can do is marked
`( Could be ...)`; a switch port without a cable reads `Down/ Polling` and is no fault. Error counters run since they were
cleared: only two readings tell a rate, so they become samples. Samples::

    Switch: 0x506b4b0300820910 MF0;leaf-3:MSB7700/U1:
               2   21[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>      40    1[  ] "node-c HCA-2" ( Could be 53.125 Gbps)
    Errors for 0x2c903006e29b0 "MF0;leaf-3:SX6036/U1"
       GUID 0x2c903006e29b0 port 1: [LinkDownedCounter == 8] [PortRcvSwitchRelayErrors == 2]
    Switch  65 "S-2c5eab30d5f4fa00"     # "MF0;leaf-4:MQM9701/U1" enhanced port 0 lid 73 lmc 0
    [1] "H-e09d7330d5b6ca98"[1](e09d7330d5b6ca98)   # "node-a mlx5_5" lid 647 4xNDR
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from collectors.block import Reader
from collectors.fabric.fabric_names import End, read_end
from collectors.fabric.infiniband_counters import PERFQUERY
from collectors.observation import Observation, Record, Relation, Sample
from collectors.regex import compile_later

SOURCE = "ib-fabric"
LAYERS = ("fabric",)
SIGNATURES = (
    r"==\( *(?:\d+X +[\d.]+ Gbps +)?\w+/ *\w+\)==>", r"^Errors for (?:0x[0-9a-f]+ )?\"", r"^ +GUID 0x[0-9a-f]+ port (?:\d+|ALL):",
    r"^## Summary: \d+ nodes checked", r"^\[\d+\]\s*\"[SHR]-[0-9a-f]{16}\"\[\d+\]", r"^(?:Switch|Ca|Rt)\s*\d+ \"[SHR]-[0-9a-f]{16}\"",
    r"^(?:sysimg|switch|ca)guid=0x", r"^\[\d+\]\([0-9a-f]+\)\s*\"[SHR]-",
)  # fmt: skip
HEADS = (
    r"^Errors for (?:0x[0-9a-f]+ )?\"",
    r"^CA: \S.*:$",
    r"^Switch: 0x[0-9a-f]+ ",
    r"^0x[0-9a-f]{16} +\".*\] ==\(",
    r"^ +\d+ +\d+\[ *\d* *\] ==\(",
    r"^Switch\s*\d+ \"S-[0-9a-f]{16}\"",
)
MOST_LINES = 100_000

_LINK = compile_later(
    r"^(?:0x(?P<guid>[0-9a-f]+) +\"(?P<own>[^\"]*)\"|(?: +0x(?P<port_guid>[0-9a-f]+))?) +(?P<lid>\d+) +(?P<port>\d+)\[ *\d* *\] "
    r"==\( *(?:(?P<width>\d+X) *(?P<speed>[\d.]+) Gbps +)?(?P<state>\w+)/ *(?P<physical>\w+)\)==> +"
    r"(?:0x[0-9a-f]+ +)?(?:(?P<peer_lid>\d+) +(?P<peer_port>\d+))?\[ *\d* *\] \"(?P<peer>[^\"]*)\" \((?P<remark>[^)]*)\)"
)
_NODE = compile_later(r"^(?P<kind>CA|Switch|Router): (?:0x(?P<guid>[0-9a-f]+) )?(?P<name>.*):$")
_ERRORS = compile_later(r"^Errors for (?:0x(?P<guid>[0-9a-f]+) )?\"(?P<name>[^\"]*)\"")
_COUNTERS = compile_later(r"^ +GUID 0x(?P<guid>[0-9a-f]+) port (?P<port>\d+|ALL):(?P<counters>( *\[\w+ == \d+.*)?)$")
_COUNTER = compile_later(r"\[(\w+) == (\d+)")
_TOPOLOGY = compile_later(
    r"^(?:Switch|Ca)\s*\d+ \"(?P<kind>[SH])-(?P<guid>[0-9a-f]+)\"\s*# \"(?P<name>[^\"]*)\"(?:.* lid (?P<lid>\d+))?"
)
_CONNECTED = compile_later(
    r"^\[(?P<port>\d+)\](?:\[ext \d+\])?\s*\"(?P<kind>[SHR])-(?P<guid>[0-9a-f]+)\"\[(?P<peer_port>\d+)\](?:\([0-9a-f]+\))?"
    r"\s*# \"(?P<peer>[^\"]*)\" lid (?P<lid>\d+) (?P<width>\d+)x(?P<speed>\w+)"
)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `fabric-link` observations of links that are slower, narrow or not set up, samples, and which switch a host hangs on."""
    head = reader.peek() or ""
    if _ERRORS.match(head):
        yield from _read_errors(reader)
    elif _TOPOLOGY.match(head):
        yield from _read_topology(reader)
    elif _NODE.match(head) or _LINK.match(head):
        yield from _read_links(reader)
    else:
        reader.next()


def _read_links(reader: Reader) -> Iterator[Record]:
    owner, owner_text = "", ""
    while (text := reader.peek()) is not None:
        node, link = _NODE.match(text), _LINK.match(text)
        if not (node or link):
            return
        number = reader.number
        reader.next()
        if node:
            owner, owner_text = node["name"], node["name"]
            if node["kind"] == "Switch" and not read_end(owner, "0").switch:
                owner_text = f"{owner} switch"
        elif link:
            own = read_end(link["own"] or owner_text, link["port"])
            yield from _tell_link(reader, number, text, link, own, read_end(link["peer"], link["peer_port"] or ""))


def _tell_link(reader: Reader, number: int, text: str, link: re.Match[str], own: End, peer: End) -> Iterator[Record]:
    end, other = (peer, own) if peer.is_host else (own, peer)
    if end.is_host and other.switch:
        yield Relation(end.entity, f"switch:{other.switch}", "on", reader.input, number, end.node)
    could = "Could be" in link["remark"]
    code = "slower" if could else "init" if link["state"].lower() in ("init", "initialize", "armed") else ""
    if not code or not (end.entity or link["peer"]):
        return
    attributes = {
        "width": link["width"], "gbps_a_lane": link["speed"], "could": link["remark"].replace("Could be", "").strip(), "lid": link["lid"],
        "guid": link["guid"] or link["port_guid"], "switch": other.switch or end.switch, "switch_port": other.nic if other.switch else "",
        "peer": f"{other.node} {other.nic}".strip(), "nic": end.nic, "port": end.port, "state": link["state"].lower(),
    }  # fmt: skip
    yield Observation(
        SOURCE, "fabric-link", reader.input, number, number, text.strip(), code=code, node=end.node, entity=end.entity,
        attributes={name: value for name, value in attributes.items() if value},
    )  # fmt: skip


def _read_errors(reader: Reader) -> Iterator[Record]:
    owner = ""
    while (text := reader.peek()) is not None:
        named, counters = _ERRORS.match(text), _COUNTERS.match(text)
        if not (named or counters or text.lstrip().startswith("Link info:")):
            return
        number = reader.number
        reader.next()
        if named:
            name = named["name"]
            owner = f"{name} switch" if named["guid"] and not read_end(name, "0").switch else name
        elif counters and counters["port"] != "ALL":
            end = read_end(owner, counters["port"])
            labels = {"nic": end.nic, "port": end.port, "guid": counters["guid"]}
            for name, value in _COUNTER.findall(counters["counters"]):
                yield Sample(
                    SOURCE, PERFQUERY.get(name, name), float(value), reader.input, number, node=end.node, entity=end.entity,
                    labels={key: one for key, one in labels.items() if one},
                )  # fmt: skip


def _read_topology(reader: Reader) -> Iterator[Record]:
    """Read one node of ibnetdiscover; a link of one lane among links of four is told."""
    head = _TOPOLOGY.match(reader.next() or "")
    if head is None:
        return
    rows: list[tuple[int, str, re.Match[str], End]] = []
    widths: Counter[str] = Counter()
    for _ in range(MOST_LINES):
        text = reader.peek()
        row = _CONNECTED.match(text) if text is not None else None
        if text is None or row is None:
            break
        rows.append((reader.number, text, row, read_end(row["peer"], row["peer_port"])))
        widths[row["width"]] += 1
        reader.next()
    if head["kind"] != "S":
        return
    switch = read_end(head["name"], "0").switch or head["guid"]
    for number, text, row, peer in rows:
        end = peer if peer.is_host else End(switch, f"P{row['port']}", "1", switch)
        if peer.is_host:
            yield Relation(peer.entity, f"switch:{switch}", "on", reader.input, number, peer.node)
        if row["width"] == "1" and widths["4"] > len(rows) / 2:
            attributes = {
                "width": "1X", "speed": row["speed"], "lid": row["lid"], "guid": row["guid"], "switch": switch, "nic": end.nic,
                "port": end.port, "switch_port": row["port"], "usual": "4X",
            }  # fmt: skip
            yield Observation(
                SOURCE, "fabric-link", reader.input, number, number, text.strip(), code="narrow", node=end.node, entity=end.entity,
                attributes=attributes,
            )  # fmt: skip
