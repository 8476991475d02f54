"""Where a process spends its time in system calls: `strace -c`, `perf trace -s`.

Programs: strace 4.8 to 6.12 (`count.c`; the table is the same with `-f`, and `-w` counts the clock on the wall instead of processor
time in the kernel), perf trace of Linux 3.14 to 6.12 (`tools/perf/builtin-trace.c`, times in milliseconds). Samples::

    % time     seconds  usecs/call     calls    errors syscall
    ------ ----------- ----------- --------- --------- ----------------
     99.81   19.812204        4499      4403           newfstatat
    syscall            calls  errors  total       min       avg       max       stddev
    newfstatat          4403      0  19812.204     0.010     4.499    11.120      0.51%
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "host"
LAYERS = ("application", "storage")
SIGNATURES = (r"^% time +seconds +usecs/call +calls", r"^\s*syscall +calls +(?:errors +)?total +min +avg")
HEADS = (r"^% time +seconds +usecs/call +calls", r"^\s*syscall +calls +(?:errors +)?total +min +avg")
_STRACE = compile_later(
    r"\s*(?P<percent>\d{1,3}\.\d+) +(?P<seconds>\d{1,9}\.\d+) +(?P<microseconds>\d{1,12}) +(?P<calls>\d{1,12}) +(?:(?P<errors>\d{1,12}) +)?"
    r"(?P<call>[a-z_]\w*)\s*$"
)
_PERF = compile_later(
    r"\s*(?P<call>[a-z_]\w*) +(?P<calls>\d{1,12}) +(?:(?P<errors>\d{1,12}) +)?(?P<total>\d{1,12}\.\d+) +\d{1,12}\.\d+ +"
    r"(?P<mean>\d{1,12}\.\d+) "
)
_LEAST = 5.0  # percent of the time from which on a call is told
_MOST = 400


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `syscalls` for each call with a part in the time: code its name; attributes percent, seconds, microseconds (of one
    call), calls."""
    reader.next()
    rows: list[tuple[int, str, dict[str, str]]] = []
    for _ in range(_MOST):
        place, number, raw = reader.place(), reader.number, reader.next()
        if raw is None:
            break
        match = _STRACE.match(raw[:400]) or _PERF.match(raw[:400])
        if match:
            rows.append((number, raw.strip(), _read(match)))
        elif raw.strip() and not re.match(r"[ -]*-{4,}|\s*\(", raw):
            reader.back(place)
            break
    total = sum(float(row["seconds"]) for _, _, row in rows)
    for number, text, row in rows:
        percent = row.get("percent") or (f"{float(row['seconds']) / total * 100:.2f}" if total else "0")
        if row["call"] == "total" or float(percent) < _LEAST:
            continue
        yield Observation(
            SOURCE, "syscalls", reader.input, number, number, text, code=row.pop("call"), node=reader.node,
            attributes=row | {"percent": percent},
        )  # fmt: skip


def _read(match: re.Match[str]) -> dict[str, str]:
    row = {name: value for name, value in match.groupdict().items() if value}
    if "total" in row:  # milliseconds
        row["seconds"] = f"{float(row.pop('total')) / 1000:.6f}"
        row["microseconds"] = f"{float(row.pop('mean')) * 1000:.0f}"
    return row
