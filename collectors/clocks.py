"""Clocks of several inputs: seconds since boot become times, and a clock that can't be right is told and not believed.

Seconds since boot are placed by what the same input says (the kernel's real-time clock line, lines with both stamps), else by
another input of the same host: `uptime -s`, `who -b`, a journal with both stamps, the same lines as `dmesg -T` prints them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Protocol

from collectors.clock import is_possible, is_without_year
from collectors.notes import Note
from collectors.observation import Observation, Record, Relation

_SAME_BOOT = 300.0  # seconds: what two sources of one boot may differ by
_AHEAD = 86400.0 * 1.5  # seconds after now from which on a time is not believed: zones differ by less
_SKEW = 1800.0  # seconds that hosts may differ by, at least, in telling of one timeout
_JUMP = 3600.0  # seconds back between two lines of one host's kernel while its uptime goes on
_UNSET = re.compile(r"\b(?:0001|19[67]\d)-\d\d-\d\d[T ]\d\d:\d\d")
_FIRST_YEAR = 1980


class Intake(Protocol):
    """What is needed of an intake."""

    name: str
    notes: list[str]
    records: list[Record]


def place_uptimes(intakes: Sequence[Intake]) -> None:
    """Give a time to observations that know only the seconds since boot."""
    waiting = {
        id(one): [record for record in _observations(one) if record.time is None and "uptime" in record.attributes]
        for one in intakes
    }
    if not any(waiting.values()):
        return
    boots: dict[str, list[tuple[float, str, int]]] = defaultdict(list)  # by host: boot, what tells, whose input
    printed: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)  # by host and text: time, input
    for one in intakes:
        for record in _observations(one):
            if record.kind == "boot-time":
                boots[record.node].append((float(record.attributes["boot"]), record.attributes["by"], id(one)))
            elif record.time is not None and not is_without_year(record.time):
                uptime = _number(record.attributes.get("uptime"))
                if uptime is not None:
                    boots[record.node].append((record.time - uptime, one.name, id(one)))
                elif record.source == "kernel" and record.text:
                    printed[record.node, record.text].append((record.time, one.name))
    for one in intakes:
        _place(one, waiting[id(one)], boots, printed)


def _place(
    intake: Intake, waiting: Sequence[Observation], boots: dict[str, list[tuple[float, str, int]]],
    printed: dict[tuple[str, str], list[tuple[float, str]]],
) -> None:  # fmt: skip
    by_host: dict[str, list[Observation]] = defaultdict(list)
    for record in waiting:
        by_host[record.node].append(record)
    for host, records in by_host.items():
        known = boots.get(host, [])
        own = [one for one in known if one[2] == id(intake)]
        found = own or (known if host else [])
        if not found and host:
            found = list(_twins(records, host, printed))
        boot, by = _latest(found)
        if boot is None:
            continue
        for record in records:
            uptime = _number(record.attributes.get("uptime"))
            if uptime is not None and is_possible(boot + uptime):
                record.time = boot + uptime
        note = Note.of("dmesg-placed", by=by)
        if note not in intake.notes:
            intake.notes.append(note)


def _twins(
    records: Sequence[Observation], host: str, printed: dict[tuple[str, str], list[tuple[float, str]]]
) -> Iterator[tuple[float, str, int]]:
    """Yield when the host was booted by lines that another input shows with their time, where a text stands once in both."""
    texts: dict[str, list[float]] = defaultdict(list)
    for record in records:
        uptime = _number(record.attributes.get("uptime"))
        if uptime is not None and record.text:
            texts[record.text].append(uptime)
    for text, uptimes in texts.items():
        times = sorted(printed.get((host, text), ()))
        if len({round(one) for one in uptimes}) == 1 and len({round(time) for time, _ in times}) == 1:
            yield times[0][0] - uptimes[0], times[0][1], 0


def _latest(found: Sequence[tuple[float, str, int]]) -> tuple[float | None, str]:
    """Return the last boot that the sources agree on, and what tells."""
    if not found:
        return None, ""
    last = max(boot for boot, _, _ in found)
    near = [(boot, by) for boot, by, _ in found if last - boot <= _SAME_BOOT]
    return median(boot for boot, _ in near), min(by for _, by in near)


def judge_clocks(intakes: Sequence[Intake], now: float) -> None:
    """Tell clocks that can't be right in the notes; times after now are taken away, unless most are: then it is the reader's clock."""
    timed = [record.time for one in intakes for record in _observations(one) if record.time is not None]
    ahead = sum(time > now + _AHEAD for time in timed)
    for one in intakes:
        untimed = (record for record in _observations(one) if record.time is None and "-" in record.raw[:200])
        unset = {record.line for record in untimed if _UNSET.search(record.raw[:200])}
        if unset:
            one.notes.append(Note.of("clock-unset", count=len(unset), year=_FIRST_YEAR))
        if ahead > 0 and 2 * ahead <= len(timed):
            _drop_future(one, now)
        one.notes.extend(_jumps(one))
    _compare_hosts(intakes)


def _drop_future(intake: Intake, now: float) -> None:
    limit = now + _AHEAD
    timed = (record for record in intake.records if not isinstance(record, Relation))
    future = [record for record in timed if record.time is not None and record.time > limit]
    if future:
        shown = max(record.time for record in future if record.time is not None)
        intake.notes.append(Note.of("clock-ahead", count=len({record.line for record in future}), shown=_stamp(shown)))
        for record in future:
            record.time = None


def _jumps(intake: Intake) -> Iterator[Note]:
    """Yield where a host's clock goes back while its seconds since boot go on."""
    last: dict[str, tuple[float, float]] = {}
    told: set[str] = set()
    for record in _observations(intake):
        uptime = _number(record.attributes.get("uptime"))
        if uptime is None or record.time is None or record.kind == "boot-time":
            continue
        before = last.get(record.node)
        if before and record.node not in told and uptime >= before[1] and record.time < before[0] - _JUMP:
            told.add(record.node)
            yield Note.of(
                "clock-jump",
                host=record.node or "?",
                line=record.line,
                before=_stamp(before[0]),
                after=_stamp(record.time),
            )
        last[record.node] = (record.time, uptime)


