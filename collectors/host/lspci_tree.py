"""lspci as a tree (`-t`, `-tv`, `-nntv`): behind which bridge each device stands.

pciutils 2.x and 3.x, `lspci.man` and `ls-tree.c`. A bracket names the buses behind a bridge; a row goes on below the bracket that
its column belongs to. Sample::

    -[0000:00]-+-00.0  Intel Corporation Device [8086:09a2]
               +-01.0-[02-2a]----00.0-[03-2a]--+-05.0-[0a]----00.0  NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330]
               |                               \\-06.0-[0b]----00.0  Mellanox Technologies MT2910 Family [ConnectX-7]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Record, Relation
from collectors.regex import compile_later

SOURCE = "lspci"
LAYERS: tuple[str, ...] = ()
SIGNATURES = (
    r"^-(?:\+-)?\[[0-9a-f]{4,6}:[0-9a-f]{2}(?:-[0-9a-f]{2})?\]-",
    r"^ +[|+\\].*(?:-\[[0-9a-f]{2}|[+\\]-[0-9a-f]{2}\.[0-7] )",
)
HEADS = (r"^-(?:\+-)?\[[0-9a-f]{4,6}(?::[0-9a-f]{2})?(?:-[0-9a-f]{2})?\]-",)
_TOKEN = compile_later(
    r"-\[(?:(?P<domain>[0-9a-f]{4,6}):)?(?P<bus>[0-9a-f]{2})(?:-[0-9a-f]{2})?\](?=[-+\s]|$)|(?<=[-+\\])(?P<device>[0-9a-f]{2}\.[0-7])(?=[-\s]|$)"
)
_ROW = compile_later(r"^[ |]*[|+\\]")
_MOST = 4000


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield relations: each device behind a bridge rests on that bridge; GPUs and NICs are told by the vendor's name."""
    buses: list[tuple[int, str, str]] = []  # column of the bracket, domain and bus, the bridge before it
    place = reader.place()
    for count, (number, text) in enumerate(reader.lines(_MOST)):
        if count and not _ROW.match(text) and not text.startswith(("-[", "-+-[")):
            break
        place = reader.place()
        name_at = re.search(r"[0-9a-f]{2}\.[0-7]  \S", text)
        rows, name = (text[: name_at.start() + 4], text[name_at.end() - 1 :]) if name_at else (text, "")
        device = ""
        for token in _TOKEN.finditer(rows):
            while buses and buses[-1][0] >= token.start():
                buses.pop()
            if token["bus"]:
                domain = token["domain"] or (buses[-1][1].partition(":")[0] if buses else "0000")
                buses.append((token.start(), f"{domain}:{token['bus']}", device))
                continue
            if not buses:
                continue
            address = f"{buses[-1][1]}:{token['device']}"
            bridge = buses[-1][2]
            last = token.end() == len(rows)
            if bridge:
                kind = _kind(name, token["device"]) if last else "pcie_device"
                yield Relation(
                    f"{kind}:{address}", f"pcie_device:{bridge}", "behind", reader.input, number, reader.node
                )
                if kind != "pcie_device":
                    yield Relation(
                        f"pcie_device:{address}", f"pcie_device:{bridge}", "behind", reader.input, number, reader.node
                    )
            device = address
    reader.back(place)


def _kind(name: str, device: str) -> str:
    if (
        "NVIDIA" in name
        and device.endswith(".0")
        and not re.search(r"Audio|USB|Switch|Bridge|BlueField|Mellanox", name, re.I)
    ):
        return "gpu"
    return (
        "nic"
        if re.search(r"Mellanox|ConnectX|BlueField", name) and not re.search(r"Bridge|DMA|Switch", name, re.I)
        else "pcie_device"
    )
