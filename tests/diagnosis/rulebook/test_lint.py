"""Patterns: what a linear-time engine refuses, what differs on bytes, and what would slow the scan."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.rulebook.lint import find_pattern_problems, find_regex_problems


@pytest.mark.parametrize(
    "regex",
    [
        r"Xid \(PCI:(?P<pci>[0-9a-f:.]+)\): 79",
        r"(?i)out of memory",
        r"掉卡：\d+",
        r"\[错误\] 磁盘",  # brackets of the line, no class
        r"[a-z]+ 错误 [0-9]+",
        r"(?:错误)? of \d+",
        r"a.{0,20}b",
        r"[\]x]+y",
    ],
)
def test_a_good_pattern(regex: str) -> None:
    assert list(find_pattern_problems(regex)) == []


@pytest.mark.parametrize(
    ("regex", "problem"),
    [
        (r"a(?=b)", "refused by RE2"),
        (r"(?<!a)b", "refused by RE2"),
        (r"(a)\1", "refused by RE2"),
        (r"a{1001}", "refused by RE2"),
        (r"(", "refused by RE2"),
        (r"x" * 1501, "longer than 1500 characters"),
        (r"[[:alpha:]]x", "refused by Python's re: Possible nested set"),
        (r"\pN+x", "refused by Python's re: bad escape"),
        (r"a*", "matches an empty line"),
        (r"(?:foo)?", "matches an empty line"),
        (r"\S+ failed", r"starts with an open repeat (`\S+`, `.*`)"),
        (r"(?P<what>\S+) failed", r"starts with an open repeat"),
        (r".*failed", "starts with an open repeat"),
        (r".+failed", "starts with an open repeat"),
        (r"x[错误]y", "has a non-ASCII character inside [...]"),
        (r"\\[错]y", "has a non-ASCII character inside [...]"),
        (r"[^：]+x", "has a non-ASCII character inside [...]"),
        (r"错误?", "repeats a non-ASCII character"),
        (r"x错{2}y", "repeats a non-ASCII character"),
        (r"错.{0,20}误", "counts dots beside non-ASCII text"),
    ],
)
def test_what_is_wrong_with_a_pattern(regex: str, problem: str) -> None:
    problems = list(find_pattern_problems(regex))
    assert any(one.startswith(problem) for one in problems), problems


@pytest.mark.parametrize(("regex", "fine"), [(r"^a+", True), (r"", True), (r"(?=a)", False), (r"(", False)])
def test_a_regex_on_a_value_only_has_to_compile(regex: str, fine: bool) -> None:
    assert (not list(find_regex_problems(regex))) == fine


@given(st.text(alphabet=st.sampled_from(list(r"ab错[]()\^$.|?*+{}1,:-Pp<>=!")), max_size=30))
def test_any_regex_is_judged_and_a_good_one_compiles(regex: str) -> None:
    if not list(find_pattern_problems(regex)):
        re.compile(regex.encode())