def _compare_hosts(intakes: Sequence[Intake]) -> None:
    """Compare when hosts tell of one thing: the timeout of one collective is seen by all ranks within twice that timeout.

    The times of a host that is further off are moved, where most of three hosts or more agree.
    """
    seen: dict[tuple[str, str, str], dict[str, tuple[float, Intake]]] = defaultdict(dict)
    allowed: dict[tuple[str, str, str], float] = {}
    for one in intakes:
        for record in _observations(one):
            number = record.attributes.get("sequence")
            if record.kind == "watchdog-timeout" and number and record.node and record.time is not None:
                what = (record.attributes.get("group", ""), number, record.code)
                seen[what].setdefault(record.node, (record.time, one))
                allowed[what] = max(_SKEW, 2e-3 * (_number(record.attributes.get("timeout_ms")) or 0.0))
    moved: set[str] = set()
    for what, hosts in sorted(seen.items()):
        middle = median(time for time, _ in hosts.values())
        near = sum(abs(time - middle) <= allowed[what] for time, _ in hosts.values())
        if len(hosts) < 3 or 3 * near < 2 * len(hosts):  # of two clocks nobody knows which is wrong
            continue
        for host, (time, one) in sorted(hosts.items()):
            if abs(time - middle) > allowed[what] and host not in moved:
                moved.add(host)
                one.notes.append(Note.of("clock-off", host=host, shown=_stamp(time), others=_stamp(middle)))
                _move(intakes, host, middle - time)


def _move(intakes: Sequence[Intake], host: str, seconds: float) -> None:
    for one in intakes:
        for record in one.records:
            if not isinstance(record, Relation) and record.node == host and record.time is not None:
                record.time += seconds


def _observations(intake: Intake) -> Iterator[Observation]:
    return (record for record in intake.records if isinstance(record, Observation))


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _stamp(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
