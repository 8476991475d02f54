"""Settings and statistics of RDMA devices and bonds: rdma statistic, cma_roce_tos and cma_roce_mode, /proc/net/bonding, tc.

Programs: iproute2 5.x, 6.x (`rdma statistic`, `tc -s qdisc`), MLNX_OFED scripts `cma_roce_tos` and `cma_roce_mode`, Linux
drivers/net/bonding/bond_procfs.c, net/sched/sch_netem.c. Samples::

    link mlx5_0/1 rx_write_requests 0 rx_read_requests 0 out_of_sequence 41 packet_seq_err 12 local_ack_timeout_err 3
    # cma_roce_mode -d mlx5_0 -p 1
    RoCE v2
    Ethernet Channel Bonding Driver: v5.15.0
    Slave Interface: ens5f0np0
    MII Status: down
    Link Failure Count: 17
    qdisc netem 8001: root refcnt 65 limit 1000 delay 100ms loss 1%
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors import shell
from collectors.block import Reader
from collectors.observation import Observation, Record, Sample
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "network"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^link \w+/\d+ rx_write_requests ", r"^Ethernet Channel Bonding Driver: ", r"^qdisc \w+ [0-9a-f]+: ", r"cma_roce_(?:tos|mode) -d ",
    r"^(?:default|[\d.]+/\d+) (?:via [\da-f.:]+ )?dev \S+",
)  # fmt: skip
ANCHORS = (r"^link \w+/\d+ .*\brx_write_requests \d", r"^qdisc (?:netem|tbf) ")
HEADS = (r"^Ethernet Channel Bonding Driver: ", r"cma_roce_(?:tos|mode) (?:.* )?-d ?\w", r"/proc/net/bonding/\w+")

_STATISTIC = compile_later(r"^link (?P<nic>[\w.-]+)/(?P<port>\d+) (?P<rest>.*)$")
_PAIR = compile_later(r"([a-z]\w+) (\d+)")
_QDISC = compile_later(r"^qdisc (?P<code>netem|tbf) [0-9a-f]+: (?:dev (?P<nic>[\w.-]+) )?(?P<rest>.*)$")
_DELAY = compile_later(r"\bdelay (?P<delay>[\d.]+m?u?s)|\bloss (?:random )?(?P<loss>[\d.]+%)|\brate (?P<rate>\w+)")
_ROCE = compile_later(r"cma_roce_(?P<what>tos|mode) (?:.* )?-d ?(?P<nic>[\w.-]+)(?:.*?-p ?(?P<port>\d+))?")
_BOND = compile_later(r"^(?P<name>Slave Interface|MII Status|Link Failure Count|Bonding Mode|Speed): (?P<value>.*\S)")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield samples of `rdma statistic`, and `shaping` where the kernel delays, drops or limits on purpose."""
    statistic = _STATISTIC.match(line.text)
    if statistic:
        nic, port = statistic["nic"], statistic["port"]
        for name, value in _PAIR.findall(statistic["rest"]):
            yield Sample(
                SOURCE, name, float(value), line.input, line.number, time=line.time, node=line.host, entity=f"link:{nic}:{port}",
                labels={"nic": nic, "port": port},
            )  # fmt: skip
        return
    shaped = _QDISC.match(line.text)
    if shaped:
        attributes = {
            name: value
            for match in _DELAY.finditer(shaped["rest"])
            for name, value in match.groupdict().items()
            if value
        }
        nic = shaped["nic"] or ""
        yield Observation(
            SOURCE, "shaping", line.input, line.number, line.number, line.text, code=shaped["code"], time=line.time, node=line.host,
            entity=f"link:{nic}:1" if nic else "", attributes=attributes | ({"nic": nic} if nic else {}),
        )  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read the state of a bond or what cma_roce prints."""
    head = reader.peek() or ""
    roce = _ROCE.search(head)
    for prompt in shell.parse_line(peel(reader.input, reader.number, head)):
        reader.node = prompt.node or reader.node
    reader.next()
    if roce:
        text = (reader.peek() or "").strip()
        if re.fullmatch(r"(?:IB/)?RoCE v[12]|\d+|0x[0-9a-f]+", text):
            attributes = {"nic": roce["nic"], "port": roce["port"] or "1", "value": text}
            yield Observation(
                SOURCE, "roce-setting", reader.input, reader.number, reader.number, f"cma_roce_{roce['what']}: {text}", code=roce["what"],
                node=reader.node, entity=f"nic:{roce['nic']}", attributes=attributes,
            )  # fmt: skip
            reader.next()
        return
    if "Bonding Driver" in head or "/proc/net/bonding/" in head:
        yield from _read_bond(reader)


def _read_bond(reader: Reader) -> Iterator[Record]:
    slave, place = "", 0
    said: dict[str, str] = {}
    for _ in range(400):
        text = reader.peek()
        field = _BOND.match(text) if text is not None else None
        if text is None or (field is None and text.strip() and ":" not in text):
            break
        number = reader.number
        reader.next()
        if field is None:
            continue
        if field["name"] == "Slave Interface":
            yield from _tell_slave(reader, slave, place, said)
            slave, place, said = field["value"], number, {}
        elif slave:
            said[field["name"]] = field["value"]
    yield from _tell_slave(reader, slave, place, said)


def _tell_slave(reader: Reader, slave: str, place: int, said: dict[str, str]) -> Iterator[Record]:
    if not slave or "MII Status" not in said:
        return
    up = said["MII Status"] == "up"
    failures = said.get("Link Failure Count", "")
    attributes = {
        "name": slave,
        "nic": slave,
        "carrier": "yes" if up else "no",
        "failures": failures,
        "speed": said.get("Speed", ""),
    }
    text = f"Slave Interface: {slave}; MII Status: {said['MII Status']}; Link Failure Count: {failures}"
    yield Observation(
        SOURCE, "interface", reader.input, place, place, text, code="up" if up else "down", node=reader.node, entity=f"link:{slave}:1",
        attributes={name: value for name, value in attributes.items() if value},
    )  # fmt: skip
    if failures.isdecimal():
        yield Sample(
            SOURCE, "bond_link_failures", float(failures), reader.input, place, node=reader.node, entity=f"link:{slave}:1",
            labels={"nic": slave, "port": "1"},
        )  # fmt: skip
