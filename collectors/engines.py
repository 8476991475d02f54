"""Two engines that find the candidates of all patterns in one pass: Hyperscan (Vectorscan) and an RE2 set.

Both give the same hits; a conformance test holds them to it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, Protocol

from collectors.expressions import gather_expressions
from collectors.patterns import Pattern


class Engine(Protocol):
    """Finds candidates: for a block, (position of a byte in the matching line, index of the pattern).

    What can be a candidate for none but `passed` patterns may be left out.
    """

    def find(self, block: bytes, passed: Set[int] = frozenset()) -> list[tuple[int, int]]: ...


def compile_database(expressions: Collection[tuple[str, bool]]) -> Any:
    """Return the Hyperscan database of these expressions, numbered in their order."""
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[regex.encode() for regex, _ in expressions],
        ids=list(range(len(expressions))),
        elements=len(expressions),
        flags=[
            hyperscan.HS_FLAG_MULTILINE | (hyperscan.HS_FLAG_CASELESS if caseless else 0) for _, caseless in expressions
        ],
    )
    return database


def _is_taken(expression: tuple[str, bool]) -> bool:
    import hyperscan

    try:
        compile_database([expression])
    except hyperscan.error:
        return False
    return True


class HyperscanEngine:
    """Hyperscan (Vectorscan) in block mode. A database is compiled once and may be kept as bytes (`dump`)."""

    def __init__(self, patterns: Sequence[Pattern], blob: bytes | None = None) -> None:
        import hyperscan

        if blob is not None:
            head, _, body = blob.partition(b"\n")
            self._members: list[list[int]] = json.loads(head)
            if not all(0 <= index < len(patterns) for members in self._members for index in members):
                raise ValueError("a database of other patterns")
            self._database = hyperscan.loadb(body, hyperscan.HS_MODE_BLOCK)
            self._database.scratch = hyperscan.Scratch(self._database)
            self._dump = blob
            return
        gathered = gather_expressions(patterns)
        try:
            self._database = compile_database(gathered)
        except (
            hyperscan.error
        ):  # some pattern has what it does not take, such as an end inside: a literal stands in for it
            refused = frozenset(
                index for expression, members in gathered.items() if not _is_taken(expression) for index in members
            )
            gathered = gather_expressions(patterns, refused)
            self._database = compile_database(gathered)
        self._members = list(gathered.values())
        self._dump = json.dumps(self._members).encode() + b"\n" + bytes(hyperscan.dumpb(self._database))

    def dump(self) -> bytes:
        """Return the compiled database; bound to the engine's version and the processor, so reload may fail."""
        return self._dump

    def find(self, block: bytes, passed: Set[int] = frozenset()) -> list[tuple[int, int]]:
        """Return (offset, pattern index) pairs in no promised order."""
        met: list[tuple[int, int]] = []
        append = met.append

        def meet(number: int, start: int, end: int, flags: int, context: Any) -> None:
            append((end - 1, number))

        self._database.scan(block, match_event_handler=meet)
        members = self._members
        if passed:
            skipped = {
                number for index in passed for number in self._numbers.get(index, ()) if passed >= set(members[number])
            }
            if skipped:
                met = [one for one in met if one[1] not in skipped]
        events: list[tuple[int, int]] = []
        for offset, number in met:
            if block[offset] == 10 and offset > 0:  # a match may swallow the newline
                offset -= 1
            events.extend([(offset, index) for index in members[number]])
        return events

    @cached_property
    def _numbers(self) -> Mapping[int, list[int]]:
        """The expressions of each pattern."""
        found: dict[int, list[int]] = {}
        for number, members in enumerate(self._members):
            for index in members:
                found.setdefault(index, []).append(number)
        return found


class Re2Engine:
    """A set of RE2 patterns matched line by line: slower, on any machine."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        import re2

        options = re2.Options()
        options.max_mem = 256 << 20
        options.log_errors = False
        options.encoding = re2.Options.Encoding.LATIN1
        self._members: list[list[int]] = []
        self._set = re2.Set.SearchSet(options)
        for (regex, caseless), members in gather_expressions(patterns).items():
            expression = (("(?i)" if caseless else "") + regex).encode()
            try:
                self._set.Add(expression)
            except re2.error as error:
                raise ValueError(f"RE2 refuses the pattern of {patterns[members[0]].key}: {regex}") from error
            self._members.append(members)
        self._set.Compile()

    def find(self, block: bytes, passed: Set[int] = frozenset()) -> list[tuple[int, int]]:
        """Return (offset of the line, pattern index) pairs, by line."""
        events: list[tuple[int, int]] = []
        position = 0
        for line in block.split(b"\n"):
            for matched in self._set.Match(line) or ():
                events.extend([(position, index) for index in self._members[matched]])
            position += len(line) + 1
        return events


def choose_engine(patterns: Sequence[Pattern], blob: bytes | None = None) -> HyperscanEngine | Re2Engine:
    """Return Hyperscan where it is installed, else RE2. A blob that this machine can't load is compiled anew."""
    try:
        import hyperscan
    except ImportError:
        return Re2Engine(patterns)
    if blob is not None:
        try:
            return HyperscanEngine(patterns, blob)
        except (hyperscan.error, ValueError, TypeError):
            pass
    try:
        return HyperscanEngine(patterns)
    except hyperscan.error:  # a pattern that is too large for it, say
        return Re2Engine(patterns)


def find_engine_version() -> str:
    """Return which Hyperscan there is, "" when there is none: a compiled database belongs to its version."""
    try:
        import hyperscan
    except ImportError:
        return ""
    return str(getattr(hyperscan, "__version__", "?"))
