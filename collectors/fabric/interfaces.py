"""Network interfaces and lossless Ethernet settings: ip, ifconfig, mlnx_qos, rdma link, ibdev2netdev, nmcli-like lists.

Programs: iproute2 (`ip addr`, `ip link`, `ip -br addr`), MLNX_OFED `mlnx_qos` and `ibdev2netdev`, `rdma link`. Formats: their manual
pages. Samples::

    3: ens5f0np0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP group default qlen 1000
    eth0             UP             10.0.44.16/24 fe80::1/64
    node-b: eth0             UP             10.0.44.17/24
    mlx5_0 port 1 ==> ens5f0np0 (Up)
    link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens5f0np0
    link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 13 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP
    # mlnx_qos -i enp178s0f0
    PFC configuration:
            priority    0   1   2   3   4   5   6   7
            enabled     0   0   0   1   0   0   0   0
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors import shell
from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "network"
LAYERS = ("fabric",)
SIGNATURES = (r"^\d+: [\w.@-]+: <[A-Z_,-]+> mtu \d+", r"^PFC configuration:", r"^\w[\w.-]* port \d+ ==> ",
              r"^link \w+/\d+ (?:state|subnet_prefix) ",
              r"^[\w.@-]+ +(?:UP|DOWN|UNKNOWN) +(?:[\da-f:.]+/\d+ ?)*$")  # fmt: skip
_AT = r"^(?:[A-Za-z][\w.-]*: )?"  # pdsh and clush put the host in front
ANCHORS = (
    _AT + r"\d+: [\w.@-]+: <[A-Z_,-]+> mtu \d+",
    _AT + r"[A-Za-z][\w.@-]* +(?:UP|DOWN|UNKNOWN) ",
    r" port \d+ ==> \w",
    _AT + r"link \w+/\d+ (?:subnet_prefix \S+ lid \d+ .*)?state ",
)
_HOST = compile_later(r"(?P<host>[A-Za-z][\w.-]*): +(?=\S)")
HEADS = (r"mlnx_qos (?:.* )?-i ?\w", r"^PFC configuration:", r"^DCBX mode:", r"^Settings for [\w.@-]+:$")
_LINK = compile_later(r"\d+: (?P<name>[\w.-]+)(?:@[\w.-]+)?: <(?P<flags>[A-Z_,0-9-]*)> mtu (?P<mtu>\d+)")
_STATE = compile_later(r" state ([A-Z]+)")
_BRIEF = compile_later(
    r"(?P<name>[A-Za-z][\w.-]*)(?:@[\w.-]+)? +(?P<state>UP|DOWN|UNKNOWN) +(?P<addresses>(?:[\da-f:.]+/\d+ ?)*)$"
)
_NETDEV = compile_later(r"(?P<nic>[\w.-]+) port (?P<port>\d+) ==> (?P<netdev>[\w.-]+) \((?P<state>Up|Down)\)")
_RDMA = compile_later(
    r"link (?P<nic>[\w.-]+)/(?P<port>\d+) (?:subnet_prefix \S+ lid (?P<lid>\d+) sm_lid (?P<sm_lid>\d+) lmc \d+ )?"
    r"state (?P<state>\w+) physical_state (?P<physical>\w+)(?: netdev (?P<netdev>[\w.-]+))?"
)
_SETTINGS = compile_later(r"^Settings for (?P<name>[\w.-]+)(?:@\S+)?:$")
_QOS = compile_later(r"mlnx_qos (?:.* )?-i ?(?P<netdev>[\w.-]+)")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `interface` observations, and which network device belongs to which RDMA device."""
    host = _HOST.match(line.raw)
    raw = line.raw[host.end() :] if host else line.raw
    if host:
        line.host, line.text = line.host or normalise_node(host["host"]), raw
    match = _LINK.match(raw)
    if match:
        state = _STATE.search(raw)
        flags = match["flags"].split(",")
        code = (state[1] if state else "UP" if "LOWER_UP" in flags else "UNKNOWN").lower()
        attributes = {
            "name": match["name"],
            "mtu": match["mtu"],
            "carrier": "no" if "NO-CARRIER" in flags else "yes",
            "nic": match["name"],
        }
        yield _observe(line, "interface", code, attributes)
        return
    match = _BRIEF.match(line.text)
    if match:
        yield _observe(
            line, "interface", match["state"].lower(), {"name": match["name"], "addresses": match["addresses"].strip()}
        )
        return
    match = _NETDEV.search(line.text)
    rdma = _RDMA.match(line.text)
    found = match or rdma
    if found:
        attributes = {name: value for name, value in found.groupdict().items() if value}
        yield _observe(line, "port", found["state"].lower(), attributes)
        if found["netdev"]:
            yield Relation(f"nic:{found['nic']}", f"nic:{found['netdev']}", "same", line.input, line.number)
            yield Relation(
                f"link:{found['nic']}:{found['port']}", f"link:{found['netdev']}:1", "same", line.input, line.number
            )


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    nic = attributes.get("nic", "")
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        entity=f"link:{nic}:{attributes.get('port', '1')}" if nic else "", attributes=attributes,
    )  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read mlnx_qos (which priorities are lossless, and what the port trusts) or ethtool's settings of an interface."""
    settings = _SETTINGS.match(reader.peek() or "")
    if settings:
        yield from _read_settings(reader, settings["name"])
        return
    head = _QOS.search(reader.peek() or "")
    netdev = head["netdev"] if head else ""
    for prompt in shell.parse_line(peel(reader.input, reader.number, reader.peek() or "")):
        reader.node = prompt.node or reader.node
    trust, inside = "", False
    for place in range(200):
        raw = reader.peek()
        if raw is None or (place and re.match(r"^\S*[#$] \S", raw)):
            return
        number = reader.number
        reader.next()
        if "trust state:" in raw:
            trust = raw.partition("trust state:")[2].strip()
        inside = inside or raw.startswith("PFC configuration")
        row = re.match(r"\s+enabled((?:\s+[01])+)\s*$", raw)
        if inside and row:
            enabled = " ".join(str(index) for index, flag in enumerate(row[1].split()) if flag == "1")
            attributes = {"enabled": enabled or "none", "trust": trust, "nic": netdev}
            yield Observation(
                SOURCE, "pfc", reader.input, number, number, raw.strip(), code="on" if enabled else "off",
                entity=f"link:{netdev}:1" if netdev else "", attributes={name: value for name, value in attributes.items() if value},
            )  # fmt: skip
            inside = False


def _read_settings(reader: Reader, name: str) -> Iterator[Record]:
    """Read ethtool's list: an interface is up when it detects a link."""
    first = reader.number
    reader.next()
    text, speed = [f"Settings for {name}"], ""
    for _ in range(60):
        raw = reader.peek()
        if raw is None or not re.match(r"\s+\S", raw):
            return
        number = reader.number
        reader.next()
        label, _, value = raw.strip().partition(": ")
        if label in ("Speed", "Link detected"):
            text.append(raw.strip())
        speed = value if label == "Speed" else speed
        if label == "Link detected":
            up = value.startswith("yes")
            attributes = {"name": name, "nic": name, "carrier": "yes" if up else "no", "speed": speed}
            rate = re.match(r"(\d+)Mb/s", speed)
            if rate:
                attributes["gbps"] = f"{int(rate[1][:9]) / 1000:g}"
            yield Observation(
                SOURCE, "interface", reader.input, first, number, "; ".join(text), code="up" if up else "down", node=reader.node,
                entity=f"link:{name}:1", attributes=attributes,
            )  # fmt: skip
            return
