"""Who holds GPU memory, as nvidia-smi tells it: the `Processes:` table and `--query-compute-apps` (CSV, with or without heading).

Drivers 340 to 595; the columns GI and CI exist since 450. In a container the table is empty or shows no names. A CSV answer without
a heading is read below the command that asked for it. Samples::

    | Processes:                                                                              |
    |  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
    |    3   N/A  N/A    771203      C   /opt/venv/bin/python                        75888MiB |
    $ nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv,noheader
    GPU-00000000-0000-4000-8000-000000000001, 771203, VLLM::EngineCore, 75888 MiB
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "nvidia-smi"
LAYERS: tuple[str, ...] = ()
SIGNATURES = (r"^\| Processes: +",)
HEADS = (r"^\|? *Processes: +(?:GPU Memory *)?\|", r"--query-compute-apps=[\w.,]+", r"\bused_(?:gpu_)?memory \[MiB\]")

_ASKED = compile_later(r"--query-compute-apps=([\w.,]+)")
_ROW = compile_later(
    r"^\|\s+(?P<index>\d+)\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(?P<pid>\d+)\s+(?P<type>[CGM+]{1,4})\s+(?P<process>\S.*?)\s+"
    r"(?P<memory>\d+MiB|N/A)\s*\|$"
)
_NAMES = (
    "pid",
    "name",
    "process_name",
    "used_memory",
    "used_gpu_memory",
    "gpu_uuid",
    "gpu_bus_id",
    "gpu_name",
    "gpu_serial",
    "timestamp",
)
_MOST_ROWS = 2000


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `gpu-holder` observations (pid, process, used_mib, gpu), as for the rows of fuser."""
    head = reader.next() or ""
    if head.lstrip().startswith("|"):
        yield from _read_table(reader)
        return
    asked = _ASKED.search(head)
    names = [re.sub(r" \[.*", "", cell.strip()) for cell in (asked[1] if asked else head).split(",")]
    if "pid" in names and set(names) <= set(_NAMES):
        yield from _read_rows(reader, names)


def _read_table(reader: Reader) -> Iterator[Record]:
    for _ in range(_MOST_ROWS):
        text = reader.peek()
        if text is None or not text.startswith(("|", "+")):
            return
        match = _ROW.match(text)
        if match:
            yield _hold(reader, text, match["pid"], match["process"], match["memory"], match["index"])
        reader.next()
        if match is None and text.startswith("+"):
            return


def _read_rows(reader: Reader, names: list[str]) -> Iterator[Record]:
    for _ in range(_MOST_ROWS):
        text = reader.peek()
        cells = [cell.strip() for cell in text.split(",")] if text else []
        if text is None or len(cells) != len(names):
            return
        row = dict(zip(names, cells, strict=True))
        if row["pid"].isdigit():
            gpu = row.get("gpu_uuid") or normalise_pci(row.get("gpu_bus_id", "")) or ""
            process, memory = (
                row.get("name") or row.get("process_name", ""),
                row.get("used_memory") or row.get("used_gpu_memory", ""),
            )
            yield _hold(reader, text, row["pid"], process, memory, gpu)
        reader.next()


def _hold(reader: Reader, text: str, pid: str, process: str, memory: str, gpu: str) -> Observation:
    attributes = {"pid": pid, "process": process.rpartition("/")[2] or process, "gpu": gpu}
    size = re.match(r"(\d+) ?MiB", memory)
    if size:
        attributes["used_mib"] = size[1]
    return Observation(
        SOURCE, "gpu-holder", reader.input, reader.number, reader.number, text.strip(), node=reader.node, entity=f"process:{pid}",
        attributes={name: value for name, value in attributes.items() if value},
    )  # fmt: skip
