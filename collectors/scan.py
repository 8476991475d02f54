"""One pass over a block of bytes for the patterns of all rules and collectors.

The scan looks for each pattern's rarest required literal (or the author's `anchor`) in a single multi-pattern automaton;
only lines that are hit reach Python, where the pattern itself decides and captures. Two engines, Hyperscan (Vectorscan)
and an RE2 set, give the same hits; a conformance test holds them to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

from collectors.literals import choose_literals, estimate_rate, find_required_literals

WINDOW = 8192  # bytes of a line that a pattern may look at, centred on where the scan met it
# Occurrences a megabyte of ordinary logs from which on a literal is looked for with the rest of its pattern.
_COMMON = 8.0
_OFTEN = 17.0  # from which on a part of a pattern is too often met to stand for all of it
_LOOKS_AROUND = re.compile(r"\(\?<?[=!]")  # what no linear-time engine takes
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")  # not a blank: RE2 refuses an escaped one


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regex to look for. Without `capture` a hit only marks the line (a collector's own parser decides).

    `trusted` patterns (shipped) capture with `re`; others (a user's) with RE2, in time linear in the line. Lines of a
    `routine` pattern come by the thousand in healthy runs, those of a `context` pattern by the hundred: the intake passes
    over some of the former and of many of the latter.
    """

    key: str
    regex: str
    anchor: str | None = None
    capture: bool = True
    trusted: bool = True
    routine: bool = False
    context: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A line (its bytes run from `start` to `end`, without the newline) and the patterns found in it."""

    start: int
    end: int
    found: tuple[tuple[int, Mapping[str, str]], ...]  # (index of the pattern, its named groups)


class Engine(Protocol):
    """Finds candidates: for a block, (position of a byte in the matching line, index of the pattern).

    What can be a candidate for none but `passed` patterns may be left out.
    """

    def find(self, block: bytes, passed: Set[int] = frozenset()) -> list[tuple[int, int]]: ...


_FLAGS = re.compile(r"\(\?([aims]+)\)")


def _is_caseless(regex: str) -> bool:
    flags = _FLAGS.match(regex)
    return flags is not None and "i" in flags[1]


def _expressions(pattern: Pattern, *, by_literal: bool = False) -> list[tuple[str, bool]]:
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
        for expression in dict.fromkeys(_expressions(pattern, by_literal=index in by_literal)):
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
            start = block.rfind(b"\n", 0, offset) + 1
            end = block.find(b"\n", offset)
            if end < 0:
                end = len(block)
            candidates = {index: offset}
            place += 1
            while place < most and events[place][0] <= end:
                offset, index = events[place]
                place += 1
                if index not in candidates:
                    candidates[index] = offset
            if passed and passed.issuperset(candidates):
                continue
            line = block[start:end]
            found: list[tuple[int, Mapping[str, str]]] = []
            for index in sorted(candidates) if len(candidates) > 1 else candidates:
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
                f"(?i:{text})" if caseless else f"(?:{text})" for text, caseless in _expressions(self.patterns[index])
            ]
            finder = self._finders[index] = _compile_linear("|".join(expressions))
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
            compiled = _compile_linear(pattern.regex)
            search, captures = compiled.search, pattern.capture and bool(compiled.groupindex)
        self._decided[index] = (search, captures)
        return search, captures


def _compile_linear(regex: str) -> Any:
    """Compile for RE2 so that it works on bytes as `re` does."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(regex.encode(), options)


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
