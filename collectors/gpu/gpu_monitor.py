"""Readings in rolling tables: `nvidia-smi dmon`, `nvidia-smi pmon` and `dcgmi dmon`.

Drivers 367 to 595 (columns depend on the version and on `-s`; `-o DT` puts date and time in front) and DCGM 1.x to 4.x (short
names of `dcgm_fields.cpp`); documented in the nvidia-smi manual page and the DCGM user guide. A `-` or `N/A` is no reading.
Readings become metrics under the names that dcgm-exporter gives them. Samples::

    # gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk  pviol  tviol
    # Idx      W      C      C      %      %      %      %      %      %    MHz    MHz      %   bool
        0    412     71     84     99     62      0      0      0      0   2619   1410     12      0
    # gpu         pid  type    sm    mem    enc    dec    command
    # Idx           #   C/G     %      %      %      %    name
        0    2883969     C     93     41      -      -    python3
    #Entity   GRACT        SMACT        TMPTR
    ID                                  (C)
    GPU 0     0.984        0.930        71
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_iso
from collectors.observation import Observation, Record, Sample
from collectors.regex import compile_later

SOURCE = "metrics"
LAYERS = ("hardware",)
SIGNATURES = (
    r"^\s*# ?(?:Date +Time +|Time +)?gpu\s+\w",
    r"^#?\s?#?Entity\s+[A-Z0-9]{4,6}\b",
    r"^\s*# ?(?:YYYYMMDD|HH:MM:SS|Idx) ",
)
HEADS = (
    r"^\s*# ?(?:Date +Time +|Time +)?gpu\s+(?:pwr|pid|gtemp|temp|sm|pclk|mclk|pviol|fb|sbecc|rxpci)\b",
    r"^\s*#? ?Entity\s+[A-Z0-9]{4,6}\b",
)

# Columns of `nvidia-smi dmon` and short names of DCGM's fields -> the metric that says the same. What dmon calls a violation is a
# share of time or a flag there, and a running sum in DCGM, so it has names of its own.
_METRICS = {
    "pwr": "DCGM_FI_DEV_POWER_USAGE", "gtemp": "DCGM_FI_DEV_GPU_TEMP", "temp": "DCGM_FI_DEV_GPU_TEMP",
    "mtemp": "DCGM_FI_DEV_MEMORY_TEMP", "sm": "DCGM_FI_DEV_GPU_UTIL", "mem": "DCGM_FI_DEV_MEM_COPY_UTIL",
    "mclk": "DCGM_FI_DEV_MEM_CLOCK", "pclk": "DCGM_FI_DEV_SM_CLOCK", "fb": "DCGM_FI_DEV_FB_USED",
    "sbecc": "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "dbecc": "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "pci": "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "pviol": "nvidia_smi_power_violation_percent", "tviol": "nvidia_smi_thermal_violation",
    "GRACT": "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "SMACT": "DCGM_FI_PROF_SM_ACTIVE", "SMOCC": "DCGM_FI_PROF_SM_OCCUPANCY",
    "TENSO": "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DRAMA": "DCGM_FI_PROF_DRAM_ACTIVE", "FP64A": "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
    "FP32A": "DCGM_FI_PROF_PIPE_FP32_ACTIVE", "FP16A": "DCGM_FI_PROF_PIPE_FP16_ACTIVE", "PCITX": "DCGM_FI_PROF_PCIE_TX_BYTES",
    "PCIRX": "DCGM_FI_PROF_PCIE_RX_BYTES", "NVLTX": "DCGM_FI_PROF_NVLINK_TX_BYTES", "NVLRX": "DCGM_FI_PROF_NVLINK_RX_BYTES",
    "TMPTR": "DCGM_FI_DEV_GPU_TEMP", "MMTMP": "DCGM_FI_DEV_MEMORY_TEMP", "POWER": "DCGM_FI_DEV_POWER_USAGE",
    "SMCLK": "DCGM_FI_DEV_SM_CLOCK", "MMCLK": "DCGM_FI_DEV_MEM_CLOCK", "GPUTL": "DCGM_FI_DEV_GPU_UTIL",
    "MCUTL": "DCGM_FI_DEV_MEM_COPY_UTIL", "FBUSD": "DCGM_FI_DEV_FB_USED", "FBFRE": "DCGM_FI_DEV_FB_FREE",
    "PVIOL": "DCGM_FI_DEV_POWER_VIOLATION", "TVIOL": "DCGM_FI_DEV_THERMAL_VIOLATION", "XIDER": "DCGM_FI_DEV_XID_ERRORS",
    "ESVDV": "DCGM_FI_DEV_ECC_SBE_VOL_DEV", "EDVDV": "DCGM_FI_DEV_ECC_DBE_VOL_DEV", "RPPEN": "DCGM_FI_DEV_RETIRED_PENDING",
}  # fmt: skip
_ENTITY = compile_later(r"^\s*(?P<kind>GPU|GPU-I|GPU-CI|Switch|Link|CPU|Core)[ :]+(?P<id>\d+)\s+(?P<cells>\S.*)$")
_UNITS = compile_later(r"^\s*(?:#|ID?\b|Id\b)")
_NUMBER = compile_later(r"-?\d+(?:\.\d+)?")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a metric for each reading that is a number, and a `gpu_process` observation (code = type) for each row of pmon."""
    head = (reader.next() or "").strip()
    names = head.lstrip("#").split()
    if not names:
        return
    place, rows = reader.place(), 0
    for number, text in reader.lines(200_000):
        if text.strip() == head or (not text.strip() and rows == 0):  # the head comes again and again
            place = reader.place()
            continue
        if _UNITS.match(text) and not _ENTITY.match(text):
            place = reader.place()
            continue
        read = _read_entity if names[0] == "Entity" else _read_row
        found = list(read(names, text, number, reader))
        if not found and not re.match(r"^\s*(?:\d{8}\s|\d\d:\d\d:\d\d\s|\d{1,3}\s|GPU|Switch|Link)", text):
            break
        rows += 1
        place = reader.place()
        yield from found
    reader.back(place)


