"""Required literals: each one stands in every match of its regex."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from collectors.literals import choose_literals, estimate_rate, find_required_literals


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        (r"Xid \(PCI:(?P<pci>[0-9a-f:]+)", [("Xid (PCI:",)]),
        (r"(?:link down|port error) on \d+", [("link down", "port error"), (" on ",)]),
        (r"fell (?:off)? the", [("fell ",), (" the",)]),
        (r"(?:off)+line", [("line",)]),
        (r"(?:offline)+", [("offline",)]),
        (r"(?:offline)*x", []),
        (r"(?:offline|\d+)", []),
        (r"\d+", []),
        (r"abc", []),
        (r"掉卡了吗", [("掉卡了吗",)]),
        (r"GPU(?i: is lost) now", [(" now",)]),
        (r"(", []),
        (r"a.{0,9}beyond", [("beyond",)]),
    ],
)
def test_what_every_match_holds(regex: str, expected: list[tuple[str, ...]]) -> None:
    assert find_required_literals(regex) == expected


def test_too_many_alternatives_are_no_requirement() -> None:
    assert find_required_literals("|".join(f"{letter}-word" for letter in "abcdefghijklmnopqrstuvwxy")) == []


def test_the_rarest_requirement_is_chosen() -> None:
    assert choose_literals(r"common \d+ rarer", {"common ": 5.0, " rarer": 1.0}.__getitem__) == (" rarer",)
    assert choose_literals(r"\d+", estimate_rate) is None


def test_a_rate_is_that_of_the_rarest_piece() -> None:
    assert estimate_rate(" NCCL INFO ") > estimate_rate(" NCCL INFO Xid") == 0.0


_ATOMS = st.sampled_from(
    ["error", "link down", r"\d+", r"\w", ".", "(?:", ")", "|", "?", "*", "+", "{2}", "{0,3}", "[a-f]", "[^x]", r"\.", r"\b", "^", "$", "(?P<a>", "(?i:", "ab", " "]
)  # fmt: skip


@given(
    st.lists(_ATOMS, max_size=8).map("".join),
    st.lists(st.sampled_from(["error", "ERROR", "link down", "1", "ab", " ", "a", "x", "."]), max_size=9).map("".join),
)
def test_a_match_always_holds_one_of_each_requirement(regex: str, text: str) -> None:
    try:
        compiled = re.compile(regex)
    except re.error:
        assert find_required_literals(regex) == []
        return
    match = compiled.search(text)
    assume(match is not None)
    assert match is not None
    for requirement in find_required_literals(regex):
        assert any(literal in match[0] for literal in requirement)
