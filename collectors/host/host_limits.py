"""Limits that a process runs under: `ulimit -a`, /proc/PID/limits, open files counted, CPU affinity, cgroup cpu.stat.

Formats: bash and dash ulimit, proc(5), util-linux taskset, cgroup v1 and v2 `cpu.stat`. Samples::

    Max open files            1024                 1048576              files
    open files                      (-n) 1024
    pid 71120's current affinity list: 0-3,17
    nr_throttled 5120
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "host"
LAYERS = ("runtime", "node")
SIGNATURES = (
    r"^Max (?:open files|processes|locked memory) +", r"^(?:open files|max user processes|max locked memory) +\(", r"affinity list: ",
)  # fmt: skip
ANCHORS = (
    r"^Max (?:open files|processes|locked memory|stack size|pending signals|address space) +\S",
    r"^(?:open files|max user processes|max locked memory|virtual memory) +\([\w, -]*-[nulv]\) +\S",
    r"current affinity list: \d", r"^Cpus_allowed_list:\s+\d",
)  # fmt: skip
HEADS = (r"^nr_periods \d", r"[#$] (?:sudo )?ls (?:-\w+ )?/proc/\d+/fd/? *\| *wc -l", r"[#$] (?:sudo )?ulimit -[SH]?[nulv] *$",
         r"[#$] (?:sudo )?(?:docker|podman|nerdctl|kubectl|crictl|ssh|srun|su|bash|sh) .*\bulimit -[SH]?[nulv]['\"]? *$")  # fmt: skip

_HEAD = compile_later("|".join(HEADS))
_PROC = compile_later(r"^Max (?P<name>[a-z ]+?) {2,}(?P<soft>\d+|unlimited) +(?P<hard>\d+|unlimited)")
_ULIMIT = compile_later(
    r"^(?P<name>open files|max user processes|max locked memory|virtual memory) +\([\w, -]*-(?P<flag>[nulv])\) +(?P<soft>\d+|unlimited)"
)
_AFFINITY = compile_later(r"(?:pid (?P<pid>\d+)'s current affinity list: |^Cpus_allowed_list:\s+)(?P<list>[\d,-]+)")
_CODES = {"open files": "open-files", "processes": "processes", "max user processes": "processes", "locked memory": "locked-memory",
          "max locked memory": "locked-memory", "stack size": "stack", "address space": "address-space", "virtual memory": "address-space",
          "pending signals": "pending-signals"}  # fmt: skip
_FLAGS = {"n": "open-files", "u": "processes", "l": "locked-memory", "v": "address-space"}


def count_list(text: str) -> int:
    """Return how many processors a list such as `0-3,17` names.

    >>> count_list("0-3,17")
    5
    """
    total = 0
    for part in text.split(","):
        low, _, high = part.partition("-")
        if low.isdigit():
            total += int(high[:9]) - int(low[:9]) + 1 if high.isdecimal() else 1
    return total


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `limit` (code open-files, processes, locked-memory in KiB, ...; soft and hard) and `affinity` (cpus) observations."""
    match = _PROC.match(line.text) or _ULIMIT.match(line.text)
    if match:
        values = {name: value for name, value in match.groupdict().items() if value and name in ("soft", "hard")}
        if match["name"] == "locked memory":  # /proc counts bytes, ulimit KiB
            values = {
                name: str(int(value[:18]) // 1024) if value.isdecimal() else value for name, value in values.items()
            }
        yield _observe(line, "limit", _CODES.get(match["name"], match["name"]), values)
        return
    match = _AFFINITY.search(line.text)
    if match:
        values = {"list": match["list"], "cpus": str(count_list(match["list"]))}
        if match["pid"]:
            values["pid"] = match["pid"]
        yield _observe(line, "affinity", "", values)


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    entity = f"process:{attributes['pid']}" if "pid" in attributes else ""
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        entity=entity, attributes=attributes,
    )  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `cpu-throttle` (periods, throttled, share) of a cpu.stat, or the number that a counting command printed."""
    if not _HEAD.search(reader.peek() or ""):
        return
    number, head = reader.number, reader.next() or ""
    if head.startswith("nr_periods"):
        yield from _read_cpu_stat(reader, number, head)
        return
    answer = reader.peek()
    if answer is None or not re.fullmatch(r"\d+|unlimited", answer.strip()):
        return
    reader.next()
    command = head.rpartition("# ")[2].rpartition("$ ")[2].strip().rstrip("'\"")
    counted = re.search(r"/proc/(\d+)/fd", head)
    if counted:
        kind, code = "open-files", ""
        attributes = {"count": answer.strip(), "pid": counted[1], "command": command}
    else:
        kind, code = "limit", _FLAGS.get(command[-1:], "")
        attributes = {"soft": answer.strip(), "command": command}
    entity = f"process:{counted[1]}" if counted else ""
    yield Observation(
        SOURCE, kind, reader.input, number, number + 1, f"{command}: {answer.strip()}", code=code, node=reader.node,
        entity=entity, attributes=attributes,
    )  # fmt: skip


def _read_cpu_stat(reader: Reader, number: int, head: str) -> Iterator[Record]:
    values = {"nr_periods": head.split()[1]}
    told = number  # the line that tells how often
    if not values["nr_periods"].isdecimal():
        return
    while (text := reader.peek()) is not None:
        match = re.fullmatch(r"(nr_throttled|throttled_usec|throttled_time|nr_bursts|burst_usec) (\d+)", text.strip())
        if match is None:
            break
        values[match[1]] = match[2]
        told = reader.number if match[1] == "nr_throttled" else told
        reader.next()
    periods, throttled = int(values["nr_periods"][:18]), int(values.get("nr_throttled", "0")[:18])
    attributes = {
        "periods": str(periods),
        "throttled": str(throttled),
        "share": f"{throttled / periods if periods else 0.0:.3f}",
    }
    text = " ".join(f"{name} {value}" for name, value in values.items())
    yield Observation(
        SOURCE, "cpu-throttle", reader.input, told, reader.number - 1, text, node=reader.node, attributes=attributes
    )
