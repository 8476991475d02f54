"""What nccl-tests print: the devices, a row for each message size, the verdict.

Programs: all_reduce_perf and its siblings of NVIDIA/nccl-tests (all versions) and of rccl-tests; documented in its README and
doc/PERFORMANCE.md, printed by `src/common.cu` and `src/util.cu`. Rows have 4 (up to 2.10, no root) or 5 columns, then time,
algbw, busbw and errors twice; `N/A` in place of a number is legal, and a plain number in place of `#wrong` was an error bound
(`0e+00`) up to 2.10. Before 2.17 the name of the test stands only in the command, so the operation is told by busbw / algbw.
Lines of NCCL stand between the rows, and mpirun's prefix inside them. The table of all_reduce_bench.py
(stas00/ml-engineering, over torch.distributed) is read as well. Samples::

    #  Rank  0 Group  0 Pid  30211 on     node-a device  0 [0x1b] NVIDIA H100 80GB HBM3
    # Collective test starting: all_reduce_perf
      8589934592    2147483648     float     sum      -1    33589  255.74  479.50      0    33580  255.80  479.63      0
    # Avg bus bandwidth    : 370.697
    - hardware: _CudaDeviceProperties(name='NVIDIA H200', major=9, minor=0, total_memory=143155MB, multi_processor_count=132)
    The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):
    |   16GiB | 482.26GBps | 275.58GBps |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.identity import normalise_node, normalise_pci
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "nccl-tests"
LAYERS = ("framework", "fabric")
SIGNATURES = (
    r"^# nThread \d+ nGpus",
    r"^#\s+size\s+count\s+type\s.*\balgbw\s+busbw\b",
    r"^# {1,3}Rank +\d+ .*Pid +\d+ on +\S+ device +\d+ \[",
    r"^# Avg bus bandwidth +: ",
    r"^\| +payload \| +busbw +\| +algbw +\|",
)
_TYPES = r"(?:u?int(?:8|32|64)|half|float|double|bfloat16|f8e4m3|f8e5m2|fp8_e4m3|fp8_e5m2)"
_OPERATIONS = r"(?:sum|prod|min|max|avg|all|none|mulsum|premulsum)"
ANCHORS = (
    r"Pid +\d+ on +\S+ device +\d+ \[",
    rf"{_TYPES} +(?:sum|prod|min|max|avg|mulsum) +-?\d+",
    rf"{_TYPES} +none +-1",
    r"Avg bus bandwidth +: ",
    r"Collective test starting: \w",
    r"GBps \| +\d[\d.]*GBps \|",
    r"average bandwidth of all_reduce over \d+ ranks",
    r"hardware: _CudaDeviceProperties\(name='",
)

_DEVICE = compile_later(
    r"Rank +(?P<rank>\d+) +(?:Group +\d+ +)?Pid +(?P<pid>\d+) on +(?P<host>\S+) device +(?P<device>\d+) "
    r"\[(?:0x)?(?P<pci>[0-9a-f:.]+)\] +(?P<model>\S.*?)\s*$"
)
_ROW = compile_later(
    rf"(?P<size>\d+) +(?P<count>\d+) +(?P<type>{_TYPES}) +(?:(?P<operation>{_OPERATIONS}) +)?(?:(?P<root>-?\d+) +)?"
    r"(?P<time>\d+(?:\.\d+)?) +(?P<algbw>\d+\.\d+) +(?P<busbw>\d+\.\d+) +(?P<wrong>N/A|\d[\d.e+-]*)"
    r"(?: +\d+(?:\.\d+)? +\d+\.\d+ +(?P<in_place>\d+\.\d+) +(?P<in_place_wrong>N/A|\d[\d.e+-]*))?"
)
_MPI = re.compile(r"\[1,\d+\]<std(?:out|err)>: ?|\[\d+\](?=\s)")
_AVERAGE = compile_later(r"Avg bus bandwidth +: (?P<busbw>\d+(?:\.\d+)?)")
_TEST = compile_later(
    r"Collective test starting: (?P<code>\w+)|average bandwidth of (?P<bench>all_reduce) over (?P<ranks>\d+) ranks|"
    r"hardware: _CudaDeviceProperties\(name='(?P<model>[^']+)'"
)
_BENCH_ROW = compile_later(
    r"\| *(?P<size>\d+)(?P<unit>[KMG])iB \| +(?P<busbw>\d+\.\d+)GBps \| +(?P<algbw>\d+\.\d+)GBps \|"
)
_UNITS = {"K": 10, "M": 20, "G": 30}


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `test-device`, `test-row`, `test-average` and `test-start` observations."""
    device = _DEVICE.search(line.text)
    if device:
        yield from _read_device(line, device)
        return
    text = _MPI.sub(" ", line.text)
    row = _ROW.search(text)
    if row:
        named = {name: value for name, value in row.groupdict().items() if value}
        factor = float(row["busbw"]) / float(row["algbw"]) if float(row["algbw"]) else 0.0
        code = "corrupt" if _is_wrong(row["wrong"]) or _is_wrong(row["in_place_wrong"]) else ""
        yield _observe(line, "test-row", code, named | {"factor": f"{factor:.3f}"})
        return
    bench = _BENCH_ROW.search(text)
    if bench and len(bench["size"]) < 6:
        size, algbw = int(bench["size"]) << _UNITS[bench["unit"]], float(bench["algbw"])
        factor = float(bench["busbw"]) / algbw if algbw else 0.0
        attributes = {
            "size": str(size),
            "busbw": bench["busbw"],
            "algbw": bench["algbw"],
            "operation": "sum",
            "factor": f"{factor:.3f}",
        }
        yield _observe(line, "test-row", "", attributes)
        return
    for kind, regex in (("test-average", _AVERAGE), ("test-start", _TEST)):
        match = regex.search(line.text)
        if match:
            named = {name: value for name, value in match.groupdict().items() if value}
            code = named.pop("code", "") or named.pop("bench", "")
            yield _observe(line, kind, code, named)


def _is_wrong(value: str | None) -> bool:
    return bool(value and value.isdecimal() and int(value[:18]) > 0)


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host, attributes=attributes,
    )  # fmt: skip


def _read_device(line: Line, match: re.Match[str]) -> Iterator[Record]:
    address = match["pci"] if ":" in match["pci"] else f"{match['pci']}:00"  # up to 2.16 the bus alone
    host, pci = normalise_node(match["host"]), normalise_pci(address)
    line.host = host
    attributes = {"rank": match["rank"], "pid": match["pid"], "device": match["device"], "model": match["model"]}
    yield _observe(line, "test-device", "", attributes)
    yield Relation(f"rank:{match['rank']}", f"node:{host}", "on", line.input, line.number, host)
    if pci:
        yield Relation(f"rank:{match['rank']}", f"gpu:{pci}", "on", line.input, line.number, host)
