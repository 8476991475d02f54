"""How tools that see a whole InfiniBand fabric name the end of a link: node description, node name with unit and port, or GUID.

Node descriptions are set by rdma-ndd (`node-a mlx5_0`, `node-a HCA-1`) and by switches (`MF0;leaf-3:MQM9700/U1`); ibdiagnet writes
`node-a/U1/P1`, `Se41d2d03004bcfb0/Ne41d2d03004bcfb0/P20` and, from 2.7 on, a name in brackets behind it; UFM writes
`Computer: node-a HCA-1 / 1`. Samples::

    >>> read_end("node-a mlx5_5", "1")
    End(node='node-a', nic='mlx5_5', port='1', switch='')
    >>> read_end("MF0;leaf-3:MQM9700/U1", "12")
    End(node='leaf-3', nic='P12', port='1', switch='leaf-3')
"""

from __future__ import annotations

from dataclasses import dataclass

from collectors.identity import normalise_node
from collectors.regex import compile_later

_SWITCH = compile_later(r"(?:MF\d;)?(?P<name>[\w.-]+):(?P<model>[A-Z]{2,4}\d{3,}\w*)(?:/.*)?$")
_SWITCH_WORDS = compile_later(r"(?i)\b(?:switch|quantum|switchib|switchx|infiniscale|spine|leaf)\b")
_HOST = compile_later(r"(?P<node>[A-Za-z0-9][\w.-]*)[ /](?P<nic>(?:mlx[45]_\w+|HCA-\d+|ib\w+|bnxt_re\d+|hfi1_\d+))\b")
_UNIT = compile_later(r"(?P<node>[A-Za-z][\w.-]*)(?P<board>/[LS]\d+)?/U(?P<unit>\d+)(?:/P?(?P<port>\d+))?$")
_GUIDS = compile_later(r"S(?P<guid>[0-9a-f]{8,16})/N[0-9a-f]{8,16}/P(?P<port>\d+)")
_INNER = compile_later(r"\((?P<inner>[^()]*)\)\s*$")


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link: host and adapter, or switch and port (`nic` is then `P12`)."""

    node: str = ""
    nic: str = ""
    port: str = "1"
    switch: str = ""

    @property
    def entity(self) -> str:
        """Return the link's entity, "" when nothing is known of it."""
        return f"link:{self.nic}:{self.port}" if self.nic else ""

    @property
    def is_host(self) -> bool:
        """Tell whether an adapter of a host is at this end."""
        return bool(self.nic) and not self.switch


def port_name(port: str) -> str:
    """Return a switch port's name as part of an entity, where a slash parts host and name: `Ethernet12/1` is `Ethernet12-1`."""
    return port.replace("/", "-")


def read_end(description: str, port: str = "") -> End:
    """Return what a name says; an unknown name gives an end without host."""
    text = description.strip().strip('"')
    if inner := _INNER.search(text):
        named = read_end(inner["inner"], port)
        if named.nic:
            return named
        text = text[: inner.start()].strip()
    if switch := _SWITCH.match(text):
        name = normalise_node(switch["name"])
        return End(name, f"P{port}" if port else "", "1", name)
    if host := _HOST.match(text):
        return End(normalise_node(host["node"]), host["nic"], port or "1")
    if guids := _GUIDS.match(text):
        return End(guids["guid"], f"P{guids['port']}", "1", guids["guid"])
    unit = _UNIT.match(text)
    if unit and unit["board"]:  # a board of a director
        name, place = normalise_node(unit["node"]), f"{unit['board'][1:]}-P{unit['port'] or port}"
        return End(name, place, "1", name)
    if unit:
        return End(normalise_node(unit["node"]), f"HCA-{unit['unit']}", unit["port"] or port or "1")
    if _SWITCH_WORDS.search(text):
        name = text.split(":", 1)[0].strip()
        return End(name.replace(" ", "-"), f"P{port}" if port else "", "1", name.replace(" ", "-"))
    return End()
