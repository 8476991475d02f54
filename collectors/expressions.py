"""What an automaton looks for in place of a pattern: its rarest literals, or as little of the regex as will do.

Whatever it finds is a candidate; the pattern itself decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial

from collectors.literals import choose_literals, estimate_rate
from collectors.patterns import Pattern

# Occurrences a megabyte of ordinary logs from which on a literal is looked for with the rest of its pattern.
_COMMON = 8.0
_OFTEN = 17.0  # from which on a part of a pattern is too often met to stand for all of it
_LOOKS_AROUND = re.compile(r"\(\?<?[=!]")  # what no linear-time engine takes
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")  # not a blank: RE2 refuses an escaped one


_FLAGS = re.compile(r"\(\?([aims]+)\)")


def _is_caseless(regex: str) -> bool:
    flags = _FLAGS.match(regex)
    return flags is not None and "i" in flags[1]


def list_expressions(pattern: Pattern, *, by_literal: bool = False) -> list[tuple[str, bool]]:
    """Return what the automaton looks for: (regex, caseless) for each alternative."""
    if pattern.anchor is not None and not by_literal:
        return [(_strip_names(pattern.anchor), _is_caseless(pattern.anchor))]
    caseless = _is_caseless(pattern.regex)
    rarity = partial(estimate_rate, caseless=caseless)
    found: list[tuple[str, bool]] = []
    for regex in _split(_strip_names(pattern.regex)):  # a branch that is common costs the others nothing
        literals = choose_literals(regex, rarity)
        usable = literals is not None and all(text.isascii() or not caseless for text in literals)
        rare = literals is not None and sum(rarity(text) for text in literals) < _COMMON
        if literals and usable and (rare or by_literal or _LOOKS_AROUND.search(regex)):
            found.extend((_SPECIAL.sub(r"\\\g<0>", text), caseless) for text in literals)
        else:
            found.append((_loosen(_trim(_narrow(regex, rarity))), caseless))
    return found


def _narrow(regex: str, rarity: Callable[[str], float]) -> str:
    """Return the part of a regex, between gaps such as `.*` and `[^x]{0,80}`, whose literals are rarest: an automaton follows
    a gap dearly, and the pattern itself decides afterwards.

    >>> _narrow(
    ...     r"NCCL (?:WARN|INFO).{0,80}(?:PCI_ACS|IOMMU)", lambda text: 1.0 if text in ("PCI_ACS", "IOMMU") else 9.0
    ... )
    '(?:PCI_ACS|IOMMU)'
    """
    best, least = regex, _OFTEN
    for part in _parts(regex):
        literals = choose_literals(part, rarity)
        if literals is not None and all(text.isascii() for text in literals):
            rate = sum(rarity(text) for text in literals)
            if rate < least:
                best, least = part, rate
    return best


_GAP = re.compile(r"(?:\.|\[\^(?:\\.|[^\]\\])*\])(?:[*+]|\{\d*,\d*\})\??")


def _parts(regex: str) -> list[str]:
    """Return what stands between the outermost gaps of a regex, when there are any and each part is a regex by itself."""
    found, depth, start, at = [], 0, 0, 0
    while at < len(regex):
        gap = _GAP.match(regex, at) if depth == 0 else None
        if gap is not None:
            found.append(regex[start:at])
            start = at = gap.end()
            continue
        character = regex[at]
        if character == "\\":
            at += 1
        elif character == "[":
            at = _end_of_class(regex, at)
        elif character in "()":
            depth += 1 if character == "(" else -1
        at += 1
    found.append(regex[start:])
    return [part for part in found if part] if len(found) > 1 and depth == 0 else []


def _end_of_class(regex: str, at: int) -> int:
    """Return the place of the bracket that closes the class which opens at `at`."""
    at += 2 if regex.startswith("[^", at) else 1
    if regex.startswith("]", at):
        at += 1
    while at < len(regex) and regex[at] != "]":
        at += 2 if regex[at] == "\\" else 1
    return at


def _split(regex: str) -> list[str]:
    """Return the branches of a regex that is nothing but branches, else the regex alone.

    >>> _split("a(b|c)|[|]d"), _split("(?:a|b)"), _split("(?:a|b)c(?:d|e)")
    (['a(b|c)', '[|]d'], ['a', 'b'], ['(?:a|b)c(?:d|e)'])
    """
    if regex.startswith("(?:") and regex.endswith(")"):
        inner = _branches(regex[3:-1])
        if inner is not None:
            return inner if len(inner) > 1 and all(inner) else [regex]
    found = _branches(regex)
    return found if found is not None and len(found) > 1 and all(found) else [regex]


def _branches(regex: str) -> list[str] | None:
    """Return what stands between the outermost bars; None when the brackets do not match."""
    found, depth, in_class, start, at = [], 0, False, 0, 0
    while at < len(regex):
        character = regex[at]
        if character == "\\":
            at += 1
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
            at += 2 if regex.startswith("^]", at + 1) else 1 if regex.startswith("]", at + 1) else 0
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth < 0:
                return None
        elif character == "|" and depth == 0:
            found.append(regex[start:at])
            start = at + 1
        at += 1
    found.append(regex[start:])
    return found if depth == 0 and not in_class else None


def gather_expressions(
    patterns: Sequence[Pattern], by_literal: Collection[int] = ()
) -> dict[tuple[str, bool], list[int]]:
    """Return each expression once, with the patterns it is a candidate for; some of them by a literal at any price."""
    gathered: dict[tuple[str, bool], list[int]] = {}
    for index, pattern in enumerate(patterns):
        for expression in dict.fromkeys(list_expressions(pattern, by_literal=index in by_literal)):
            gathered.setdefault(expression, []).append(index)
    return gathered


def _strip_names(regex: str) -> str:
    """Return the regex without names of groups, and without flags at its start: only `i` matters to a single line."""
    flags = _FLAGS.match(regex)
    return re.sub(r"\(\?P<\w+>", "(?:", regex[flags.end() :] if flags else regex)


def _loosen(regex: str) -> str:
    """Let bounded repeats be endless: an automaton counts dearly, and the pattern itself decides afterwards."""
    return re.sub(
        r"(?<!\\)\{(\d+),(\d+)\}", lambda match: match[0] if int(match[2]) < 10 else f"{{{match[1]},}}", regex
    )


def _trim(regex: str) -> str:
    """Drop a tail that a search does not need: it would call back once for each byte."""
    tail = re.search(r"(?<!\\)(?:\\\\)*(\.[*+]\??\$?|\$)$", regex)
    if tail is None:
        return regex
    rest = regex[: tail.start(1)]
    return regex if re.search(rest, "") else rest  # what is left must not be found everywhere
