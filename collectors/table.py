"""Tables that programs print: padded columns, whose cells are found by the head's positions or by wide gaps, and rows of words."""

from __future__ import annotations

import re
from dataclasses import dataclass

_GAP = re.compile(r"\s{2,}|\t+")
_CELL = re.compile(r"\S+(?: \S+)*")


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of a table's columns and where each begins."""

    names: tuple[str, ...]
    starts: tuple[int, ...]

    def cells(self, line: str) -> list[str]:
        """Cut a row; the last cell takes what is left.

        A row that runs over its columns (`kubectl -w`, truncated heads) is cut at gaps of two blanks instead.
        """
        bounds = [*self.starts[1:]]
        fits = all(at >= len(line) or (line[at - 1 : at] in (" ", "\t", "")) for at in bounds)
        gaps = _GAP.split(line.strip(), maxsplit=len(self.names) - 1)
        if not fits or "\t" in line.strip():
            return gaps + [""] * (len(self.names) - len(gaps))
        ends = [*bounds, len(line)]
        return [line[start:end].strip() for start, end in zip(self.starts, ends, strict=True)]

    def row(self, line: str) -> dict[str, str]:
        """Return the cells by column name, empty cells left out."""
        return {name: cell for name, cell in zip(self.names, self.cells(line), strict=False) if cell}


def read_columns(head: str) -> Columns:
    """Read a table's head; names come in lower case with `_` for blanks.

    >>> read_columns("LAST SEEN   TYPE      REASON").names
    ('last_seen', 'type', 'reason')
    """
    cells = list(_CELL.finditer(head))
    names = [cell[0].lower().replace(" ", "_") for cell in cells]
    return Columns(tuple(names), (0, *(cell.start() for cell in cells[1:])))


def split_row(headings: list[str], text: str) -> dict[str, str] | None:
    """Return the cells of a row as ps, top, df, sar or mpstat print them, without blanks inside, by heading.

    The last heading takes the rest of the line. None when there are too few cells.

    >>> split_row(["PID", "STAT", "COMMAND"], "  18822 Sl   python main.py")
    {'PID': '18822', 'STAT': 'Sl', 'COMMAND': 'python main.py'}
    """
    cells = text.split(None, len(headings) - 1)
    return dict(zip(headings, cells, strict=True)) if len(cells) == len(headings) else None
