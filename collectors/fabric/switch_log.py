"""Ports of Ethernet switches going up and down, in the logs that the switches send.

Programs: Arista EOS and Cisco IOS (`%LINEPROTO-5-UPDOWN`), Cisco NX-OS (`%ETHPORT-5-IF_...`), SONiC (`orchagent`), Cumulus Linux.
Documented in the vendors' system message guides and in SONiC's `orchagent/portsorch.cpp`. Samples::

    Nov  3 10:00:01 leaf-3 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet12/1, changed state to down
    Jul  7 15:00:05 leaf-3 %ETHPORT-5-IF_DOWN_LINK_FAILURE: Interface Ethernet1/1 is down (Link failure)
    Nov  3 10:00:01 leaf-3 NOTICE swss#orchagent: :- updatePortOperStatus: Port Ethernet48 oper state set from up to down
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "switch"
LAYERS = ("fabric",)
SIGNATURES = (r"%[A-Z][A-Z_]+-\d-[A-Z_]+: ", r"swss#orchagent: ")
ANCHORS = (
    r"%LINEPROTO-\d-UPDOWN: ",
    r"%ETHPORT-\d-IF_(?:DOWN_LINK_FAILURE|UP)\b",
    r" oper state set from (?:up|down) to (?:up|down)",
)
_PORT = compile_later(
    r"(?:%LINEPROTO-\d-UPDOWN: Line protocol on Interface (?P<first>[A-Z][\w/.-]*), changed state to |"
    r"%ETHPORT-\d-IF_(?:DOWN_LINK_FAILURE|UP): Interface (?P<second>[A-Z][\w/.-]*) is |"
    r"Port (?P<third>[A-Z][\w/.-]*) oper state set from \w+ to )(?P<state>up|down)\b"
)
_NOT_PORTS = compile_later(
    r"(?:Vlan|Loopback|Management|mgmt|Tunnel|Vxlan|PortChannel|Port-Channel|port-channel)", re.IGNORECASE
)
_HOST = compile_later(
    r"\d\d:\d\d:\d\d(?:\.\d+)?(?: [A-Z]{3,4})? (?P<host>[A-Za-z][\w.-]+) (?:(?:\w+: )?%|[A-Z]+ swss#)"
)


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `link` observations (code up or down) of the switch's ports; groups of ports and virtual interfaces are left out."""
    match = _PORT.search(line.raw)
    if match is None:
        return
    port = match["first"] or match["second"] or match["third"]
    if _NOT_PORTS.match(port):
        return
    host = _HOST.search(line.raw)
    line.host = line.host or (host["host"] if host else "")
    yield Observation(
        SOURCE, "link", line.input, line.number, line.number, line.text, code=match["state"], time=line.time, node=line.host,
        entity=f"link:{port}:1", attributes={"nic": port, "port": "1"},
    )  # fmt: skip
