"""One pass over a block of bytes for the patterns of all rules and collectors.

The scan looks for each pattern's rarest required literal (or the author's `anchor`) in a single multi-pattern automaton
(`collectors.engines`); only lines that are hit reach Python, where the pattern itself decides and captures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from collectors.engines import Engine, HyperscanEngine, Re2Engine, choose_engine
from collectors.expressions import list_expressions
from collectors.literals import find_required_literals
from collectors.patterns import Pattern
from collectors.regex import compile_linear_bytes

WINDOW = 8192  # bytes of a line that a pattern may look at, centred on where the scan met it


@dataclass(frozen=True, slots=True)
class Hit:
    """A line (its bytes run from `start` to `end`, without the newline) and the patterns found in it."""

    start: int
    end: int
    found: tuple[tuple[int, Mapping[str, str]], ...]  # (index of the pattern, its named groups)


class Scanner:
    """Finds the lines of a block that matter, with the captures of each pattern."""

    def __init__(
        self,
        patterns: Sequence[Pattern],
        engine: Engine | None = None,
        *,
        choose: Callable[[Sequence[Pattern]], Engine] = choose_engine,
    ) -> None:
        self.patterns = tuple(patterns)
        self.engine = engine if engine is not None else choose(self.patterns)
        self._choose = choose
        self._decided: list[Any] = [None] * len(self.patterns)  # what decides: (search, captures anything), once needed
        self._finders: dict[int, Any] = {}  # what finds a pattern's places in a long line, once needed
        self._parts: dict[str, Scanner] = {}  # by how their patterns' keys begin, once needed

    def copy(self) -> Scanner:
        """Return a scanner of the same patterns for another thread: an engine's scratch space serves one at a time."""
        engine = self.engine
        if isinstance(engine, HyperscanEngine):
            engine = HyperscanEngine(self.patterns, engine.dump())
        return Scanner(self.patterns, engine, choose=self._choose)

    def find(
        self, block: bytes, *, whole: bool = True, passed: set[int] | frozenset[int] = frozenset()
    ) -> Iterator[Hit]:
        """Yield the hit lines of a block in order; unless `whole`, without those of routine and of shape patterns.

        Lines that may be hit by no other than `passed` patterns are left out as well; whoever holds the set may add to it
        meanwhile. The block should end at the end of a line.
        """
        if whole:
            events = self.engine.find(block, passed)
        else:
            engine, places, own = self._quiet
            events = engine.find(block, {own[index] for index in passed if index in own})
            events = [(offset, places[index]) for offset, index in events]
        events.sort()
        decided, decide = self._decided, self._decide
        place, most = 0, len(events)
        while place < most:
            offset, index = events[place]
            place += 1
            start = block.rfind(b"\n", 0, offset) + 1
            end = block.find(b"\n", offset)
            if end < 0:
                end = len(block)
            candidates: Collection[int] = (index,)
            if place < most and events[place][0] <= end:
                met = {index}
                while place < most and events[place][0] <= end:
                    met.add(events[place][1])
                    place += 1
                candidates = sorted(met)
            if passed and all(index in passed for index in candidates):
                continue
            line = block[start:end]
            found: list[tuple[int, Mapping[str, str]]] = []
            for index in candidates:
                search, captures = decided[index] or decide(index)
                if search is None:
                    found.append((index, _NOTHING))
                    continue
                match = search(line) if end - start <= WINDOW else self._search_long(index, line)
                if match is None:
                    continue
                if captures:
                    groups = match.groupdict()
                    found.append(
                        (index, {_text(name): _text(groups[name]) for name in groups if groups[name] is not None})
                    )
                else:
                    found.append((index, _NOTHING))
            if found:
                yield Hit(start, end, tuple(found))

    def _search_long(self, index: int, line: bytes) -> Any:
        """Search a long line in windows around the places that the scan looks for; the match, or None."""
        finder = self._finders.get(index)
        if finder is None:
            expressions = [
                f"(?i:{text})" if caseless else f"(?:{text})"
                for text, caseless in list_expressions(self.patterns[index])
            ]
            finder = self._finders[index] = compile_linear_bytes("|".join(expressions))
        search, _ = self._decided[index]
        place = 0
        while (met := finder.search(line, place)) is not None:
            low = max(0, met.start() - WINDOW // 2)
            match = search(line[low : low + WINDOW])
            if match is not None:
                return match
            place = met.start() + WINDOW // 4
        return None

    def part(self, start: str) -> Scanner:
        """Return a scanner of the patterns whose keys begin so, with an engine of the same kind; it is made once."""
        known = self._parts.get(start)
        if known is None:
            patterns = [one for one in self.patterns if one.key.startswith(start)]
            known = self._parts[start] = Scanner(patterns, self._make_engine(patterns), choose=self._choose)
        return known

    def _make_engine(self, patterns: Sequence[Pattern]) -> Engine:
        return Re2Engine(patterns) if isinstance(self.engine, Re2Engine) else self._choose(patterns)

    @cached_property
    def context(self) -> frozenset[int]:
        """The context patterns."""
        return frozenset(index for index, pattern in enumerate(self.patterns) if pattern.context)

    @cached_property
    def gists(self) -> Mapping[int, re.Pattern[bytes]]:
        """What tells, for some patterns, whether two of their lines say the same."""
        return {index: re.compile(one.gist.encode()) for index, one in enumerate(self.patterns) if one.gist}

    @cached_property
    def routine(self) -> frozenset[int]:
        """The routine patterns that are no context patterns."""
        return frozenset(index for index, pattern in enumerate(self.patterns) if pattern.routine) - self.context

    @cached_property
    def shapes(self) -> frozenset[int]:
        """The patterns that no literal finds: the shape of a table's head or of a prompt.

        They are few and cost more than all others together.
        """
        return frozenset(
            index
            for index, pattern in enumerate(self.patterns)
            if not pattern.capture and pattern.anchor is None and not find_required_literals(pattern.regex)
        )

    @cached_property
    def _quiet(self) -> tuple[Engine, list[int], Mapping[int, int]]:
        """An engine without routine and shape patterns, the place of each of its patterns among all, and the other way round."""
        places = [
            index for index, pattern in enumerate(self.patterns) if not pattern.routine and index not in self.shapes
        ]
        engine = self._make_engine([self.patterns[index] for index in places])
        return engine, places, {index: own for own, index in enumerate(places)}

    def _decide(self, index: int) -> tuple[Any, bool]:
        """Return the search that decides on a candidate of a pattern, None when the engine's word is enough."""
        pattern = self.patterns[index]
        if not pattern.capture and pattern.anchor == pattern.regex:
            search, captures = None, False
        elif pattern.trusted:
            compiled = re.compile(pattern.regex.encode())
            search, captures = compiled.search, pattern.capture and bool(compiled.groupindex)
        else:
            compiled = compile_linear_bytes(pattern.regex)
            search, captures = compiled.search, pattern.capture and bool(compiled.groupindex)
        self._decided[index] = (search, captures)
        return search, captures


_NOTHING: Mapping[str, str] = {}  # what a pattern without named groups captures


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


class LineCounter:
    """Turns ascending offsets of a block into line numbers without cutting the block into lines."""

    def __init__(self, block: bytes, first: int) -> None:
        self._block, self._offset, self._number = block, 0, first

    def at(self, offset: int) -> int:
        """Return the number of the line that starts at or holds `offset`; offsets must not fall."""
        if offset > self._offset:
            self._number += self._block.count(b"\n", self._offset, offset)
            self._offset = offset
        return self._number
