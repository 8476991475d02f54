"""The kernel's lines about network and RDMA ports: mlx5_core, the IB core's port events, netdev drivers, bonding.

Programs: Linux 4.15 to 6.17 and OFED `mlx5_core` (`drivers/net/ethernet/mellanox/mlx5/core/{events,health,cmd}.c`), IB core
6.15 on (`Port: 1 Link ACTIVE`), bnxt_en, ice, i40e, ixgbe, bonding. Samples::

    mlx5_core 0000:5e:00.0 mlx5_3: Port: 1 Link DOWN
    infiniband mlx5_5: Port: 1 Link ACTIVE
    mlx5_core 0000:5c:00.0 ens5f0np0: Link down
    mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, High Temperature
    bond0: (slave ens5f0np0): link status definitely down, disabling slave
    mlx5_core 0000:d2:00.0: poll_health:825:(pid 0): device's health compromised - reached miss count
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.identity import normalise_pci
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^(?:mlx[45]_core|mlx5_ib|bnxt_en|ice|i40e|ixgbe|irdma|efa|ena|ionic) [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d",
    r"^infiniband \w+: Port: \d+ Link ", r"^\w+: \(slave [\w.-]+\): ", r"^(?:DMAR|AMD-Vi): ", r"^NETDEV WATCHDOG: ",
)  # fmt: skip
ANCHORS = (
    r"Link (?:DOWN|INIT|ACTIVE|ARMED|up$|down$|up[^a-z-]|down[^a-z-])",
    r"NIC Link is (?:[Uu]p|Down)",
    r"link status definitely (?:up|down)",
    r"Port module event",
    r"device's health compromised|[Hh]ealth issue observed|Fatal error \d+ detected|synd 0x[0-9a-f]+: ",
    r"Will cause a leak of a command resource|mlx5_error_sw_reset|PCI slot is unavailable|handling bad device",
    r"mlx5_core [0-9a-f:.]+: firmware version: ",
    r"NETDEV WATCHDOG: ",
)
CONTEXT = (r"mlx5_core [0-9a-f:.]+: firmware version: ",)
_PCI = r"(?P<pci>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
_DEVICE = r"(?:mlx[45]_core |bnxt_en |ice |i40e |ixgbe |irdma |ionic |ena |e1000e:? )?(?:" + _PCI + r"[ :]? ?)?"
_PORT = compile_later(
    r"(?:infiniband |" + _DEVICE + r")(?P<nic>[A-Za-z][\w.-]*):? (?:Port: (?P<port>\d+) )?(?:NIC )?Link (?:is )?"
    r"(?P<state>DOWN|INIT|ACTIVE|ARMED|[Uu]p|[Dd]own)\b"
)
_VIRTUAL = compile_later(r"(?:veth|virbr|docker|br-|cni|flannel|cali|lxc|tap|tun|dummy|vxlan|lo$)")
_BOND = compile_later(
    r"(?P<bond>\w+): (?:\(slave (?P<slave>[\w.-]+)\): )?link status definitely (?P<state>up|down)(?: for interface (?P<nic>[\w.-]+))?"
)
_MODULE = compile_later(
    _DEVICE + r".*Port module event(?:\[error\])?: module (?P<module>\d+), (?P<state>[^,]+)(?:, (?P<error>.+))?"
)
_HEALTH = compile_later(
    r"mlx5_core "
    + _PCI
    + r"[ :].*?(?P<code>device's health compromised|[Hh]ealth issue observed|Fatal error \d+ detected|"
    r"Will cause a leak of a command resource|mlx5_error_sw_reset|PCI slot is unavailable|handling bad device)"
)
_SYNDROME = compile_later(r"mlx5_core(?: " + _PCI + r")?[ :].*?synd 0x(?P<number>[0-9a-f]+): (?P<code>.+?)\.?$")
_PROBE = compile_later(r"mlx5_core " + _PCI + r": firmware version: (?P<version>\S+)")
_QUEUE = compile_later(r"NETDEV WATCHDOG: (?:CPU: \d+: )?(?P<nic>[\w.-]+) \((?P<driver>\w+)\)")
_HEALTH_CODES = (
    ("compromised", "health-compromised"), ("issue observed", "health-issue"), ("fatal error", "fatal-error"),
    ("leak of a command", "command-timeout"), ("sw_reset", "reset"), ("slot is unavailable", "slot-unavailable"),
    ("handling bad device", "bad-device"),
)  # fmt: skip
_STATES = {"down": "down", "init": "init", "armed": "init", "active": "up", "up": "up"}


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `link` (code up, down, init, probe), `nic-module` and `nic-health` observations."""
    if line.program not in ("", "kernel"):
        return  # network managers say "Link UP" of bridges and containers
    port = _PORT.search(line.text) if "Link " in line.text else None
    if port and not _VIRTUAL.match(port["nic"]):
        yield from _port(line, port["nic"], port["port"] or "1", port["state"], port.groupdict().get("pci"))
        return
    bond = _BOND.search(line.text)
    if bond:
        yield from _port(line, bond["slave"] or bond["nic"] or bond["bond"], "1", bond["state"], None)
        return
    probe = _PROBE.search(line.text)
    if probe:
        yield _observe(line, "link", "probe", probe["pci"], {"version": probe["version"]})
        return
    module = _MODULE.search(line.text)
    if module:
        code = (module["error"] or module["state"]).partition("(")[0].strip().lower()
        attributes = {"module": module["module"], "state": module["state"].lower()}
        yield _observe(line, "nic-module", code, module["pci"], attributes)
        return
    health = _HEALTH.search(line.text) or _SYNDROME.search(line.text)
    if health:
        kind = "nic-syndrome" if "number" in health.groupdict() else "nic-health"
        said = health["code"].lower()
        code = next((name for words, name in _HEALTH_CODES if words in said), said)
        yield _observe(line, kind, code, health["pci"], {})
        return
    queue = _QUEUE.search(line.text)
    if queue:
        yield _observe(line, "nic-health", "queue-timeout", None, {"nic": queue["nic"], "driver": queue["driver"]})


def _port(line: Line, nic: str, port: str, state: str, pci: str | None) -> Iterator[Record]:
    address = normalise_pci(pci) if pci else None
    yield _observe(line, "link", _STATES[state.lower()], address, {"nic": nic, "port": port})
    yield Relation(f"nic:{nic}", f"link:{nic}:{port}", "on", line.input, line.number)
    if address:
        yield Relation(f"nic:{nic}", f"nic:{address}", "same", line.input, line.number)
        yield Relation(f"link:{nic}:{port}", f"link:{address}:{port}", "same", line.input, line.number)
        yield Relation(f"nic:{nic}", f"pcie_device:{address}", "on", line.input, line.number)


def _observe(line: Line, kind: str, code: str, pci: str | None, attributes: dict[str, str]) -> Observation:
    address = (normalise_pci(pci) if pci else None) or ""
    if address:
        attributes["pcie_device"] = address
    attributes.setdefault("nic", address)
    attributes.setdefault("port", "1")
    if line.uptime is not None:
        attributes["uptime"] = f"{line.uptime:.6f}"
    nic = attributes["nic"]
    entity = (
        f"link:{nic}:{attributes['port']}" if kind in ("link", "nic-module") and nic else f"nic:{nic}" if nic else ""
    )
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host, entity=entity,
        attributes={name: value for name, value in attributes.items() if value},
    )  # fmt: skip
