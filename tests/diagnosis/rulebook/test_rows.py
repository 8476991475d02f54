"""Rows of a table, and what is wrong with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnosis.rulebook import RuleError
from diagnosis.rulebook.rows import read_rows


def read(path: Path, *rows: str) -> list[dict[str, str]]:
    path.write_text("name,count,source\n" + "".join(f"{row}\n" for row in rows), "utf-8")
    return [dict(row) for row in read_rows(path, ("name",), whole=("count",), unique="name")]


def test_rows_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = read(tmp_path / "t.csv", "b,2,page", "a,1,page")
    assert [(row["name"], row["count"]) for row in found] == [("b", "2"), ("a", "1")]


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (",1,page", "name is empty"),
        ("a,1,", "source is empty"),
        ("a,1", "source is empty"),
        ("a,-1,page", "count is no whole number"),
        ("a,²,page", "count is no whole number"),
        ("b,1,page", "name was there before"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: str, wrong: str) -> None:
    with pytest.raises(RuleError, match=rf"t\.csv:3: {wrong}"):
        read(tmp_path / "t.csv", "b,2,page", row)
