"""Processes of a host: `ps` in any column order, the rows of `top`, and who holds a GPU (`fuser -v`, `lsof`).

Formats: procps-ng ps and top, psmisc fuser -v, lsof. Samples::

      PID    PPID     ELAPSED STAT COMMAND
    18822       1    21:40:11 Sl   python main.py --epochs 50
    /dev/nvidia0:        user3      18822 F...m python
    python  18822 user3  mem  CHR  195,0   /dev/nvidia0
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.quantities import parse_size, plain
from collectors.regex import compile_later
from collectors.table import split_row

SOURCE = "host"
LAYERS = ("node", "application")
SIGNATURES = (r"^\s*(?:UID|USER|PID|F S)\b.*\b(?:CMD|COMMAND)\s*$", r"^/dev/nvidia\w+: +\w+ +\d+ [FcremfM.]{3,}")
HEADS = (
    r"^ *(?:[A-Z%]+ +){0,6}PID +.*\b(?:CMD|COMMAND|COMM) *$", r"^ *(?:[A-Z%]+ +){0,6}PID +(?:[A-Z%+-]+ +)*(?:WCHAN|ARGS) *$",
    r"^ +USER +PID ACCESS COMMAND *$", r"^/dev/nvidia\d+: +[\w.+-]+ +\d+ [FcremfM.]{3,}",
)  # fmt: skip
ANCHORS = (r"^\S+ +\d+ .*\bCHR\b.* /dev/nvidia\d+",)
MOST_ROWS = 2000

_HEAD = compile_later("|".join(HEADS))
_NAMES = {
    "PID": "pid", "PPID": "ppid", "USER": "user", "UID": "user", "STAT": "state", "S": "state", "%CPU": "cpu", "%MEM": "memory",
    "RSS": "rss", "RES": "rss", "WCHAN": "wchan", "WCHAN:20": "wchan", "ELAPSED": "elapsed", "ETIME": "elapsed", "TIME": "time",
    "TIME+": "time", "COMMAND": "command", "CMD": "command", "COMM": "command", "ARGS": "command", "PSR": "processor", "C": "share",
    "NLWP": "threads",
}  # fmt: skip
_COMMAND = compile_later(r"^(?:\[?[\w.-]+@?[\w.-]*[^#$]{0,80})?[$#] \S")
_HOLDER = compile_later(
    r"^(?:(?P<device>/dev/\S+):)?\s+(?P<user>[\w.+-]+) +(?P<pid>\d+) (?P<access>[FcremfM.]{3,}) +(?P<process>\S.*?)\s*$"
)
_LSOF = compile_later(
    r"^(?P<process>\S+) +(?P<pid>\d+) +(?:\d+ +\S+ +)?(?P<user>[\w.+-]+) .*CHR.* (?P<device>/dev/nvidia\d+)"
)
_GPU = compile_later(r"/dev/nvidia(\d+)$")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield a `gpu-holder` observation for a process that lsof shows with a GPU device open."""
    match = _LSOF.match(line.text)
    if match:
        yield _hold(line.input, line.number, line.text, match, match["device"], line.host)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `process` observations for the rows of ps or top, `gpu-holder` ones for those of fuser."""
    if not _HEAD.search(reader.peek() or ""):
        return
    start = reader.place()
    head = reader.next() or ""
    if "PID ACCESS" in head or head.startswith("/dev/nvidia"):
        if head.startswith("/dev/nvidia"):
            reader.back(start)
        yield from _read_fuser(reader)
        return
    headings = head.split()
    seen: set[tuple[str, str]] = set()
    for _ in range(MOST_ROWS):
        place, text = reader.place(), reader.peek()
        row = split_row(headings, text) if text is not None else None
        if text is None or row is None or not row.get("PID", "").isdigit():
            if text is None or not _COMMAND.match(text) or not seen:
                return
            reader.next()  # the command was given again and the heading of its answer cut off
            text = reader.peek()
            row = split_row(headings, text) if text is not None else None
            if text is None or row is None or (row.get("PID", ""), row.get(headings[-1], "")) not in seen:
                reader.back(place)
                return
        number = reader.number
        reader.next()
        seen.add((row["PID"], row.get(headings[-1], "")))
        yield _process(reader, number, text, row)


def _process(reader: Reader, number: int, text: str, row: dict[str, str]) -> Observation:
    attributes = {_NAMES[name]: value for name, value in row.items() if name in _NAMES}
    size = parse_size(attributes.get("rss", ""))
    if size is not None:  # plain numbers are KiB in both programs
        attributes["rss"] = plain(size * 1024 if attributes["rss"].isdigit() else size)
    command = attributes.get("command", "")
    if "<defunct>" in command:
        attributes["state"] = "Z"
    return Observation(
        SOURCE, "process", reader.input, number, number, text.strip(), code=attributes.get("state", "")[:1], node=reader.node,
        entity=f"process:{attributes['pid']}", attributes=attributes,
    )  # fmt: skip


def _read_fuser(reader: Reader) -> Iterator[Record]:
    device = ""
    for _ in range(MOST_ROWS):
        text = reader.peek()
        match = _HOLDER.match(text) if text is not None else None
        if text is None or match is None:
            return
        number = reader.number
        reader.next()
        device = match["device"] or device
        if _GPU.search(device):
            yield _hold(reader.input, number, text, match, device, reader.node)


def _hold(name: str, number: int, text: str, match: re.Match[str], device: str, node: str) -> Observation:
    found = _GPU.search(device)
    attributes = {"device": device, "user": match["user"], "pid": match["pid"], "process": match["process"]}
    if found:
        attributes["gpu"] = f"minor-{found[1]}"
    return Observation(
        SOURCE, "gpu-holder", name, number, number, text.strip(), node=node, entity=f"process:{match['pid']}",
        attributes=attributes,
    )  # fmt: skip
