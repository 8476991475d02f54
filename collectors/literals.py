"""Find literals that every match of a regex must contain, so that a multi-pattern scan can look for them alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# CPython's own regex parser: private by name, stable in shape from 3.11 to 3.14, and checked against `re` by the tests.
_parser: Any = re._parser  # type: ignore[attr-defined]
_MINIMUM = 4
_MOST_ALTERNATIVES = 24

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
        inner: list[Any] | None = None
        if name == "SUBPATTERN":
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
