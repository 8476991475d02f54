"""Ports of switches going up and down, shut down for errors, or paused by a storm, in the logs that the switches send.

Programs: Arista EOS and Cisco IOS (`%LINEPROTO-5-UPDOWN`, `%ETH-4-ERRDISABLE`, `%PM-4-ERR_DISABLE`), Cisco NX-OS
(`%ETHPORT-5-IF_...`), SONiC (`orchagent`: `portsorch.cpp`, `pfcactionhandler.cpp`, `pfcwdorch.cpp`), Cumulus Linux and other
switches on Linux (`mlxsw_spectrum`, `switchd`), MLNX-OS and Onyx, Huawei CloudEngine and S series (`IFNET/4/LINK_STATE`,
`IFNET/2/linkDown_active`), H3C Comware 5 to 9 (`IFNET/3/PHY_UPDOWN`). Documented in the vendors' system message guides and the
sources named. Samples::

    Nov  3 10:00:01 leaf-3 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet12/1, changed state to down
    Jun 28 15:06:19 leaf-3 Ebra: %ETH-4-ERRDISABLE: link-flap error detected on Ethernet5.
    Jul  7 15:00:05 leaf-3 %ETHPORT-5-IF_DOWN_LINK_FAILURE: Interface Ethernet1/1 is down (Link failure)
    Nov  3 10:00:01 leaf-3 NOTICE swss#orchagent: :- updatePortOperStatus: Port Ethernet48 oper state set from up to down
    Nov  3 10:00:04 leaf-3 NOTICE swss#orchagent: :- report_pfc_storm: PFC Watchdog detected PFC storm on port Ethernet12, queue index 3
    Nov  3 10:00:01 leaf-3 kernel: mlxsw_spectrum 0000:03:00.0 swp3: link down
    Jul  7 2025 15:00:05 leaf-4 %%01IFNET/4/LINK_STATE(l):The line protocol on the interface 400GE1/0/5 has entered the DOWN state.
    %Jul  7 15:00:05:123 2025 leaf-4 IFNET/3/PHY_UPDOWN: Physical state on the interface FourHundredGigE1/0/5 changed to down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.fabric.fabric_names import port_name
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "switch"
LAYERS = ("fabric",)
SIGNATURES = (
    r"%[A-Z][A-Z0-9_]+-\d-[A-Z0-9_]+: ", r"swss#\w+: ", r"\b(?:orchagent|syncd|portsyncd|switchd|clagd|ptmd)(?:\[\d+\])?: ",
    r"\[(?:issd|mgmtd|metad|cli|ibd|healthd|mlagd|pm)\.(?:NOTICE|INFO|WARNING|ERR)\]", r"mlxsw_spectrum",
    r"(?:%%\d\d| )[A-Z][A-Z0-9_]+/\d/[A-Za-z_]+(?:\([a-z]\)|: )",
)  # fmt: skip
ANCHORS = (
    r"%LINEPROTO-\d-UPDOWN: |%LINK-\d-UPDOWN: ",
    r"%ETHPORT-\d-IF_(?:DOWN_LINK_FAILURE|DOWN_ERROR_DISABLED|UP)\b",
    r"%ETH-\d-ERRDISABLE: |%PM-\d-ERR_DISABLE: ",
    r" oper state set from (?:up|down) to (?:up|down)|Set operation status (?:UP|DOWN) to host interface",
    r"mlxsw_spectrum [0-9a-f:.]+ swp\w+: link (?:up|down)",
    r"state (?:was )?changed (?:from \w+ )?to (?:UP|DOWN)\b",
    r"IFNET/\d/(?:LINK_STATE|linkDown_(?:active|clear)|PHY_UPDOWN)\b",
    r"PFC Watchdog (?:detected|storm)|[Pp]riority[- ][Ff]low[- ][Cc]ontrol.*watchdog|PFC_WD|PFCWD|pfc[-_]watchdog",
)
_PORT = compile_later(
    r"(?:%(?:LINEPROTO|LINK)-\d-UPDOWN: (?:Line protocol on )?Interface (?P<first>[A-Z][\w/.-]*), changed state to |"
    r"%ETHPORT-\d-IF_(?:DOWN_LINK_FAILURE|UP): Interface (?P<second>[A-Z][\w/.-]*) is |"
    r"Port (?P<third>[A-Z][\w/.-]*) oper state set from \w+ to |mlxsw_spectrum [0-9a-f:.]+ (?P<fourth>swp\w+): link |"
    r"(?:[Ii]nterface|[Pp]ort) (?P<fifth>(?:Eth|IB|ib|swp|Po)\w*(?:/\d+)*)[ :,-]+(?:link |oper(?:ational)? )?state (?:was )?changed "
    r"(?:from \w+ )?to )(?P<state>up|down|UP|DOWN)\b"
)
_IFNET = compile_later(
    r"IFNET/\d/(?:LINK_STATE\b.*? on the interface (?P<first>\S+) has entered the |PHY_UPDOWN: Physical state on the interface "
    r"(?P<second>\S+) changed to |linkDown_\w+\b.*?ifName=(?P<third>[\w/.:-]+), .*?OperStatus=)(?P<state>up|down|UP|DOWN|Up|Down)\b"
)
_SET = compile_later(r"Set operation status (?P<state>UP|DOWN) to host interface (?P<port>[A-Z][\w/.-]*)")
_DISABLED = compile_later(
    r"%ETH-\d-ERRDISABLE: (?P<eos>[\w-]+) error detected on (?P<first>[A-Z][\w/.-]*?)\.?(?:\s|$)|"
    r"%PM-\d-ERR_DISABLE: (?P<ios>[\w-]+) error detected on (?P<second>[A-Z][\w/.-]*?),?(?:\s|$)|"
    r"IF_DOWN_ERROR_DISABLED: Interface (?P<third>[A-Z][\w/.-]*) is down \(Error disabled\. Reason:(?P<nxos>[^)]*)\)"
)
_STORM = compile_later(
    r"(?:PFC Watchdog (?P<code>detected PFC storm|storm restored) on +(?:port (?P<port>[\w/.-]+)|queue)"
    r"(?:, queue(?: index)? (?P<queue>\d+))?|(?i:(?:priority[- ]flow[- ]control|pfc)[ _-]*(?:pause )?watchdog)[^\n]{0,80}?"
    r"\b(?P<other>(?i:stuck|storm|drop\w*|recover\w*|restored))\b)"
)
_ANY_PORT = compile_later(r"\b(Eth(?:ernet)?\d+(?:/\d+)*|swp\d+\w*|IB\d+/\d+)\b")
_NOT_PORTS = compile_later(
    r"(?:Vlan|Loopback|Management|mgmt|MEth|M-Gig|NULL|Tunnel|Vxlan|Eth-Trunk|Bridge-Aggregation|Route-Aggregation|PortChannel|Port-Channel|port-channel|Po\d)",
    re.IGNORECASE,
)
_HOST = compile_later(
    r"\d\d:\d\d:\d\d(?:\.\d+)?(?::\d{3} \d{4})?(?: [A-Z]{3,4})? (?P<host>[A-Za-z][\w.-]+) "
    r"(?:(?:\w+: )?%|(?:%%\d\d)?IFNET/|[A-Z]+ (?:swss|syncd)#|kernel: |\w+\[\d+\]: )"
)


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `link` (code up or down), `switch-port` (err-disabled) and `pause-watchdog` (storm, restored) observations; groups of
    ports and virtual interfaces are left out."""
    match = (
        _PORT.search(line.raw) or _SET.search(line.raw) or (_IFNET.search(line.raw) if "IFNET/" in line.raw else None)
    )
    if match:
        port = next((value for name, value in match.groupdict().items() if value and name != "state"), "")
        if port and not _NOT_PORTS.match(port):
            yield _observe(line, "link", match["state"].lower(), port, {})
        return
    disabled = _DISABLED.search(line.raw)
    if disabled:
        port = disabled["first"] or disabled["second"] or disabled["third"]
        reason = (disabled["eos"] or disabled["ios"] or disabled["nxos"] or "").strip().lower().replace(" ", "-")
        if not _NOT_PORTS.match(port):
            yield _observe(line, "switch-port", "err-disabled", port, {"reason": reason})
        return
    storm = _STORM.search(line.raw)
    if storm:
        said = (storm["code"] or storm["other"] or "").lower()
        code = "restored" if said.startswith(("storm restored", "recover", "restored")) else "storm"
        named = _ANY_PORT.search(line.raw)
        yield _observe(
            line, "pause-watchdog", code, storm["port"] or (named[0] if named else ""), {"queue": storm["queue"] or ""}
        )


def _observe(line: Line, kind: str, code: str, port: str, attributes: dict[str, str]) -> Observation:
    host = _HOST.search(line.raw)
    line.host = line.host or (host["host"] if host else "")
    named = attributes | ({"nic": port, "port": "1"} if port else {})
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        entity=f"link:{port_name(port)}:1" if port else "", attributes={name: value for name, value in named.items() if value},
    )  # fmt: skip
