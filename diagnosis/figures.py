"""Numbers that stand in facts as text: whatever a log claims, no reader of them fails or counts without end."""

from __future__ import annotations

from collectors.observation import Observation

MOST_RANKS = 1 << 20  # of a job; more than that is a misprint
_MOST_DIGITS = 15  # of what a float holds exactly
_MOST = 1e15


def parse_number(text: str) -> float | None:
    """Return the number that a text is, None when it is none, not finite or beyond what counters reach.

    >>> parse_number("2.5"), parse_number("nan"), parse_number("9" * 400), parse_number("")
    (2.5, None, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < _MOST else None  # NaN fails the test too


def parse_whole(text: str) -> int | None:
    """Return the whole number that a text is, None when it is none or too long.

    >>> parse_whole("-12"), parse_whole("2.5"), parse_whole("9" * 400)
    (-12, None, None)
    """
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else None


def read_number(one: Observation, name: str) -> float | None:
    """Return an attribute as a number; None as for `parse_number`, or when it is missing."""
    return parse_number(one.attributes.get(name, ""))


def read_whole(one: Observation, name: str) -> int | None:
    """Return an attribute as a whole number; None as for `parse_whole`, or when it is missing."""
    return parse_whole(one.attributes.get(name, ""))


def read_ranks(one: Observation, name: str) -> int | None:
    """Return an attribute that numbers or counts ranks, None when no job has so many."""
    value = read_whole(one, name)
    return value if value is not None and 0 <= value <= MOST_RANKS else None
