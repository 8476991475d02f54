"""Texts made to be slow take no more than in proportion: calls are counted, as a clock says little on a shared machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from tests.adversarial import FAMILIES, MOST, run_intake

SIZE = 1 << 14


def count_calls(run: Callable[[], object]) -> int:
    """Return how many functions, of Python and of C, a run calls."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def test_there_are_twelve_families_and_more() -> None:
    assert len(FAMILIES) >= 12


@pytest.mark.parametrize("name", FAMILIES)
def test_twice_the_text_takes_twice_the_calls(name: str) -> None:
    once, twice = FAMILIES[name](SIZE), FAMILIES[name](2 * SIZE)
    run_intake(once)  # what is made once is made
    assert count_calls(lambda: run_intake(twice)) <= MOST * count_calls(lambda: run_intake(once)) + 2000


def test_a_slow_reader_is_found() -> None:
    def slow(size: int) -> int:
        return count_calls(lambda: [len(str(one)) for one in range(size) for _ in range(size)])

    assert slow(40) > MOST * slow(20)
