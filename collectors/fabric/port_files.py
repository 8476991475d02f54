"""Which RDMA devices a host has, and state and rate of their ports: `ibv_devices`, `grep . /sys/class/infiniband/*/ports/*/{state,rate}`.

Formats: ibv_devices(1) of rdma-core; the kernel's "ABI/stable/sysfs-class-infiniband". Files of one port are joined into one `port`
fact, as ibstat's is; a rate without a state counts as that of an active port, as a port that is down has the lowest rate there is.
Sample::

    /sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE
    /sys/class/infiniband/mlx5_0/ports/1/phys_state:5: LinkUp
    /sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)

        device                 node GUID
        ------              ----------------
        mlx5_0              b8cef603005e1a40
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "rdma"
LAYERS = ("fabric",)
_LIST = r"^\s+device\s+node GUID\s*$"
SIGNATURES = (
    _LIST,
    r"/sys/class/infiniband/\w+/ports/\d+/(?:state|phys_state|rate|link_layer)[: ]",
)
HEADS = SIGNATURES
_MOST = 4000
_FILE = compile_later(
    r"/sys/class/infiniband/(?P<nic>\w+)/ports/(?P<port>\d+)/(?P<name>state|phys_state|rate|link_layer)[: ]\s*(?P<value>\S.*?)\s*$"
)
_LISTED = compile_later(_LIST)
_DEVICE = compile_later(r"\s+(?P<nic>[A-Za-z][\w.-]*)\s+[0-9a-f]{16}\s*$")
_NUMBERED = compile_later(r"^\d+: *")
_RATE = compile_later(r"^\d+(?:\.\d+)?")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read a list of devices, or the files of all ports that follow each other."""
    if _LISTED.match(reader.peek() or ""):
        yield from _read_list(reader)
    else:
        yield from _read_files(reader)


def _read_list(reader: Reader) -> Iterator[Record]:
    reader.next()
    for _ in range(_MOST):
        raw = reader.peek() or ""
        device = _DEVICE.match(raw)
        if device is None and not raw.strip().startswith("---"):
            return
        number = reader.number
        reader.next()
        if device:
            yield Observation(
                SOURCE, "rdma-device", reader.input, number, number, raw.strip(), node=reader.node, entity=f"nic:{device['nic']}",
                attributes={"nic": device["nic"]},
            )  # fmt: skip


def _read_files(reader: Reader) -> Iterator[Record]:
    ports: dict[tuple[str, str, str], dict[str, tuple[int, str]]] = {}
    for _ in range(_MOST):
        raw = reader.peek()
        if raw is None:
            break
        line = peel(reader.input, reader.number, raw)
        file = _FILE.search(raw)
        if file is None:
            break
        reader.next()
        fields = ports.setdefault((line.host or reader.node, file["nic"], file["port"]), {})
        fields[file["name"]] = (line.number, file["value"])
    if not ports:
        reader.next()
    for (node, nic, port), fields in ports.items():
        value = {name: _NUMBERED.sub("", shown) for name, (_, shown) in fields.items()}
        rate = _RATE.match(value.get("rate", ""))
        if "state" not in fields and not rate:
            continue
        attributes = {"nic": nic, "device": nic, "port": port}
        if rate:
            attributes |= {"rate": value["rate"], "gbps": rate[0]}
        if "phys_state" in value:
            attributes["physical"] = value["phys_state"]
        if "link_layer" in value:
            attributes["link_layer"] = value["link_layer"]
        number = fields["rate" if rate else "state"][0]
        if "state" not in value and rate and float(rate[0]) <= 10:
            continue
        yield Observation(
            SOURCE, "port", reader.input, number, number, f"{nic} port {port}: " + ", ".join(f"{name} {value[name]}" for name in value),
            code=value.get("state", "active").lower(), node=node, entity=f"link:{nic}:{port}", attributes=attributes,
        )  # fmt: skip
