"""How busy a host is: processors, memory, disks and interfaces, from top, free, mpstat, sar, iostat and pidstat.

Formats: procps-ng top and free, sysstat mpstat, sar -u, sar -n DEV, iostat -x, pidstat (10 to 12; decimal point or comma).
Samples::

    %Cpu(s):  6.4 us,  0.3 sy,  0.0 ni, 93.2 id,  0.1 wa,  0.0 hi,  0.0 si,  0.0 st
    Average:         eth0  84200.50   9110.70 121018.48    711.06      0.00      0.00      0.00     99.14
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.quantities import parse_size, plain
from collectors.regex import compile_later

SOURCE = "host"
LAYERS = ("node",)
SIGNATURES = (r"^%Cpu\(s\):", r"^(?:MiB|KiB|GiB) Mem :", r"^Mem: +[\d.]+\w*", r"%ifutil|%iowait|%util\b")
ANCHORS = (r"^%?Cpu\(s\): *[\d.]+", r"^Mem: +\d[\d.]*\w* ", r"^(?:MiB|KiB|GiB) Mem *: ", r"^top - .*load average: ")
HEADS = (
    r"^avg-cpu: +%user", r"^(?:[\d:]+ (?:AM|PM)?|Average:) +(?:CPU|IFACE|DEV)\b.*%",
    r"^Device:? +.*%util", r"^[\d:]+ (?:[AP]M )? *CPU +%usr",
    r"^(?:[\d:]+ (?:[AP]M)?|Average:) +IFACE +rxpck/s", r"^(?:# Time|[\d:]+(?: [AP]M)?|Average:) +UID +PID +%usr",
)  # fmt: skip
MOST_ROWS = 2000

_HEAD = compile_later("|".join(HEADS))
_STATES = {"us": "user", "sy": "system", "ni": "nice", "id": "idle", "wa": "iowait", "st": "steal"}
_STATE = compile_later(r"(\d+[.,]\d+) ?%?(us|sy|ni|id|wa|st)\b")
_SYSSTAT = {
    "%usr": "user", "%user": "user", "%sys": "system", "%system": "system", "%iowait": "iowait", "%steal": "steal", "%idle": "idle",
    "%ifutil": "percent", "rxkB/s": "rx_kb", "txkB/s": "tx_kb", "%util": "percent", "await": "await_ms", "r_await": "read_await_ms",
    "w_await": "write_await_ms", "r/s": "reads", "w/s": "writes", "rkB/s": "read_kb", "wkB/s": "write_kb", "tps": "transfers",
    "aqu-sz": "queue", "avgqu-sz": "queue", "%CPU": "cpu", "%wait": "wait", "PID": "pid", "Command": "command",
}  # fmt: skip
_LOAD = compile_later(r"load average: ([\d.]+)")
_STAMP = compile_later(r"^(?:Average:|\d\d:\d\d:\d\d(?: [AP]M)?)\s+")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `cpu` (shares in percent), `memory` (bytes) and `load` observations of top and free."""
    text = line.text
    states = {_STATES[name]: value.replace(",", ".") for value, name in _STATE.findall(text)}
    if "Cpu(s)" in text and states:
        yield _observe(line, "cpu", "all", states)
    elif text.startswith("top - "):
        match = _LOAD.search(text)
        if match:
            yield _observe(line, "load", "", {"load": match[1]})
    elif "Mem" in text[:8]:
        yield from _read_memory(line)


def _read_memory(line: Line) -> Iterator[Record]:
    named = dict(re.findall(r"(\d{1,15}(?:\.\d{1,9})?)[+ ]{0,8}(total|free|used|buff/cache)", line.text))
    values: dict[str, str] = {}
    if named:
        unit = {"K": 2**10, "M": 2**20, "G": 2**30}.get(line.text[:1], 2**10)
        values = {
            name: plain(float(value) * unit)
            for value, name in re.findall(r"(\d{1,15}(?:\.\d{1,9})?)[+ ]{0,8}(total|free|used)", line.text)
        }
    else:
        cells = line.text.split()[1:]
        names = ("total", "used", "free", "shared", "buffers", "available")
        for name, cell in zip(names, cells, strict=False):
            size = parse_size(cell)
            if size is None:
                return
            values[name] = plain(size)
        if len(cells) < len(names):
            values.pop("available", None)
    if "total" in values:
        yield _observe(line, "memory", "", values)


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        attributes=attributes,
    )  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `cpu`, `net-rate`, `disk-io` or `process` observations for the rows of a sysstat table."""
    if not _HEAD.search(reader.peek() or ""):
        return
    headings = _STAMP.sub("", re.sub(r"^# Time", "Time", reader.next() or "")).split()
    if headings[:1] == ["avg-cpu:"]:
        yield from _read_average(reader, headings[1:])
        return
    timed = headings[:1] == ["Time"]
    key = headings[0].rstrip(":") if headings else ""
    kind = {"CPU": "cpu", "IFACE": "net-rate", "DEV": "disk-io", "Device": "disk-io", "UID": "process"}.get(key, "")
    for _ in range(MOST_ROWS if kind and not timed else 0):
        text = reader.peek()
        if text is None:
            return
        cells = _STAMP.sub("", text).split(None, len(headings) - 1)
        if len(cells) != len(headings) or not re.match(r"-?\d", cells[1]):
            return
        number = reader.number
        reader.next()
        row = dict(zip(headings, cells, strict=True))
        attributes = {_SYSSTAT[name]: value.replace(",", ".") for name, value in row.items() if name in _SYSSTAT}
        attributes["average"] = str(text.startswith("Average:")).lower()
        name = cells[0]
        if kind in ("net-rate", "disk-io"):
            attributes["interface" if kind == "net-rate" else "device"] = name
        entity = (
            f"nic:{name}"
            if kind == "net-rate"
            else f"process:{row['PID']}"
            if kind == "process" and "PID" in row
            else ""
        )
        yield Observation(
            SOURCE, kind, reader.input, number, number, text.strip(), code=name if kind == "cpu" else "", node=reader.node,
            entity=entity, attributes=attributes,
        )  # fmt: skip


def _read_average(reader: Reader, headings: list[str]) -> Iterator[Record]:
    """Read the one row of numbers below `avg-cpu:` in iostat."""
    number, text = reader.number, reader.peek() or ""
    cells = text.replace(",", ".").split()
    if len(cells) != len(headings) or not all(re.fullmatch(r"\d+(?:\.\d+)?", cell) for cell in cells):
        return
    reader.next()
    states = {_SYSSTAT[name]: value for name, value in zip(headings, cells, strict=True) if name in _SYSSTAT}
    yield Observation(
        SOURCE, "cpu", reader.input, number, number, text.strip(), code="all", node=reader.node, attributes=states
    )
