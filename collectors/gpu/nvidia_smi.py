"""nvidia-smi: the table, `-L`, `--query-gpu` CSV and its error lines (`-q` and `-q -x`: nvidia_query.py; `nvlink`: nvlink.py).

Drivers 340 to 595. Documented in the nvidia-smi manual page; the table is 79 columns wide until 525 and 91 from 550 on, so
cells are told by their shape and not by their column. A CSV answer without a heading is read below its command. Samples::

    | NVIDIA-SMI 535.154.05             Driver Version: 535.154.05   CUDA Version: 12.2     |
    |   0  Tesla P40                      Off | 00000000:03:00.0 Off |                    0 |
    GPU 3: Tesla V100-SXM2-32GB (UUID: GPU-00000000-0000-0000-0000-000000000003)
    index, name, pci.bus_id, pcie.link.width.current, pcie.link.width.max
    Unable to determine the device handle for GPU0000:A1:00.0: Unknown Error
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.gpu.gpu_state import make_states
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "nvidia-smi"
LAYERS = ("hardware", "node")
SIGNATURES = (r"\| NVIDIA-SMI \d", r"^GPU \d+: .*\(UUID: GPU-")
ANCHORS = (
    r"\| NVIDIA-SMI \d", r"Unable to (?:determine the device handle|retrieve GPU (?:name|UUID)) for ", r"Failed to initialize NVML: ",
)  # fmt: skip
_COLUMN = (
    r"(?:timestamp|index|count|name|gpu_name|uuid|gpu_uuid|serial|pstate|driver_version|persistence_mode|"
    r"[a-z_]+(?:\.[a-zA-Z0-9_]+)+|[a-z]+_[a-z_.]+)(?: \[[^\]]+\])?"
)
HEADS = (
    r"^\|=+[+=]+=+\|\s*$", r"^GPU \d+: .*\(UUID: GPU-[0-9a-f-]+\)\s*$", rf"^{_COLUMN}(?:, {_COLUMN})+\s*$",
    r"--query-(?:gpu|remapped-rows)=[\w.,]+ [^\n]*csv",
)  # fmt: skip

_HEADING = compile_later(_COLUMN)
_ASKED = compile_later(r"--query-(?:gpu|remapped-rows)=(?P<names>[\w.,]+)")
_SLICE = compile_later(r"^\s+MIG \S+ +Device +\d+: \(UUID: (?P<uuid>MIG-[\w/-]+)\)")
_BANNER = compile_later(
    r"\| NVIDIA-SMI (?P<tool>[\d.]+)\s+(?:Driver Version|KMD Version): (?P<driver>[\d.]+|N/A|ERR!)"
    r"(?:\s+CUDA (?:Version|UMD Version): (?P<cuda>[\d.]+|N/A|ERR!))?"
)
_HANDLE = compile_later(
    r"Unable to (?:determine the device handle|retrieve GPU (?:name|UUID)) for (?:gpu|GPU|index) ?"
    r"(?:(?P<index>\d{1,3}): )?(?:(?P<pci>[0-9A-Fa-f:.]{7,16}?): )?(?P<why>[A-Z].+)$"
)
_NVML = compile_later(r"Failed to initialize NVML: (?P<why>.+?)\.?$")
_CARD = compile_later(
    r"^\|\s+(?P<index>\d+|N/A)\s+(?P<name>\S.*?)\s+(?:On|Off|N/A|ERR!)?\s*\|\s+"
    r"(?P<pci>(?:[0-9A-Fa-f]{4}){1,2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s+(?:On|Off|N/A|ERR!)\s*\|\s+(?P<ecc>\S+)\s*\|"
)
_USE = compile_later(
    r"^\|\s*(?P<fan>\d+%|N/A|ERR!)\s+(?P<temp>\d+C|N/A|ERR!)\s+(?P<perf>P\d+|N/A|ERR!)\s+"
    r"(?P<draw>\d+W|N/A|ERR!|\[?Unknow[^/|]*)\s*/\s*(?P<limit>\d+W|N/A|ERR!)?\s*\|\s*"
    r"(?:(?P<used>\d+MiB|N/A)?\s*/\s*(?P<total>\d+MiB|N/A)?|(?P<remark>GPU [^|]*?))\s*\|\s*(?P<util>\d+%|N/A|ERR!)?"
)
_LISTED = compile_later(r"^GPU (?P<index>\d+): (?P<name>.*) \(UUID: (?P<uuid>GPU-[0-9a-f-]+)\)\s*$")


# What a lone column holds.
_VALUE = compile_later(
    r"-?\d[\d.]*(?: ?(?:%|MiB|W|MHz|C))?|\[?N/A\]?|\[[A-Z][\w /.]*\]|0x[0-9a-fA-F]+|(?:Not )?Active|(?:En|Dis)abled|P\d+|Yes|No"
)
# Columns one of which a heading has that stands without its command.
_NAMED = {"index", "name", "gpu_name", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial", "timestamp"}


def parse_line(line: Line) -> Iterator[Record]:
    """Yield the `driver` versions of a table's banner, and `nvidia_smi` errors (code = handle or nvml)."""
    match = _BANNER.search(line.text)
    if match:
        yield _observe(
            line.input,
            line.number,
            line.text,
            "driver",
            match["driver"],
            {n: v for n, v in match.groupdict().items() if v},
        )
        return
    match = _HANDLE.search(line.text)
    if match:
        found = {"why": match["why"]}
        if match["pci"]:
            found["pci"] = normalise_pci(match["pci"]) or match["pci"]
        gpu = found.get("pci") or match["index"] or ""
        if match["index"]:
            found["gpu"] = gpu
            if gpu != match["index"]:
                yield Relation(f"gpu:{gpu}", f"gpu:{match['index']}", "same", line.input, line.number, line.host)
        yield _observe(line.input, line.number, line.text, "nvidia_smi", "handle", found, f"gpu:{gpu}" if gpu else "")
        return
    match = _NVML.search(line.text)
    if match:
        yield _observe(line.input, line.number, line.text, "nvidia_smi", "nvml", {"why": match["why"]})


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read a table's body, the GPUs of `-L`, or a CSV answer."""
    number, head = reader.number, peel(reader.input, reader.number, reader.next() or "").text
    if head.startswith("|="):
        yield from _read_table(reader)
    elif head.startswith("GPU "):
        yield from _read_list(reader, number, head)
    else:
        asked = _ASKED.search(head)  # an answer without a heading is read below the command that asked for it
        if asked or _NAMED & set(_names_of(head)):
            # without a column that names the GPU, the rows are all GPUs in their order, unless one was chosen
            whole = asked is not None and not re.search(r"\s(?:-i|--id)\b", head)
            yield from _read_csv(reader, asked["names"] if asked else head, whole=whole)


