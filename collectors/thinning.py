"""Keep memory flat when an input repeats itself: of what is said again and again, the first, the last and how often.

A diagnosis needs when a thing was first and last seen and that it came often, not each of a million repeats. Repeats are
records that differ in time and place only; while an input yields few records, all of them are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable

from collectors.observation import Observation, Record, Sample

# Records of one input so far -> how many repeats are kept from the beginning, and as many from the end.
_ALLOWANCES = ((30_000, 500), (60_000, 50))
_LEAST = 5
_MOST_KEYS = 10_000  # different things that are counted apart; beyond, those of one kind and code share a count


class Thinner:
    """Takes records in the order of the input and gives them back, repeats thinned out."""

    def __init__(self) -> None:
        self._kept: list[Record] = []
        self._counts: dict[Hashable, int] = {}
        self._last: dict[Hashable, deque[Record]] = {}

    def add(self, records: Iterable[Record]) -> None:
        """Take records."""
        counts, kept = self._counts, self._kept
        allowance = self._allowance()
        for record in records:
            key = _key(record)
            count = counts.get(key, 0)
            if count == 0 and len(counts) >= _MOST_KEYS:
                key = _vague_key(record)
                count = counts.get(key, 0)
            counts[key] = count + 1
            if count < allowance:
                kept.append(record)
                continue
            last = self._last.get(key)
            if last is None:
                last = self._last[key] = deque(maxlen=allowance)
            last.append(record)

    def _allowance(self) -> int:
        return next((allowed for size, allowed in _ALLOWANCES if len(self._kept) < size), _LEAST)

    def records(self) -> list[Record]:
        """Return what is kept, in the order of the input."""
        if not self._last:
            return self._kept
        return sorted(
            [*self._kept, *(record for last in self._last.values() for record in last)], key=lambda one: one.line
        )

    def note(self) -> str:
        """Return what was left out in a sentence, "" when nothing was."""
        left_out = {key: self._counts[key] - len(last) for key, last in self._last.items()}
        total = sum(self._counts.values()) - len(self._kept) - sum(len(last) for last in self._last.values())
        if total <= 0:
            return ""
        worst = max(left_out, key=lambda key: (self._counts[key], str(key)))
        return f"{total} repeats left out, the first and last of each kept; most often {_name(worst)}: {self._counts[worst]} lines"


def _key(record: Record) -> Hashable:
    if isinstance(record, Observation):
        return (record.kind, record.code, record.entity, record.node)
    if isinstance(record, Sample):
        return ("", record.metric, record.node, record.entity, tuple(record.labels.items()))
    return (record.how, record.upper, record.lower, record.node)


def _vague_key(record: Record) -> Hashable:
    if isinstance(record, Observation):
        return (record.kind, record.code)
    return (record.metric,) if isinstance(record, Sample) else (record.how,)


def _name(key: Hashable) -> str:
    return " ".join(part for part in key[:3] if isinstance(part, str) and part) if isinstance(key, tuple) else str(key)
