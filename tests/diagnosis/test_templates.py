"""Grouping of unknown lines: every line is in one group, and groups do not hang on the order of lines."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.templates import MOST_LINES, group_lines


def test_numbers_and_names_are_masked() -> None:
    lines = [f"worker {number} failed at 0x{number:x} in 12:30:0{number}" for number in range(5)]
    assert group_lines(lines) == [("worker <*> failed at <*> in <*>", [0, 1, 2, 3, 4])]


def test_different_errors_stay_apart() -> None:
    groups = group_lines(["disk /data is full", "connection to peer was refused by host", "disk /data is full"])
    assert [members for _, members in groups] == [[0, 2], [1]]


def test_nothing_and_one_line() -> None:
    assert group_lines([]) == []
    assert group_lines(["failed"]) == [("failed", [0])]
    assert group_lines([""]) == [("", [0])]


def test_a_long_line_is_cut() -> None:
    ((template, _),) = group_lines(["x " * 1000])
    assert len(template) == 300


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "disk a is full",
                "disk b is full",
                "peer 3 refused",
                "peer 4 refused it",
                "error",
                "",
                "{x} <*> %s",
                "掉卡 7",
            ]
        )
        | st.text(max_size=30),
        max_size=20,
    ),
    st.randoms(),
)
def test_every_line_is_in_one_group_whatever_the_order(lines: list[str], chance: random.Random) -> None:
    groups = group_lines(lines)
    assert sorted(member for _, members in groups for member in members) == list(range(len(lines)))
    shuffled = list(lines)
    chance.shuffle(shuffled)
    again = group_lines(shuffled)
    assert sorted((template, sorted(lines[member] for member in members)) for template, members in groups) == sorted(
        (template, sorted(shuffled[member] for member in members)) for template, members in again
    )


def test_very_many_lines_are_bounded() -> None:
    groups = group_lines([f"error {number} of kind {chr(97 + number % 26) * 20}" for number in range(100_000)])
    assert sum(len(members) for _, members in groups) == MOST_LINES
