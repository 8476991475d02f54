"""One pass over a block of bytes for the patterns of all rules and collectors.

The scan looks for each pattern's rarest required literal (or the author's `anchor`) in a single multi-pattern automaton;
only lines that are hit reach Python, where the pattern itself decides and captures. Two engines, Hyperscan (Vectorscan)
and an RE2 set, give the same hits; a conformance test holds them to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from collectors.literals import choose_literals

WINDOW = 8192  # bytes of a line that a pattern may look at, centred on where the scan met it
_COMMON = (  # literals that ordinary logs are full of, so that a pattern is better found by another part of it
    "NCCL INFO", "NCCL", "NVRM", "mlx5_core", "pcieport", "kernel", "error", "failed", "node(s)", "nodes are available",
    "python", "torch", "rank", "nvidia", "GPU", "http", "INFO", "WARN", "Warning", "Normal", "status", "from", "with",
    "process", "timeout", "device", "Error", "Failed", "worker", "message", "container", "Exception", "unable to",
)  # fmt: skip

_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")  # not a blank: RE2 refuses an escaped one


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regex to look for. Without `capture` a hit only marks the line (a collector's own parser decides).

    `trusted` patterns (shipped) capture with `re`; others (a user's) with RE2, in time linear in the line.
    """

    key: str
    regex: str
    anchor: str | None = None
    capture: bool = True
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """A line (its bytes run from `start` to `end`, without the newline) and the patterns found in it."""

    start: int
    end: int
    found: tuple[tuple[int, dict[str, str]], ...]  # (index of the pattern, its named groups)


class Engine(Protocol):
    """Finds candidates: for a block, (position of a byte in the matching line, index of the pattern)."""

    def find(self, block: bytes) -> list[tuple[int, int]]: ...


def _is_caseless(regex: str) -> bool:
    return regex.startswith("(?i)")


def _rarity(literal: str) -> float:
    penalty = 1000.0 if any(literal.strip() in common for common in _COMMON) else 0.0
    return penalty + 100.0 / len(literal)


def _expressions(pattern: Pattern) -> list[tuple[str, bool]]:
    """Return what the automaton looks for: (regex, caseless) for each alternative."""
    if pattern.anchor is not None:
        return [(_strip_names(pattern.anchor), _is_caseless(pattern.anchor))]
    literals = choose_literals(pattern.regex, _rarity)
    caseless = _is_caseless(pattern.regex)
    if literals and all(text.isascii() or not caseless for text in literals):
        return [(_SPECIAL.sub(r"\\\g<0>", text), caseless) for text in literals]
    return [(_trim(_strip_names(pattern.regex)), caseless)]


