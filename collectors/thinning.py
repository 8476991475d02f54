"""Keep memory flat when an input repeats itself: of what is said again and again, the first, the last and how often.

A diagnosis needs when a thing was first and last seen and that it came often, not each of a million repeats. Repeats are
records that differ in time and place only; while an input yields few records, all of them are kept. A relation is kept once:
said again, it says nothing more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable

from collectors.notes import Note
from collectors.observation import Observation, Record, Relation, Sample

# Records of one input so far -> how many repeats are kept from the beginning, and as many from the end.
_ALLOWANCES = ((20_000, 500), (40_000, 50))
_LEAST = 5
_MOST_RELATIONS = 300_000  # different ones of one input
_MOST_KEYS = 10_000  # different things that are counted apart; beyond, those of one kind and code share a count


class Thinner:
    """Takes records in the order of the input and gives them back, repeats thinned out."""

    def __init__(self) -> None:
        self._kept: list[Record] = []
        self._counts: dict[Hashable, int] = {}
        self._last: dict[Hashable, deque[Record]] = {}
        self._relations: set[Hashable] = set()

    def add(self, records: Iterable[Record]) -> None:
        """Take records."""
        counts, kept = self._counts, self._kept
        allowance = self._allowance()
        relations = self._relations
        for record in records:
            if isinstance(record, Relation):
                tie = (record.upper, record.lower, record.how, record.node)
                if tie not in relations and len(relations) < _MOST_RELATIONS:
                    relations.add(tie)
                    kept.append(record)
                continue
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
        facts = len(self._kept) - len(self._relations)
        return next((allowed for size, allowed in _ALLOWANCES if facts < size), _LEAST)

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
        kept = len(self._kept) - len(self._relations) + sum(len(last) for last in self._last.values())
        total = sum(self._counts.values()) - kept
        if total <= 0:
            return ""
        worst = max(left_out, key=lambda key: (self._counts[key], str(key)))
        return Note.of("repeats", total=total, what=_name(worst), count=self._counts[worst])


def _key(record: Observation | Sample) -> Hashable:
    if isinstance(record, Observation):
        return (record.kind, record.code, record.entity, record.node)
    return ("", record.metric, record.node, record.entity, tuple(record.labels.items()))


def _vague_key(record: Observation | Sample) -> Hashable:
    return (record.kind, record.code) if isinstance(record, Observation) else (record.metric,)


def _name(key: Hashable) -> str:
    return " ".join(part for part in key[:3] if isinstance(part, str) and part) if isinstance(key, tuple) else str(key)
