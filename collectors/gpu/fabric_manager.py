"""Fabric Manager's own log, `/var/log/fabricmanager.log`, and its lines in the journal.

Versions 450 to 595 (no specification; the user guide lists the settings that the log begins with). From 570 on an error of
an NVLink 5 port is told over several lines, one `name : value` each. Samples::

    [Dec 19 2024 19:17:49] [ERROR] [tid 1374] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id
        00000000:83:00.0 physical id 0 port 34                                        (in one line)
    [Apr 17 2024 01:51:39] [ERROR] [tid 2999877] failed to find the GPU handle 10187860174420860981 in the multicast team ...
    [Oct 13 2025 18:14:38] [ERROR] [tid 202] Fabric Manager detected GPU NVL Fatal error on :
    moduleId : 3
    portNum : 4
    [Dec 19 2024 22:08:53] [INFO] [tid 1570] Fabric Manager version 535.161.08 is running with the following configuration options
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_syslog
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "fabric-manager"
LAYERS = ("node", "hardware")
SIGNATURES = (
    r"^\[[A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d\] \[[A-Z]+\] \[tid \d+\] ",
    r"^Fabric Manager Log initializing at",
)
_LINE = r"\[(?:ERROR|WARNING|WARN|CRITICAL|FATAL)\] \[tid \d+\] "
HEADS = (
    _LINE,
    r"\[INFO\] \[tid \d+\] (?:Fabric Manager version|Successfully configured all the available|fabric manager .{0,40}degraded)",
)

_STAMPED = compile_later(
    r"^(?:.{0,120}?)\[(?P<stamp>[A-Z][a-z]{2} +\d{1,2} \d{4} \d\d:\d\d:\d\d)\] \[(?P<level>[A-Z]+)\] \[tid \d+\] (?P<text>.*)$"
)
_SWITCH = compile_later(
    r"detected NVSwitch (?P<severity>non-fatal|fatal) error (?P<sxid>\d+) on fid \d+ on NVSwitch pci bus id (?P<switch_pci>[0-9A-Fa-f:.]+)"
    r" physical id (?P<physical>\d+)(?: port (?P<port>-?\d+))?"
)
_PORT = compile_later(
    r"detected (?P<on>GPU|NVSwitch|Switch)[\w ]*? (?P<severity>Non-Fatal|Nonfatal|Fatal) error on ?:?\s*$", re.I
)
_PAIR = compile_later(r"^\s*(?P<name>[A-Za-z]\w{2,30}) ?: (?P<value>\S.*?)\s*(?:#.*)?$")
_KINDS = tuple((name, compile_later(regex, re.I)) for name, regex in (
    ("version-mismatch", r"(?:do|does)(?:n't| not) match (?:with )?driver version|version mismatch|incompatible .{0,30}version"),
    ("topology", r"don't match with any supported (?:system )?topology|topology .{0,60}(?:fail|mismatch|invalid)"),
    ("multicast", r"multicast"),
    ("degraded", r"degraded|disabl\w+ .{0,60}(?:partition|NVSwitch|GPU)|access to .{0,40}GPU .{0,40}(?:removed|disabled)"),
    ("training", r"NVLink.{0,60}(?:train|failed|not active|down)|(?:train|link).{0,40}NVLink.{0,40}fail"),
    ("initialisation", r"(?:fail\w*|unable|abort\w*|could not).{0,120}(?:initiali[sz]|start|query|open|configur|register|load)"),
    ("connection", r"connection|socket|heartbeat|peer|timed out"),
))  # fmt: skip
_MOST_PAIRS = 16


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `fabric_manager` observations: code nvswitch-fatal, nvswitch-nonfatal, gpu-nvlink-fatal, ..., version-mismatch,
    topology, multicast, degraded, training, initialisation, connection, other; started and configured for its own progress."""
    first, raw = reader.number, reader.next() or ""
    match = _STAMPED.match(raw[:4000])
    if not match:
        return
    text, host = match["text"].strip(), peel(reader.input, first, raw[:400]).host
    time, found, last = _time(match["stamp"]), {"level": match["level"].lower()}, first
    entity, code = "", ""
    switch, port = _SWITCH.search(text), _PORT.search(text)
    if switch:
        code = "nvswitch-" + switch["severity"].replace("-", "")
        found |= {name: value for name, value in switch.groupdict().items() if value}
        found["nvswitch"] = normalise_pci(switch["switch_pci"]) or switch["switch_pci"]
        entity = f"nvswitch:{found['nvswitch']}"
    elif port:
        pairs = dict(_read_pairs(reader))
        last = reader.number - 1
        code = f"{port['on'].lower().replace('nvs', 's')}-nvlink-{port['severity'].lower().replace('-', '')}"
        found |= {name: pairs[key] for key, name in _NAMES.items() if key in pairs}
        text = " ".join([text, *(f"{name}={value}" for name, value in pairs.items())])
    elif match["level"] == "INFO":
        code = (
            "started"
            if text.startswith("Fabric Manager version")
            else "degraded"
            if "degraded" in text
            else "configured"
        )
        version = re.search(r"version (\d[\d.]+)", text)
        found |= {"version": version[1]} if version else {}
    else:
        code = next((name for name, regex in _KINDS if regex.search(text)), "other")
    yield Observation(
        SOURCE, "fabric_manager", reader.input, first, last, text, code=code, time=time, node=host or reader.node, entity=entity,
        attributes=found,
    )  # fmt: skip


def _time(stamp: str) -> float | None:
    month, day, year, clock = stamp.split()
    return parse_syslog(f"{month} {day} {clock} {year}")


_NAMES = {
    "moduleId": "module", "nodeId": "fabric_node", "portNum": "port", "gpuGuid": "guid", "errorCode": "error", "errorSubcode": "suberror",
    "portDownReasonCode": "reason", "partitionId": "partition",
}  # fmt: skip


def _read_pairs(reader: Reader) -> Iterator[tuple[str, str]]:
    for _ in range(_MOST_PAIRS):
        following = reader.peek()
        match = _PAIR.match(following) if following is not None and not following.startswith("[") else None
        if not match:
            return
        reader.next()
        yield match["name"], match["value"]
