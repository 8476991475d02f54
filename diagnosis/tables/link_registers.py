"""What the seven registers of an Xid 74 say: which bits of the first, third, fourth and fifth tell what, as NVIDIA's catalog does."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from diagnosis.tables.codes import HARSHNESS, TableError, Words

_COLUMNS = ("register", "bits", "class", "meaning_en", "meaning_zh", "advice_en", "advice_zh", "action", "source")
_CLASSES = ("ignore", "secondary", "threshold", "repeated", "unexpected", "signal", "mechanical", "ecc")  # by weight
_READ = (1, 3, 4, 5)  # the others carry nothing that the catalog explains
_LINE = re.compile(r"\blink (?P<link>-?\d+) ?\((?P<registers>0x[0-9a-fA-F]+(?:(?:, ?| )0x[0-9a-fA-F]+){4,6})\)")


@dataclass(frozen=True, slots=True)
class LinkBits:
    """Bits of one register that say the same."""

    register: int
    bits: tuple[int, ...]
    kind: str
    meaning: Words
    advice: Words
    action: str
    source: str


@dataclass(frozen=True, slots=True)
class LinkReading:
    """One row of the table and those of its bits that are set."""

    row: LinkBits
    bits: tuple[int, ...]


def read_link(text: str) -> tuple[int, tuple[int, ...]] | None:
    """Return the link and the registers of an Xid 74's text, None when it has none.

    >>> read_link("NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)")
    (14, (0, 0, 65536, 0, 0, 0, 0))
    """
    match = _LINE.search(text)
    if not match:
        return None
    return int(match["link"]), tuple(int(one, 16) for one in re.findall(r"0x[0-9a-fA-F]+", match["registers"]))


def decode_link(registers: Sequence[int], table: Sequence[LinkBits]) -> tuple[list[LinkReading], list[tuple[int, int]]]:
    """Return what the set bits say, gravest first, and the (register, bit) pairs of which the catalog says nothing."""
    readings: list[LinkReading] = []
    unknown: list[tuple[int, int]] = []
    for place in _READ:
        value = registers[place - 1] if place <= len(registers) else 0
        known: set[int] = set()
        for row in table:
            found = tuple(bit for bit in row.bits if row.register == place and value >> bit & 1)
            if found:
                readings.append(LinkReading(row, found))
                known.update(found)
        unknown += [(place, bit) for bit in range(32) if value >> bit & 1 and bit not in known]
    readings.sort(key=lambda one: (-_CLASSES.index(one.row.kind), one.row.register, one.bits))
    return readings, unknown


@cache
def load_link_bits(folder: Path) -> tuple[LinkBits, ...]:
    """Read `tables/xid74.csv` of a rules folder; raises TableError with file:line of every problem."""
    path = folder / "tables" / "xid74.csv"
    problems: list[str] = []
    rows: list[LinkBits] = []
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream, strict=True)
        if tuple(reader.fieldnames or ()) != _COLUMNS:
            raise TableError([f"{path.name}:1: expected the columns {', '.join(_COLUMNS)}"])
        for row in reader:
            where = f"{path.name}:{reader.line_num}"
            if row["class"] not in _CLASSES:
                problems.append(f"{where}: class `{row['class']}` is none of {', '.join(_CLASSES)}")
            if row["action"] not in set(HARSHNESS):
                problems.append(f"{where}: action `{row['action']}` is none of {', '.join(HARSHNESS)}")
            if not all(row[name] for name in _COLUMNS):
                problems.append(f"{where}: a value is missing")
            rows.append(
                LinkBits(
                    int(row["register"]), tuple(int(bit) for bit in row["bits"].split()), row["class"],
                    Words(row["meaning_en"], row["meaning_zh"]), Words(row["advice_en"], row["advice_zh"]), row["action"],
                    row["source"],
                )
            )  # fmt: skip
    if problems:
        raise TableError(problems)
    return tuple(rows)