def _strip_names(regex: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", regex).removeprefix("(?i)")


def _trim(regex: str) -> str:
    """Drop a tail that a search does not need: it would call back once for each byte."""
    return re.sub(r"(?:\.[*+]\??\$?|\$)$", "", regex) or regex


class HyperscanEngine:
    """Hyperscan (Vectorscan) in block mode. A database is compiled once and may be kept as bytes (`dump`)."""

    def __init__(self, patterns: Sequence[Pattern], blob: bytes | None = None) -> None:
        import hyperscan

        flags = hyperscan.HS_FLAG_MULTILINE
        if blob is not None:
            self._database = hyperscan.loadb(blob, hyperscan.HS_MODE_BLOCK)
            self._database.scratch = hyperscan.Scratch(self._database)
            self._dump = blob
            return
        expressions, ids, all_flags = [], [], []
        for index, pattern in enumerate(patterns):
            for regex, caseless in _expressions(pattern):
                expressions.append(regex.encode())
                ids.append(index)
                all_flags.append(flags | (hyperscan.HS_FLAG_CASELESS if caseless else 0))
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._database.compile(expressions=expressions, ids=ids, elements=len(ids), flags=all_flags)
        self._dump = bytes(hyperscan.dumpb(self._database))

    def dump(self) -> bytes:
        """Return the compiled database; bound to the engine's version and the processor, so reload may fail."""
        return self._dump

    def find(self, block: bytes) -> list[tuple[int, int]]:
        """Return (offset, pattern index) pairs in no promised order."""
        events: list[tuple[int, int]] = []
        append = events.append

        def meet(index: int, start: int, end: int, flags: int, context: Any) -> None:
            append((end - 2 if block[end - 1] == 10 and end > 1 else end - 1, index))  # a match may swallow the newline

        self._database.scan(block, match_event_handler=meet)
        return events


class Re2Engine:
    """A set of RE2 patterns matched line by line: slower, on any machine."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        import re2

        options = re2.Options()
        options.max_mem = 256 << 20
        options.log_errors = False
        options.encoding = re2.Options.Encoding.LATIN1
        self._ids: list[int] = []
        self._single: list[Any] = []
        self._set = re2.Set.SearchSet(options)
        for index, pattern in enumerate(patterns):
            for regex, caseless in _expressions(pattern):
                expression = (("(?i)" if caseless else "") + regex).encode()
                if self._set.Add(expression) < 0:
                    raise ValueError(f"RE2 refuses the pattern of {pattern.key}: {regex}")
                self._ids.append(index)
                self._single.append(re2.compile(expression, options))
        self._set.Compile()

    def find(self, block: bytes) -> list[tuple[int, int]]:
        """Return (offset of the line, pattern index) pairs, by line."""
        events: list[tuple[int, int]] = []
        position = 0
        for line in block.split(b"\n"):
            for matched in self._set.Match(line) or ():
                place = position
                if len(line) > WINDOW:  # the set tells that a line matches, not where
                    found = self._single[matched].search(line)
                    place += found.end() if found else 0
                events.append((place, self._ids[matched]))
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
    return HyperscanEngine(patterns)


class Scanner:
    """Finds the lines of a block that matter, with the captures of each pattern."""

    def __init__(self, patterns: Sequence[Pattern], engine: Engine | None = None) -> None:
        self.patterns = tuple(patterns)
        self.engine = engine if engine is not None else choose_engine(self.patterns)
        self._compiled: dict[int, Any] = {}

    def find(self, block: bytes) -> Iterator[Hit]:
        """Yield the hit lines of a block in order. The block should end at the end of a line."""
        events = self.engine.find(block)
        events.sort()
        start, end = 0, -1
        candidates: dict[int, int] = {}
        for offset, index in events:
            if offset > end:
                if candidates:
                    yield from self._decide(block, start, end, candidates)
                    candidates = {}
                start = block.rfind(b"\n", 0, offset) + 1
                end = block.find(b"\n", offset)
                end = len(block) if end < 0 else end
            candidates.setdefault(index, offset)
        if candidates:
            yield from self._decide(block, start, end, candidates)

    def _decide(self, block: bytes, start: int, end: int, candidates: dict[int, int]) -> Iterator[Hit]:
        found: list[tuple[int, dict[str, str]]] = []
        for index in sorted(candidates):
            if not self.patterns[index].capture:
                found.append((index, {}))
                continue
            low, high = start, end
            if end - start > WINDOW:
                low = max(start, candidates[index] - WINDOW // 2)
                high = min(end, low + WINDOW)
            match = self._compile(index).search(block[low:high])
            if match is not None:
                groups = match.groupdict()
                found.append((index, {name: _text(value) for name, value in groups.items() if value is not None}))
        if found:
            yield Hit(start, end, tuple(found))

    def _compile(self, index: int) -> Any:
        compiled = self._compiled.get(index)
        if compiled is None:
            pattern = self.patterns[index]
            if pattern.trusted:
                compiled = re.compile(pattern.regex.encode())
            else:
                import re2

                compiled = re2.compile(pattern.regex.encode())
            self._compiled[index] = compiled
        return compiled


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
