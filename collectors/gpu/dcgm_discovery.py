"""`dcgmi discovery -l`: which GPU stands behind each of DCGM's numbers.

DCGM 1.x to 4.x (dcgmi/Query.cpp of NVIDIA/DCGM). DCGM numbers GPUs by itself: only here, and in dcgm-exporter's labels, an address
or UUID stands beside the number. Sample::

    +--------+----------------------------------------------------------------------+
    | GPU ID | Device Information                                                   |
    +--------+----------------------------------------------------------------------+
    | 0      | Name: NVIDIA A100-SXM4-40GB                                          |
    |        | PCI Bus ID: 00000000:07:00.0                                         |
    |        | Device UUID: GPU-11111111-2222-3333-4444-555555555506                |
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_pci
from collectors.observation import Record, Relation
from collectors.regex import compile_later

SOURCE = "dcgm"
LAYERS: tuple[str, ...] = ()
SIGNATURES = (r"^\| GPU ID \| (?:Device Information|Name)", r"^\| +\| (?:PCI Bus ID|Device UUID): ")
HEADS = (r"^\| GPU ID +\| Device Information",)
_ROW = compile_later(r"^\| (?P<number>\d{1,3}|) *\| (?P<name>[A-Za-z ]+): (?P<value>.*?) *\|\s*$")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield relations: a GPU's address and UUID are the same as DCGM's number for it."""
    reader.next()
    number, place = "", reader.place()
    for line, text in reader.lines(4000):
        if text.startswith("+"):
            place = reader.place()
            continue
        match = _ROW.match(text[:400])
        if not match:
            break
        place = reader.place()
        number = match["number"] or number
        name = match["name"].strip()
        value = (
            normalise_pci(match["value"]) if name == "PCI Bus ID" else match["value"] if name == "Device UUID" else None
        )
        if number and value:
            yield Relation(f"gpu:{value}", f"gpu:dcgm-{number}", "same", reader.input, line)
    reader.back(place)
