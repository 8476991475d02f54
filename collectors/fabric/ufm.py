"""Events of UFM, NVIDIA's manager of InfiniBand fabrics: its event log and syslog lines, and the events of its REST API.

UFM Enterprise 5.x to 6.23 and the SDN appliance; documented in "UFM Enterprise User Manual, Supported Traps and Events" and
"UFM REST API, Events"; the form of a line is that of `ufm_sdk_3.0` (event_log_regex.py). Info events of a healthy fabric
(multicast groups, configuration) are left alone. Samples::

    2024-05-28 08:03:05.113 [97213] [329] WARNING Site [default] [Link] IBPort [Computer: node-a mlx5_5 / 1] [dev_id: e09d]: Link is Down
    2024-05-28 08:03:07.221 [97214] [917] CRITICAL [Hardware] IBPort [Switch: leaf-3 / 12] [dev_id: 2c5e]: Critical BER reported
    [{"id":97213,"name":"Link is Down","type":"IBPort","event_type":"329","severity":"Warning","timestamp":"2024-05-28 08:03:05",
      "object_name":"e09d7330d5b6ca98_1","object_path":"default(5) / Computer: node-a mlx5_5 / 1","description":"Link is Down"}]
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from collectors.block import RefusedError
from collectors.clock import parse_iso
from collectors.fabric.fabric_names import End, read_end
from collectors.identity import normalise_node
from collectors.notes import Note
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "ufm"
LAYERS = ("fabric",)
SIGNATURES = (r"\[\d+\] \[\d+\] (?:INFO|WARNING|MINOR|CRITICAL|NOTICE) (?:Site \[[\w-]*\] )?\[\w+\] \w+ \[",)
ANCHORS = (
    r"\] (?:WARNING|MINOR|CRITICAL) (?:Site \[[\w-]*\] )?\[\w+\] \w+ \[",
    r"\] INFO (?:Site \[[\w-]*\] )?\[Link\] \w+ \[",
)
MAGIC = (rb"\A\s*\[?\s*\{[^{}]{0,1200}\"object_path\"[^{}]{0,1200}\"(?:severity|event_type|type)\"",
         rb"\A\s*\[?\s*\{[^{}]{0,1200}\"severity\"[^{}]{0,1200}\"object_path\"")  # fmt: skip
_EVENT = compile_later(
    r"\[\d+\] \[(?P<number>\d+)\] (?P<severity>[A-Z]+) (?:Site \[[\w-]*\] )?\[(?P<category>\w+)\] (?P<type>\w+) "
    r"\[(?P<object>.*)\]: ?(?P<text>.*\S)"
)
_COMPUTER = compile_later(
    r"(?:Computer|Host|Server): (?P<name>[\w.-]+(?: [\w.-]+)?)(?: ?/ ?(?:NIC:? ?)?(?P<port>[\w.]+))?"
)
_SWITCH = compile_later(
    r"Switch: (?P<name>[^/\]]+?)(?: ?/ ?(?:(?P<module>[A-Za-z]\S*) ?/ ?)?(?P<port>[\d/]+))?(?:\]|$| \[| ?/)"
)
_CODES = tuple(
    (code, compile_later(regex))
    for code, regex in (
        ("link-down", r"(?i)\blink (?:is|went) down\b|port (?:is )?disconnected"),
        ("link-up", r"(?i)\blink (?:is|went) up\b"),
        ("link-flapping", r"(?i)\blink (?:is )?flapping|flapping link"),
        ("ber-critical", r"(?i)critical (?:effective |symbol |raw )?BER|BER error"),
        ("ber-high", r"(?i)high (?:effective |symbol |raw )?BER|BER warning"),
        ("link-width", r"(?i)non.?optimal link width|link width (?:is )?(?:degraded|reduced)"),
        ("link-speed", r"(?i)non.?optimal link speed|link speed (?:is )?(?:degraded|reduced)"),
        ("link-downed", r"(?i)link downed"),
        ("link-recovery", r"(?i)link error recovery"),
        ("symbol-errors", r"(?i)symbol ?error"),
        ("link-integrity", r"(?i)local ?link ?integrity"),
        ("receive-errors", r"(?i)port ?(?:receive|rcv) ?errors"),
        ("congestion", r"(?i)congest|port ?xmit ?wait"),
        ("discards", r"(?i)port ?xmit ?discard"),
        ("buffer-overrun", r"(?i)buffer ?overrun"),
        ("switch-down", r"(?i)\b(?:director )?switch (?:is|went) down|switch .*(?:not responding|unreachable)"),
        ("switch-up", r"(?i)\b(?:director )?switch (?:is|went) up"),
        ("node-down", r"(?i)\bnode (?:is|went) down"),
        ("node-up", r"(?i)\bnode (?:is|went) up"),
        ("temperature", r"(?i)temperature"),
        ("module-fault", r"(?i)(?:module|fan|power supply|PSU|ASIC).*(?:fatal|fault|fail|not present|status)"),
        ("bad-key", r"(?i)bad [MPQ]_?key"),
        ("sm-failed", r"(?i)(?:SM|subnet manager|opensm).*(?:down|dead|not respond|fail|unreachable|stopped)"),
        ("duplicate-guid", r"(?i)duplicat\w+ .*guid"),
    )
)


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `fabric-event` observations, and `link` (up, down) for what happened to a port."""
    event = _EVENT.search(line.raw)
    if event:
        named = {name: event[name] for name in ("number", "severity", "category", "type")}
        yield from _tell(line, event["text"], event["object"], named)