def _read_row(names: list[str], text: str, number: int, reader: Reader) -> Iterator[Record]:
    cells = text.split(None, len(names) - 1)
    if len(cells) != len(names):
        return
    row = dict(zip(names, cells, strict=True))
    gpu = row.get("gpu", "")
    if not gpu.isdigit():
        return
    if "pid" in row:
        if row["pid"].isdigit():
            found = {"gpu": gpu, "pid": row["pid"], "process": row.get("command", "").strip()}
            found |= {name: row[name] for name in ("sm", "mem", "fb") if _NUMBER.fullmatch(row.get(name, ""))}
            yield Observation(
                "nvidia-smi", "gpu_process", reader.input, number, number, text.strip(), code=row.get("type", ""), node=reader.node,
                entity=f"gpu:{gpu}", attributes=found,
            )  # fmt: skip
        return
    yield from _samples(row, gpu, text, number, reader, _time(row))


def _read_entity(names: list[str], text: str, number: int, reader: Reader) -> Iterator[Record]:
    match = _ENTITY.match(text)
    if not match or match["kind"] != "GPU":
        return
    cells = match["cells"].split()
    if len(cells) == len(names) - 1:
        yield from _samples(dict(zip(names[1:], cells, strict=True)), f"dcgm-{match['id']}", text, number, reader, None)


def _samples(
    row: dict[str, str], gpu: str, text: str, number: int, reader: Reader, time: float | None
) -> Iterator[Sample]:
    for name, cell in row.items():
        if name in _METRICS and _NUMBER.fullmatch(cell):
            yield Sample(
                SOURCE, _METRICS[name], float(cell), reader.input, number, time, reader.node, f"gpu:{gpu}", {"gpu": gpu},
                text.strip(),
            )  # fmt: skip


def _time(row: dict[str, str]) -> float | None:
    date, clock = row.get("Date", ""), row.get("Time", "")
    return parse_iso(f"{date[:4]}-{date[4:6]}-{date[6:8]}T{clock}") if len(date) == 8 and clock else None
