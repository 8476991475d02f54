"""The cursor over the lines of a block."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from collectors.block import Reader


def test_lines_are_walked_with_their_numbers() -> None:
    reader = Reader(b"a\nb\r\n\nd", 0, 7, "x.log")
    assert list(reader.lines()) == [(7, "a"), (8, "b"), (9, ""), (10, "d")]
    assert reader.at_end
    assert reader.next() is None and reader.peek() is None
    assert reader.number == 11


def test_a_block_starts_where_its_head_was_met() -> None:
    reader = Reader(b"before\nhead\nafter\n", 7, 2, "x.log")
    assert reader.peek() == "head"
    assert reader.next() == "head"
    assert (reader.number, reader.next(), reader.at_end) == (3, "after", True)


def test_a_place_is_gone_back_to() -> None:
    reader = Reader(b"a\nb\nc\n", 0, 1, "x.log")
    reader.next()
    place = reader.place()
    assert [text for _, text in reader.lines()] == ["b", "c"]
    reader.back(place)
    assert (reader.number, reader.peek()) == (2, "b")


def test_at_most_so_many_lines_are_given() -> None:
    reader = Reader(b"a\n" * 10, 0, 1, "x.log")
    assert len(list(reader.lines(3))) == 3
    assert reader.number == 4


@given(st.binary(max_size=200))
def test_any_bytes_are_walked_to_their_end(data: bytes) -> None:
    reader = Reader(data, 0, 1, "x.log")
    lines = [text for _, text in reader.lines()]
    whole = data.split(b"\n")[: -1 if data.endswith(b"\n") or not data else None]
    assert lines == [line.decode("utf-8", "replace").rstrip("\r") for line in whole]
