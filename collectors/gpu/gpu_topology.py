"""`nvidia-smi topo -m` and `topo -p2p`: how GPUs and NICs of one host are connected, and beside which processors they are.

Drivers 384 to 595; documented in the nvidia-smi manual page. Columns are parted by tabs or blanks; older drivers name NICs
(`mlx5_0`), later ones number them and add a legend, 535 and later add a `GPU NUMA ID`. Sample::

            GPU0    GPU1    NIC0    NIC1    CPU Affinity    NUMA Affinity   GPU NUMA ID
    GPU0     X      NV18    PIX     SYS     0-47,96-143     0               N/A
    GPU1    NV18     X      NODE    SYS     0-47,96-143     0               N/A
    NIC0    PIX     NODE     X      SYS

    NIC Legend:

      NIC0: mlx5_0
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.block import Reader
from collectors.observation import Observation, Record, Relation
from collectors.regex import compile_later

SOURCE = "nvidia-smi"
LAYERS = ("hardware", "node")
_DEVICE = r"(?:GPU\d+|NIC\d+|(?:mlx|bnxt|irdma|efa|hfi|roce)\w+)"
SIGNATURES = (
    rf"^(?:\x1b\[4m)?\s*GPU\d+\s+(?:{_DEVICE}|CPU Affinity)\b",
    r"^GPU\d+\s.*\b(?:NV\d+|PIX|PXB|PHB|NODE|SYS)\b",
)
HEADS = (
    rf"^(?:\x1b\[4m)?\s*GPU0\s+(?:{_DEVICE}\s+|CPU Affinity)",  # a literal, for speed and since tables of shapes get lost
    r"^(?:\x1b\[4m)?\s*GPU0\s+GPU1\s*(?:\x1b\[0m)?\s*$",
)

_ANSI = compile_later(r"\x1b\[[\d;]*m")
_HEAD = compile_later(rf"\b{_DEVICE}\b")
_ROW = compile_later(rf"^\s*(?P<name>{_DEVICE})\s+(?P<cells>\S.*)$")
_LINKS = compile_later(r"NV(\d+)")
_LEGEND = compile_later(r"^\s+(?P<nic>NIC\d+): (?P<name>\S+)\s*$")
_KINDS = ("PIX", "PXB", "PHB", "NODE", "SYS")  # from near to far
_ACCESS = frozenset({"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"})


@dataclass(slots=True)
class _Row:
    name: str
    line: int
    text: str
    to: dict[str, str]
    rest: list[str] = field(default_factory=list)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `gpu_topology` observation for each GPU (code = its nearest kind of path to a NIC; attributes nvlinks:
    summed over its peers, nics, numa, processors), a `gpu_peer` observation for each GPU of `-p2p` (code = OK or why not), and
    the NICs' names."""
    begin, head = reader.place(), _ANSI.sub("", reader.next() or "")
    columns = _HEAD.findall(head)
    rows: list[_Row] = []
    names: dict[str, tuple[str, int]] = {}
    place = reader.place()
    for number, raw in reader.lines(400):
        text = _ANSI.sub("", raw)
        match = _ROW.match(text)
        if match and len(cells := match["cells"].split()) >= len(columns):
            to = dict(zip(columns, cells, strict=False))
            rows.append(_Row(match["name"], number, text.strip(), to, cells[len(columns) :]))
        elif legend := _LEGEND.match(text):
            names[legend["nic"]] = (legend["name"], number)
        elif text.strip() and not re.match(r"^\s*(?:Legend:|NIC Legend:|[A-Z][A-Z#]*\s+= )", text):
            break
        if match or text.strip():
            place = reader.place()
    reader.back(place if rows else begin)
    if not rows:
        return
    for nic, (name, number) in names.items():
        yield Relation(f"nic:{name}", f"nic:{nic}", "same", reader.input, number)
    for row in rows:
        if row.name.startswith("GPU"):
            refusals = list(_refusals(row, reader.input))
            yield from refusals or (_describe(row, names, reader.input),)


def _describe(row: _Row, names: dict[str, tuple[str, int]], name: str) -> Observation:
    links = {peer: int(match[1][:9]) for peer, cell in row.to.items() if (match := _LINKS.fullmatch(cell))}
    paths = {device: cell for device, cell in row.to.items() if cell in _KINDS and not device.startswith("GPU")}
    nearest = min(paths.values(), key=_KINDS.index, default="")
    far = [peer for peer, cell in row.to.items() if peer.startswith("GPU") and cell in _KINDS]
    gpu = row.name.removeprefix("GPU")
    found = {
        "gpu": gpu,
        "nvlinks": str(sum(links.values())),
        "alike": "yes" if len(set(links.values())) <= 1 else "no",
        "peers": str(len(links)),
        "without": ",".join(peer.removeprefix("GPU") for peer in far) if links else "",
        "nics": ",".join(names.get(nic, (nic, 0))[0] for nic, cell in paths.items() if cell == nearest),
        "processors": row.rest[0] if row.rest else "",
        "numa": row.rest[1] if len(row.rest) > 1 else "",
        "to_gpus": ",".join(
            sorted(Counter(cell for peer, cell in row.to.items() if peer.startswith("GPU") and cell != "X"))
        ),
    }
    found = {key: value for key, value in found.items() if value}
    return Observation(
        SOURCE, "gpu_topology", name, row.line, row.line, row.text, code=nearest, entity=f"gpu:{gpu}", attributes=found
    )


def _refusals(row: _Row, name: str) -> Iterator[Observation]:
    refused = {peer: cell for peer, cell in row.to.items() if cell in _ACCESS and cell != "OK"}
    if set(row.to.values()) <= _ACCESS | {"X"} and len(row.to) > 1:
        gpu = row.name.removeprefix("GPU")
        why = Counter(refused.values()).most_common(1)[0][0] if refused else "OK"
        found = {"gpu": gpu, "peers": ",".join(peer.removeprefix("GPU") for peer in refused)}
        yield Observation(
            SOURCE, "gpu_peer", name, row.line, row.line, row.text, code=why, entity=f"gpu:{gpu}", attributes=found
        )
