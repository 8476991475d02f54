"""Tests of attributes and values: one observation or number and what a rule asks of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from collectors.observation import Observation
from diagnosis.rulebook import Test, When


def holds(test: str | int | float | Test, name: str, one: Observation) -> bool:
    """Tell whether an attribute of an observation (or its node, entity, text, code) passes a test."""
    value = one.attributes.get(name)
    if value is None:
        value = {"node": one.node, "entity": one.entity, "text": one.text, "code": one.code}.get(name) or None
    if not isinstance(test, Test):
        return value is not None and _equal(value, test)
    if test.exists is not None and test.exists != (value is not None):
        return False
    if value is None:
        return test.exists is False
    if test.equals is not None and not _equal(value, _refer(test.equals, one)):
        return False
    if test.not_ is not None and _equal(value, _refer(test.not_, one)):
        return False
    if test.in_ is not None and not any(_equal(value, item) for item in test.in_):
        return False
    if test.matches is not None and not _regex(test.matches).search(value):
        return False
    number = _number(value)
    if test.bits is not None and (number is None or not int(number) & test.bits):
        return False
    for field, compare in _COMPARE.items():
        if getattr(test, field) is not None:
            bound = _number(_refer(getattr(test, field), one))
            if number is None or bound is None or not compare(number, bound):
                return False
    return True


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "above": lambda value, bound: value > bound,
    "below": lambda value, bound: value < bound,
    "at_least": lambda value, bound: value >= bound,
    "at_most": lambda value, bound: value <= bound,
}


def in_bounds(when: When, value: float) -> bool:
    """Tell whether a value lies within the bounds of a condition."""
    return (
        (when.above is None or value > when.above)
        and (when.below is None or value < when.below)
        and (when.at_least is None or value >= when.at_least)
        and (when.at_most is None or value <= when.at_most)
        and (when.bits is None or bool(int(value) & when.bits if 0 <= value < 2**62 else 0))
    )


def _refer(value: Any, one: Observation) -> Any:
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        return one.attributes.get(value[1:-1])
    return value


def _equal(value: str, other: Any) -> bool:
    if isinstance(other, bool):
        return value.lower() == str(other).lower()
    if isinstance(other, int | float):
        number = _number(value)
        return number is not None and number == other
    return value == str(other)


def _number(text: Any) -> float | None:
    """Return the number that a text is, is in hexadecimal (`0x80`) or begins with (`12 GiB`)."""
    text = str(text)
    try:
        number = float(int(text, 16)) if text[:2] in ("0x", "0X") else float(text)
    except ValueError:
        match = re.match(r"-?\d+(?:\.\d+)?", text)
        number = float(match[0]) if match else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


@cache
def _regex(regex: str) -> Any:
    import re2

    return re2.compile(regex)


def as_strings(value: str | int | Sequence[str | int] | None) -> tuple[str, ...]:
    """Return what a rule names, one or several, as texts."""
    if value is None:
        return ()
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else (str(value),)
