"""What inputs settle among each other once all are read: hosts and years of records that name none, and clocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collectors.clock import choose_year, is_possible, is_without_year
from collectors.clocks import judge_clocks, place_uptimes
from collectors.intake import Intake
from collectors.notes import Note
from collectors.observation import Relation

_WORD = re.compile(r"[^a-z0-9]")  # what stands between the words of a name


def settle(intakes: Sequence[Intake], *, now: float) -> None:
    """Give hosts and years to records of inputs that leave them to the others."""
    _settle_hosts(intakes)
    _settle_years(intakes, now)
    place_uptimes(intakes)
    judge_clocks(intakes, now)


def _settle_hosts(intakes: Sequence[Intake]) -> None:
    """Give a node to records that name none: the only host of the input, or one that the input's name contains.

    A host in the name counts only when another input's text knows that host.
    """
    known: dict[str, list[str]] = {}  # by first word
    for name in sorted({host for one in intakes for host in one.hosts if host}):
        known.setdefault(_WORD.split(name, 1)[0], []).append(name)
    for one in intakes:
        host = ""
        if len(one.hosts) == 1:
            host = next(iter(one.hosts))
        elif not one.hosts:
            text = one.name.lower()
            words = dict.fromkeys(_WORD.split(text))
            named = [name for word in words for name in known.get(word, ()) if _is_word_of(name, text)]
            longest = [name for name in named if not any(name != other and name in other for other in named)]
            host = longest[0] if len(longest) == 1 else ""
            if host:
                one.notes.append(Note.of("host-by-name", host=host))
        if host:
            for record in one.records:
                if not record.node:
                    record.node = host  # nobody else holds it yet


def _is_word_of(name: str, text: str) -> bool:
    """Tell whether `text` has `name` with nothing around it that would make it another: node-1 is not in node-12.log."""
    return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None


def _settle_years(intakes: Sequence[Intake], now: float) -> None:
    """Place times without a year by the latest time with one that any input shows, else in the year before `now`."""
    timed = [
        record
        for one in intakes
        for record in one.records
        if not isinstance(record, Relation) and record.time is not None
    ]
    times = [record.time for record in timed if record.time is not None and is_possible(record.time)]
    latest = max((time for time in times if not is_without_year(time)), default=None)
    for record in timed:
        if record.time is None or not is_possible(record.time):  # a number that only looked like a time
            record.time = None
        elif is_without_year(record.time):
            record.time = choose_year(record.time, latest, now)
