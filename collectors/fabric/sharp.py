"""SHARP, the reduction inside InfiniBand switches: its library, its daemon and the NCCL plug-in that asks for it.

Programs: sharp_coll and sharpd of HPC-X 2.x (SHARP 2.0 to 3.12), sharp_am, nccl-rdma-sharp-plugins (`sharp_plugin.c`). Documented
in NVIDIA's "SHARP deployment guide". A job that gets no tree goes on without: slower, and no failure. Samples::

    [gpu34:0:34088 - context.c:696][2025-05-26 15:39:24] ERROR sharp_get_job_data_len failed: Job error(-35)
    [gpu34:0:34088 - context.c:705][2025-05-26 15:39:24] ERROR SHArP Job init error: No resource
    ERROR No Aggregation Manager (sharp_am) detected in sharp_create_job.
    gpu36:20775:20825 [0] sharp_plugin.c:365 NCCL WARN NET/IB : SHARP coll init error: Cannot create SHARP job(-11)
    [Mar 03 08:00:01 123456][SD][1234][info ] - SHARPD_OP_CREATE_JOB failed with status: 52
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import parse_iso
from collectors.identity import normalise_node
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "sharp"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^\[[\w.-]+:\d+:\d+ - \w+\.c:\d+\]\[", r"\bSHARPD_OP_\w+", r"\[(?:GENERAL|SD|SR|FABRIC_PROVIDER|JOBS)\] *(?:error|warn|info)",
)  # fmt: skip
ANCHORS = (
    r"SHA[Rr]P (?:Job|coll) init error|sharp_(?:get_job|create_job|coll|connect)\w* failed|Aggregation Manager \(sharp_am\)",
    r"SHARPD_OP_\w+ failed|unable to connect to AM",
    r"Cannot initialize CollNet",
)
_HEAD = compile_later(
    r"^\[(?P<host>[A-Za-z0-9][\w.-]*):\d+:(?P<pid>\d+) - \w+\.c:\d+\]\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\]"
)
_NCCL = compile_later(r"(?P<host>[A-Za-z0-9][\w.-]*):\d+:\d+ \[\d+\] ")
_CODES = tuple(
    (code, compile_later(regex))
    for code, regex in (
        ("no-aggregation-manager", r"Aggregation Manager \(sharp_am\)|unable to connect to AM"),
        ("no-resource", r"No resource|no resources"),
        ("no-daemon", r"(?i)(?:sharpd|daemon).*(?:not running|connect|refused)|sharp_connect\w* failed"),
        ("not-used", r"Cannot initialize CollNet"),
        ("no-job", r"init error|failed"),
    )
)


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `sharp` observations; the code says why in-network reduction is not used."""
    head = _HEAD.match(line.raw) or _NCCL.search(line.raw)
    if head:
        line.host = line.host or normalise_node(head["host"])
        if head.re.groups > 1 and line.time is None:
            line.time = parse_iso(head["time"])
    code = next((name for name, regex in _CODES if regex.search(line.raw)), "")
    if code:
        yield Observation(
            SOURCE, "sharp", line.input, line.number, line.number, line.text[:500], code=code, time=line.time, node=line.host,
        )  # fmt: skip
