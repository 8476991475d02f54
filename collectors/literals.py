"""Find literals that every match of a regex must contain, so that a multi-pattern scan can look for them alone.

How rare a literal is in ordinary logs is estimated from `ordinary.txt`: the four-character pieces that logs of healthy runs
are full of, each with its occurrences a megabyte (`tests/benchmarks/count_grams.py` counts them).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

# CPython's own regex parser: private by name, stable in shape from 3.11 to 3.14, and checked against `re` by the tests.
_parser: Any = import_module("re._parser")
_MINIMUM = 4
_MOST_ALTERNATIVES = 24
GRAM = 4  # characters of a counted piece
_DIGITS = str.maketrans("123456789", "000000000")

Requirement = tuple[str, ...]  # at least one of these stands in every match


def find_required_literals(regex: str) -> list[Requirement]:
    """Return all requirements of a regex; an empty list when no literal of four characters is certain.

    >>> find_required_literals(r"Xid \\(PCI:(?P<pci>[0-9a-f:]+)")
    [('Xid (PCI:',)]
    >>> find_required_literals(r"(?:link down|port error) on \\d+")
    [('link down', 'port error'), (' on ',)]
    """
    try:
        tree = _parser.parse(regex)
    except (re.error, RecursionError, OverflowError):
        return []
    return _walk(list(tree))


def _walk(items: list[Any]) -> list[Requirement]:
    found: list[Requirement] = []
    text = ""

    def close() -> None:
        nonlocal text
        if len(text) >= _MINIMUM:
            found.append((text,))
        text = ""

    for operation, argument in items:
        name = str(operation)
        if name == "LITERAL":
            text += chr(argument)
            continue
        if name == "AT":  # a place between characters: what stands left and right of it still touches
            continue
        inner: list[Any] | None = None
        if name == "SUBPATTERN" and not argument[1] & re.IGNORECASE:
            inner = list(argument[3])
            if all(str(item[0]) == "LITERAL" for item in inner):
                text += "".join(chr(item[1]) for item in inner)
                continue
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0] >= 1:
            inner = list(argument[2])
        close()
        if name == "BRANCH":
            found.extend(_branch([list(branch) for branch in argument[1]]))
        elif inner is not None:
            found.extend(_walk(inner))
    close()
    return found


def _branch(branches: list[list[Any]]) -> list[Requirement]:
    chosen: list[str] = []
    for branch in branches:
        requirements = _walk(branch)
        if not requirements:
            return []
        chosen.extend(max(requirements, key=lambda one: (min(len(text) for text in one), one)))
    return [tuple(dict.fromkeys(chosen))] if len(chosen) <= _MOST_ALTERNATIVES else []


def choose_literals(regex: str, rarity: Callable[[str], float]) -> Requirement | None:
    """Return the requirement whose literals are rarest in ordinary logs, or None when the regex has none.

    `rarity` maps a literal to how often it occurs (smaller is rarer).
    """
    requirements = find_required_literals(regex)
    if not requirements:
        return None
    return min(requirements, key=lambda one: (sum(rarity(text) for text in one), -min(len(text) for text in one), one))


def normalise_digits(text: str) -> str:
    """Return the text with every digit as 0: digits vary, so pieces are counted without them."""
    return text.translate(_DIGITS)


_SELDOM, _COMMON = 8.0, 200.0  # occurrences a megabyte


def estimate_rate(literal: str, *, caseless: bool = False) -> float:
    """Return about how often a literal occurs in a megabyte of ordinary logs: as its rarest piece does, or less.

    >>> estimate_rate(" NCCL INFO ") > 100, estimate_rate("fallen off the bus")
    (True, 0.0)
    """
    rates = _table(caseless)
    text = normalise_digits(literal.lower() if caseless else literal)
    found = [rates.get(text[at : at + GRAM], 0.0) for at in range(len(text) - GRAM + 1)]
    rarest = min(found, default=0.0)
    if rarest > _SELDOM:
        return rarest
    others = sum(rate < _COMMON for rate in found[::GRAM]) - 1
    return float(rarest * 0.5 ** max(0, others))  # rare pieces seldom meet


@cache
def _table(caseless: bool) -> Mapping[str, float]:
    """Return the occurrences a megabyte of each piece that ordinary logs are full of."""
    rates: dict[str, float] = defaultdict(float)
    for line in Path(__file__).with_name("ordinary.txt").read_text("ascii").splitlines():
        rate, _, grams = line.partition("\t")
        if caseless:
            grams = grams.lower()
        for at in range(0, len(grams), GRAM):
            rates[grams[at : at + GRAM]] += float(rate)
    return dict(rates)
