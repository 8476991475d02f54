"""State and counters of RDMA ports, as the tools of rdma-core, infiniband-diags, MLNX_OFED and sysfs print them.

Programs: ibstat, ibstatus, ibv_devinfo, show_gids, perfquery; files under /sys/class/infiniband/<device>/ports/<port>/{counters,
hw_counters}; ethtool -S (mlx5 and others). Formats: the tools' manual pages; kernel "ABI/stable/sysfs-class-infiniband" and
NVIDIA's "Understanding mlx5 ethtool counters". Counters of perfquery get the names of sysfs. Samples::

    CA 'mlx5_3'                                         Infiniband device 'mlx5_0' port 1 status:
            Port 1:                                             state:           4: ACTIVE
                    State: Active                       # 2025-03-04T01:00:01Z mlx5_0 port 1
                    Physical state: LinkUp              link_downed 0
    DEV     PORT    INDEX   GID      IPv4    VER  DEV   $ ethtool -S ens13np0
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.fabric.infiniband_counters import COMMAND, read_counters
from collectors.observation import Observation, Record, Relation
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "rdma"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^CA '\w+'", r"^Infiniband device '", r"^hca_id:\s", r"^DEV\s+PORT\s+INDEX\s+GID", r"^# Port (?:extended )?counters: Lid",
    r"/sys/class/infiniband/", r"^NIC statistics:", r"^\s*(?:Physical state|Link layer|phys state|link_layer):", r"ethtool -S ",
    r"^(?:link_downed|symbol_error|port_rcv_errors|port_xmit_\w+)[ :]",
)  # fmt: skip
HEADS = (
    r"^CA '\w+'",
    r"^Infiniband device '",
    r"^hca_id:\s",
    r"^DEV\s+PORT\s+INDEX\s+GID",
    r"^# Port (?:extended )?counters: Lid",
    r"^# \S+ \w+ port \d+$",
    r"/sys/class/infiniband/\w+/ports/\d+/(?:hw_)?counters",
    r"ethtool (?:-\w+ )*(?:-S|--statistics) \w",
    r"^NIC statistics:",
)
_CA = compile_later(
    r"(?:CA '(?P<ca>[\w.-]+)'|Infiniband device '(?P<ibstatus>[\w.-]+)' port (?P<port>\d+) status|hca_id:\s+(?P<hca>[\w.-]+))"
)
_FIELD = compile_later(r"\s*(?P<name>[A-Za-z][\w ]*?)\s*:\s+(?P<value>\S.*?)\s*$")
_PORT = compile_later(r"\s*(?:Port|port):?\s+(?P<port>\d+):?\s*$")
_GID = compile_later(
    r"(?P<nic>[\w.-]+)\s+(?P<port>\d+)\s+(?P<index>\d+)\s+(?P<gid>[0-9a-f:]{8,})\s+(?:(?P<ipv4>\d+\.\d+\.\d+\.\d+)\s+)?"
    r"(?P<version>v[12])\s*(?P<netdev>[\w.-]+)?"
)
_GID_HEAD = compile_later(r"DEV\s+PORT\s+INDEX\s+GID")
_NAMES = {
    "physical state": "physical", "phys state": "physical", "phys_state": "physical", "state": "state", "rate": "rate", "sm lid": "sm_lid",
    "sm_lid": "sm_lid", "link layer": "link_layer", "link_layer": "link_layer", "base lid": "lid", "port_lid": "lid",
    "active_mtu": "active_mtu", "max_mtu": "max_mtu", "firmware version": "firmware", "fw_ver": "firmware",
}  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read one table or section from its first line on."""
    head = reader.peek() or ""
    text = peel(reader.input, reader.number, head).text
    if _GID_HEAD.match(text):
        yield from _read_gids(reader)
    elif _CA.match(text):
        yield from _read_ports(reader)
    elif COMMAND.search(head) or text.startswith(("# Port", "NIC statistics", "# ")):
        yield from read_counters(reader)
    else:
        reader.next()


def _read_gids(reader: Reader) -> Iterator[Record]:
    reader.next()
    for _ in range(4000):
        raw = reader.peek()
        if raw is None:
            return
        match = _GID.match(raw.strip())
        if match is None and not raw.startswith("---"):
            return
        number = reader.number
        reader.next()
        if match:
            attributes = {name: value for name, value in match.groupdict().items() if value}
            yield Observation(
                SOURCE, "gid", reader.input, number, number, raw.strip(), code=match["index"],
                entity=f"nic:{match['nic']}", attributes=attributes,
            )  # fmt: skip


def _read_ports(reader: Reader) -> Iterator[Record]:
    """ibstat, ibstatus, ibv_devinfo: one `port` observation for each port, cited by the line that states its state."""
    nic, shared = "", {}
    ports: dict[str, dict[str, str]] = {}
    place: dict[str, tuple[int, int, str]] = {}
    port = ""
    for _ in range(4000):
        raw = reader.peek()
        if raw is None:
            break
        match = _CA.match(raw)
        if match and nic:
            break
        if match is None and raw.strip() and not raw[0].isspace():
            break
        number = reader.number
        reader.next()
        if match:
            nic = match["ca"] or match["ibstatus"] or match["hca"]
            port = match["port"] or ""
        # `paste - - - -` puts a whole section into one line, its name first.
        for piece in raw[match.end() :].split("\t") if match else (raw,):
            found = _PORT.match(piece)
            if found:
                port = found["port"]
                continue
            field = _FIELD.match(piece)
            name = _NAMES.get(field["name"].strip().lower()) if field else None
            if field is None or name is None:
                continue
            if not port and name == "firmware":
                shared[name] = field["value"]
                continue
            port = port or "1"
            ports.setdefault(port, {})[name] = field["value"]
            begin, _, text = place.get(port, (number, number, ""))
            place[port] = (begin, number, f"{text}, {piece.strip()}" if text else piece.strip())
    for port, fields in ports.items():
        state = re.sub(r"^\d+: |PORT_| \(\d+\)$", "", fields.get("state", "")).strip().lower()
        begin, end, text = place[port]
        attributes = {**shared, **fields, "nic": nic, "device": nic, "port": port}
        rate = re.match(r"\d+(?:\.\d+)?", fields.get("rate", ""))
        if rate:
            attributes["gbps"] = rate[0]
        physical = re.sub(r"^\d+: | \(\d+\)$", "", fields.get("physical", "")).strip()
        if physical:
            attributes["physical"] = physical
        yield Observation(
            SOURCE, "port", reader.input, begin, end, f"{nic} port {port}: {text}", code=state,
            entity=f"link:{nic}:{port}", attributes=attributes,
        )  # fmt: skip
        yield Relation(f"nic:{nic}", f"link:{nic}:{port}", "on", reader.input, begin, reader.node)
        lid = _lid(fields.get("lid", ""))
        if lid:  # perfquery names the port by it
            yield Relation(f"link:{nic}:{port}", f"link:lid-{lid}:{port}", "same", reader.input, begin, reader.node)


def _lid(text: str) -> int:
    """Return a local identifier, 0 when the subnet manager has given none (0, 65535)."""
    try:
        lid = int(text, 0)
    except ValueError:
        return 0
    return lid if 0 < lid < 0xC000 else 0
