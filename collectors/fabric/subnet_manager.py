"""opensm's log: ports that leave and join the subnet, link errors reported by switches, who is master.

opensm 3.1 to 3.3.24 and NVIDIA's 5.x (also inside UFM and on switches), `/var/log/opensm.log` and syslog; texts of
`opensm/osm_inform.c`, `osm_trap_rcv.c`, `osm_drop_mgr.c`, `osm_state_mgr.c`, `osm_sm_state_mgr.c`, head of the line of
`libopensm/osm_log.c`. A node that is shut down leaves the subnet too, so a port that leaves once says little. Samples::

    Sep 30 10:00:00 123456 [7F5C2700] 0x01 -> osm_report_notice: Reporting Urgent Notice "Link state change" from switch LID 3, ..
    Sep 30 10:00:01 223456 [7F5C2700] 0x01 -> log_trap_info: Received Generic Notice type:0 num:129 (Local Link Integrity Threshold ..
    Sep 30 10:00:02 323456 [7F5C2700] 0x02 -> drop_mgr_remove_port: Removed port with GUID:0x.. LID range [9, 9] of node:node-a mlx5_5
    Sep 30 10:00:03 423456 [7F5C2700] 0x80 -> SM port is down
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.fabric.fabric_names import End, read_end
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "subnet-manager"
LAYERS = ("fabric",)
SIGNATURES = (
    r"\d\d:\d\d:\d\d \d{6} \[[0-9A-F]+\] 0x[0-9a-fA-F]+ -> ",
    r"^OpenSM\[\d+\]|\bOpenSM\[\d+\]: ",
    r"^OpenSM [\d.]+\S*$",
)
ANCHORS = (
    r"Reporting (?:Urgent|Security) Notice|Reporting Generic Notice type:\d num:(?:12[89]|13[01]|25[6-9]) ",
    r"Received Generic Notice type:",
    r"Removed port with GUID|Discovered new port with GUID",
    r"SM port is (?:down|up)",
    r"-> Entering [A-Z]+ state|Entering (?:MASTER|STANDBY|NOT-ACTIVE|DISCOVERING) state",
    r"ERR 3120|Possible mis-set mkey",
    r"[Ff]ound duplicated node GUID|ERR 0D01",
    r"Errors during initialization",
    r"SUBNET UP",
    r"Bad [PQ]_Key:0x",
    r"Unlinking local node 0x",
)
CONTEXT = (  # hundreds when a rack is restarted
    r"Reporting (?:Urgent|Security) Notice|Reporting Generic Notice type:\d num:(?:12[89]|13[01]|25[6-9]) ",
    r"Removed port with GUID|Discovered new port with GUID",
)
_NOTICE = compile_later(
    r"Notice (?:type:\d+ num:(?P<number>\d+) \((?P<trap>[^)]*)\)|\"(?P<name>[^\"]*)\")(?:.*?(?:LID:|LID )(?P<lid>\d+))?"
    r"(?:.*?GUID 0x(?P<guid>[0-9a-f]+))?(?:.*?[Pp]ort (?P<port>\d+))?"
)
_MEMBER = compile_later(
    r"(?P<code>Removed|Discovered new) port with GUID:? ?0x(?P<guid>[0-9a-f]+) LID range \[(?P<lid>\d+), ?\d+\] of node: ?(?P<name>.*\S)"
)
_STATE = compile_later(r"Entering (?P<state>[A-Z-]+) state")
_KEY = compile_later(
    r"Bad (?P<kind>[PQ])_Key:0x(?P<key>[0-9a-f]+) on SL:\d+ from LID1:(?P<lid>\d+) QP1:\S+ to LID2:(?P<peer>\d+)"
)
_TRAPS = (
    ("link state", "link-state-change"), ("local link integrity", "link-integrity"), ("buffer overrun", "buffer-overrun"),
    ("watchdog", "flow-control-watchdog"), ("p_key", "bad-pkey"), ("q_key", "bad-qkey"), ("m_key", "bad-mkey"),
)  # fmt: skip
_PLAIN = (
    ("SM port is down", "sm-down"), ("SM port is up", "sm-up"), ("SUBNET UP", "subnet-up"),
    ("Errors during initialization", "init-errors"), ("duplicated node GUID", "duplicate-guid"), ("ERR 3120", "no-response"),
    ("mis-set mkey", "no-response"), ("ERR 0D01", "duplicate-guid"),
)  # fmt: skip


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `subnet-event` observations; the code is what happened, attributes lid, guid, port, switch, nic."""
    member = _MEMBER.search(line.text)
    if member:
        end = read_end(member["name"])
        code = "port-left" if member["code"] == "Removed" else "port-joined"
        yield _observe(line, code, {"guid": member["guid"], "lid": member["lid"], "name": member["name"]}, end)
        return
    key = _KEY.search(line.text)
    if key:
        yield _observe(
            line, f"bad-{key['kind'].lower()}key", {"key": key["key"], "lid": key["lid"], "peer": key["peer"]}
        )
        return
    notice = _NOTICE.search(line.text)
    if notice:
        said = (notice["trap"] or notice["name"] or "").lower()
        code = next((name for words, name in _TRAPS if words in said), "")
        if code:
            named = {name: value for name in ("lid", "guid", "port", "number") if (value := notice[name])}
            yield _observe(line, code, named)
        return
    state = _STATE.search(line.text)
    if state:
        yield _observe(line, "state", {"state": state["state"].lower()})
        return
    code = next((name for words, name in _PLAIN if words in line.text), "")
    if code:
        yield _observe(line, code, {})


def _observe(line: Line, code: str, attributes: dict[str, str], end: End | None = None) -> Observation:
    end = end or End()
    named = attributes | {"nic": end.nic, "switch": end.switch}
    entity = end.entity
    if not entity and attributes.get("lid") and attributes.get("port"):
        entity = f"link:lid-{attributes['lid']}-P{attributes['port']}:1"
    return Observation(
        SOURCE, "subnet-event", line.input, line.number, line.number, line.text[:1000], code=code, time=line.time,
        node=end.node or line.host, entity=entity, attributes={name: value for name, value in named.items() if value},
    )  # fmt: skip
