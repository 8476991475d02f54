"""The registers of an Xid 74 are told apart as the catalog does: ECC, connection, signal, followers, thresholds."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from diagnosis.rulebook import find_rules_folder
from diagnosis.tables import TableError
from diagnosis.tables.link_registers import decode_link, load_link_bits, read_link

TABLE = load_link_bits(find_rules_folder())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)",
            (14, (0, 0, 0x10000, 0, 0, 0, 0)),
        ),
        ("NVLink: fatal error detected on link 6(0x10000,0x0,0x0,0x0,0x0,0x0,0x0)", (6, (0x10000, 0, 0, 0, 0, 0, 0))),
        ("NVLink: fatal error detected on link 6", None),
        ("", None),
    ],
)
def test_link_and_registers(text: str, expected: tuple[int, tuple[int, ...]] | None) -> None:
    assert read_link(text) == expected


@pytest.mark.parametrize(
    ("registers", "kinds", "unknown"),
    [
        ((0x10, 0, 0, 0, 0, 0, 0), ["ecc"], []),
        ((0x200000, 0, 0, 0, 0, 0, 0), ["signal"], []),
        ((0x100, 0, 0, 0, 0, 0, 0), ["mechanical"], []),
        ((0x2, 0, 0, 0x40000, 0, 0, 0), ["secondary", "secondary"], []),
        ((0, 0, 0x2000, 0, 0, 0, 0), ["unexpected"], []),
        ((0, 0, 0, 0, 0x100000, 0, 0), ["threshold"], []),
        ((0x102, 0, 0x1, 0, 0, 0, 0), ["ecc", "mechanical", "secondary"], []),
        ((0x8, 0xFFFF, 0, 0, 0, 0xFFFF, 0xFFFF), [], [(1, 3)]),
        ((0, 0, 0, 0, 0, 0, 0), [], []),
        ((), [], []),
    ],
)
def test_bits(registers: tuple[int, ...], kinds: list[str], unknown: list[tuple[int, int]]) -> None:
    readings, rest = decode_link(registers, TABLE)
    assert ([one.row.kind for one in readings], rest) == (kinds, unknown)


def test_no_bit_stands_twice_and_all_is_in_both_languages() -> None:
    for one, other in combinations(TABLE, 2):
        assert one.register != other.register or not set(one.bits) & set(other.bits)
    assert all(row.meaning.en and row.meaning.zh and row.advice.en and row.advice.zh and row.source for row in TABLE)


def test_a_wrong_table_names_its_lines(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    head = "register,bits,class,meaning_en,meaning_zh,advice_en,advice_zh,action,source\n"
    (tmp_path / "tables" / "xid74.csv").write_text(head + "1,0,odd,a,b,c,d,explode,e\n", encoding="utf-8")
    with pytest.raises(TableError) as error:
        load_link_bits(tmp_path)
    assert [one.split(":")[1] for one in error.value.problems] == ["2", "2"]