def parse_document(name: str, data: bytes) -> Iterator[Record]:
    """Read the answer of the REST API: a list of events, or one."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RefusedError(Note.of("not-whole-json", error=str(error))) from None
    events = told if isinstance(told, list) else [told]
    for number, event in enumerate(events, start=1):
        if isinstance(event, dict):
            yield from _read_event(name, number, event)


def _read_event(name: str, number: int, event: dict[str, Any]) -> Iterator[Record]:
    said = {key: str(value) for key, value in event.items() if isinstance(value, str | int)}
    text = f"{said.get('name', '')}: {said.get('description', '')}"
    line = Line(name, number, text, text, time=parse_iso(said.get("timestamp", "")))
    named = {name: said.get(name, "") for name in ("severity", "category")} | {
        "number": said.get("event_type", said.get("type", ""))
    }
    yield from _tell(line, text, said.get("object_path") or said.get("object_name", ""), named)


def _tell(line: Line, text: str, about: str, attributes: dict[str, str]) -> Iterator[Record]:
    code = next((one for one, regex in _CODES if regex.search(text)), "")
    if not code:
        return
    end, host = _object(about)
    named = attributes | {
        "nic": end.nic,
        "port": end.port if end.nic else "",
        "switch": end.switch,
        "object": about[:200],
    }
    named = {key: value for key, value in named.items() if value}
    entity = end.entity or (f"switch:{end.switch}" if end.switch else f"node:{host}" if host else "")
    shown = text if text in line.text or not line.text else f"{about}: {text}"
    yield Observation(
        SOURCE, "fabric-event", line.input, line.number, line.number, shown[:1000], code=code, time=line.time, node=end.node or host,
        entity=entity, attributes=named,
    )  # fmt: skip
    if code in ("link-down", "link-up") and end.entity:
        yield Observation(
            SOURCE, "link", line.input, line.number, line.number, shown[:1000], code=code[5:], time=line.time, node=end.node,
            entity=end.entity, attributes={"nic": end.nic, "port": end.port},
        )  # fmt: skip
        if end.switch:
            yield Relation(end.entity, f"switch:{end.switch}", "on", line.input, line.number, end.node)


def _object(about: str) -> tuple[End, str]:
    """Return the end of a link that an event is about, and the host when no adapter is named."""
    switch = _SWITCH.search(about)
    if switch:
        name = normalise_node(switch["name"].strip().split(" ")[0])
        return End(name, f"P{switch['port']}" if switch["port"] else "", "1", name), ""
    computer = _COMPUTER.search(about)
    if computer is None:
        return End(), ""
    port = computer["port"] or ""
    end = read_end(computer["name"], port if port.isdigit() else "1")
    if not end.nic and port and not port.isdigit():
        end = End(normalise_node(computer["name"]), port, "1")
    return end, normalise_node(computer["name"].split(" ")[0])