def _observe(
    name: str, number: int, text: str, kind: str, code: str, attributes: dict[str, str], entity: str = "", last: int = 0
) -> Observation:
    return Observation(
        SOURCE, kind, name, number, last or number, text, code=code, entity=entity, attributes=attributes
    )


def _read_table(reader: Reader) -> Iterator[Record]:
    card: re.Match[str] | None = None
    for number, text in reader.lines(2000):
        if not text.startswith(("|", "+")) or "Processes:" in text:
            return
        match = _CARD.match(text)
        if match:
            card = match
            continue
        match = _USE.match(text)
        if not match or card is None:
            continue
        pci = normalise_pci(card["pci"]) or card["pci"]
        found = {**card.groupdict(), **{name: value for name, value in match.groupdict().items() if value}, "pci": pci}
        cells = {name: str(found.get(name)) for name in ("fan", "temp", "perf", "draw", "ecc", "util")}
        broken = [name for name, cell in cells.items() if "ERR!" in cell or "Unknow" in cell]
        found["broken"] = ",".join(broken)
        if not broken:
            del found["broken"]
        yield _observe(reader.input, number - 1, text, "gpu_row", card["name"], found, f"gpu:{pci}", number)
        if card["index"].isdigit():
            yield Relation(f"gpu:{pci}", f"gpu:{card['index']}", "same", reader.input, number)
        card = None


def _read_list(reader: Reader, number: int, head: str) -> Iterator[Record]:
    """Yield the names of the GPUs; what stands below them (NVLinks, MIG devices) is for others."""
    match = _LISTED.match(head)
    while match:
        yield Relation(f"gpu:{match['uuid']}", f"gpu:{match['index']}", "same", reader.input, number)
        following = reader.peek()
        while following is not None and following.startswith(("\t", " ")):
            slice_ = _SLICE.match(following[:200])
            if slice_:
                yield Relation(
                    f"mig_instance:{slice_['uuid']}", f"gpu:{match['uuid']}", "on", reader.input, reader.number
                )
            reader.next()
            following = reader.peek()
        number, match = reader.number, _LISTED.match(following) if following is not None else None
        if match:
            reader.next()


def _names_of(head: str) -> list[str]:
    return [re.sub(r" \[.*", "", cell.strip()) for cell in head.split(",")]


def _is_row(cells: list[str], text: str) -> bool:
    """Tell a row of an answer from a command, or from any line where there is one column only."""
    if _ASKED.search(text) or text.startswith(("$ ", "# ")):
        return False
    return len(cells) > 1 or _VALUE.fullmatch(cells[0]) is not None


def _read_csv(reader: Reader, head: str, *, whole: bool = False) -> Iterator[Record]:
    names = _names_of(head)
    place, rows = reader.place(), 0
    for number, text in reader.lines():
        bare = peel(reader.input, number, text).text if "pod/" in text else text
        cells = [cell.strip() for cell in bare.split(",")]
        if rows == 0 and all(_HEADING.fullmatch(cell) for cell in cells):
            names = _names_of(bare)
            continue
        if len(cells) != len(names) or not _is_row(cells, text):
            reader.back(place)
            return
        place, rows = reader.place(), rows + 1
        row = dict(zip(names, cells, strict=True))
        pci = normalise_pci(row.get("pci.bus_id") or row.get("gpu_bus_id") or "")
        index, uuid = row.get("index", ""), row.get("uuid") or row.get("gpu_uuid") or ""
        gpu = pci or (uuid if uuid.startswith("GPU-") else "") or (index if index.isdigit() else "")
        if not gpu and whole and not _NAMED & set(names):
            gpu = str(rows - 1)
        serial = row.get("serial") or row.get("gpu_serial") or ""
        serial = f"serial-{serial}" if serial.strip("0").isdigit() else ""
        for other in (uuid if uuid.startswith("GPU-") else "", index if index.isdigit() else "", serial):
            if other and other != gpu:
                yield Relation(f"gpu:{gpu}", f"gpu:{other}", "same", reader.input, number)
        yield from make_states(
            SOURCE, reader.input, number, number, text.strip(), row, f"gpu:{gpu}" if gpu else "", pci or ""
        )
