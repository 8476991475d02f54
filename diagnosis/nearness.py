"""Which matches stand near one another, in time or lines, and which come before which."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from collectors.observation import Observation
from diagnosis.figures import read_number
from diagnosis.model import Match
from diagnosis.rulebook import When


class Near:
    """Finds among matches those near another in time or lines, without comparing all with all."""

    def __init__(self, when: When, matches: Sequence[Match]) -> None:
        self._when, self._matches = when, matches
        self._groups: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for index, match in enumerate(matches):
            group, place = self._place(match) or ("", 0.0)
            self._groups[group].append((place, index))
        for places in self._groups.values():
            places.sort()

    def _place(self, match: Match) -> tuple[str, float] | None:
        """Return on which line (of an input, or of time) a match stands and where; None when it may be anywhere."""
        one = match.first
        if self._when.within_lines is not None:
            return f"input {one.input}", float(one.line)
        return None if one.time is None else ("time", one.time)

    def to(self, anchor: Match) -> list[Match]:
        """Return the matches near `anchor`, in their order."""
        place = self._place(anchor)
        if place is None:
            return list(self._matches)
        reach = self._when.within_lines if self._when.within_lines is not None else self._when.within or 0.0
        group = self._groups.get(place[0], [])
        low, high = (
            bisect_left(group, (place[1] - reach, -1)),
            bisect_right(group, (place[1] + reach, len(self._matches))),
        )
        chosen = sorted(index for _, index in (*group[low:high], *self._groups.get("", ())))
        return [self._matches[index] for index in chosen if _is_near(self._when, anchor, self._matches[index])]


def _is_near(when: When, one: Match, other: Match) -> bool:
    a, b = one.first, other.first
    if when.within_lines is not None and (a.input != b.input or abs(a.line - b.line) > when.within_lines):
        return False
    return when.within is None or a.time is None or b.time is None or abs(a.time - b.time) <= when.within


def _is_before(one: Observation, other: Observation, within: float | None) -> bool:
    if one.time is not None and other.time is not None and (one.time != other.time or one.input != other.input):
        return 0 <= other.time - one.time <= (within if within is not None else 1e12)
    age, later = read_number(one, "age"), read_number(other, "age")
    if (
        one.kind == other.kind == "event"
        and one.input == other.input
        and age is not None
        and later is not None
        and age != later
    ):
        return 0 <= age - later <= (within if within is not None else 1e12)
    return one.input == other.input and one.line < other.line


def find_pair(earlier: Sequence[Match], later: Sequence[Match], within: float | None) -> tuple[Match, Match] | None:
    """Return the first of `earlier` that one of `later` follows, and that one."""
    timed = sorted(
        (match for match in later if match.first.time is not None),
        key=lambda match: (match.first.time or 0.0, match.first.input, match.first.line),
    )
    untimed = [match for match in later if match.first.time is None]
    times = [match.first.time or 0.0 for match in timed]
    for match in earlier:
        one = match.first
        low = 0 if one.time is None else bisect_left(times, one.time)
        high = len(times) if one.time is None or within is None else bisect_right(times, one.time + within)
        for other in (*timed[low:high], *untimed):
            if _is_before(one, other.first, within):
                return match, other
    return None


def make_groups(matches: list[Match], within: float | None) -> Iterable[list[Match]]:
    """Yield the groups of matches that may be counted together: all, or those within a span of each other."""
    if within is None:
        yield matches
        return
    timed = sorted(
        (m for m in matches if m.first.time is not None),
        key=lambda m: (m.first.time or 0.0, m.first.input, m.first.line),
    )
    untimed = [m for m in matches if m.first.time is None]
    if not timed:
        yield untimed
        return
    low = 0
    for high, match in enumerate(timed):
        while (match.first.time or 0.0) - (timed[low].first.time or 0.0) > within:
            low += 1
        if high + 1 == len(timed) or (timed[high + 1].first.time or 0.0) - (timed[low].first.time or 0.0) > within:
            yield [*timed[low : high + 1], *untimed]
