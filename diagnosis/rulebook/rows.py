"""Rows of a table of published figures: CSV with a source in every row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from diagnosis.rulebook.document import RuleError


def read_rows(
    path: Path, columns: Sequence[str], *, whole: Sequence[str], unique: str = ""
) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a table that has these columns and `source`.

    Raises RuleError naming file:line for a row with an empty column, with anything but a whole number in one of `whole`, or
    with what an earlier row has in the column `unique`.
    """
    seen: set[str] = set()
    with path.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            empty = [name for name in (*columns, "source") if not row.get(name)]
            odd = [name for name in whole if not (row.get(name) or "").isdecimal()]
            again = [unique] if unique and row.get(unique) in seen else []
            if empty or odd or again:
                wrong = ", ".join(
                    [f"{name} is empty" for name in empty]
                    + [f"{name} is no whole number" for name in odd if name not in empty]
                    + [f"{name} was there before" for name in again]
                )
                raise RuleError([f"{path.name}:{number}: {wrong}: {dict(row)}"])
            seen.add(row.get(unique) or "")
            yield row
