"""Timestamps as logs print them. Every parser is total: an impossible time is None, never an exception.

A stamp without a year is placed in 1972, which no log of a GPU cluster can mean; `choose_year` moves such times once the
inputs have shown which year it is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_PLACEHOLDER_YEAR = 1972  # a leap year, so that 29 February exists
_FIRST_YEAR, _LAST_YEAR = 1980, 2199  # beyond them a stamp says "no time": Go's year 1, a clock that was never set
_LEEWAY = 86400.0  # seconds: clocks and time zones differ by less
_AHEAD = 30 * 86400.0  # seconds: how far stamps without a year may run past the last one that has a year
_PLACEHOLDER = (
    datetime(_PLACEHOLDER_YEAR, 1, 1, tzinfo=UTC).timestamp(),
    datetime(_PLACEHOLDER_YEAR + 1, 1, 2, tzinfo=UTC).timestamp(),
)
_POSSIBLE = (
    datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC).timestamp(),
    datetime(_LAST_YEAR + 1, 1, 1, tzinfo=UTC).timestamp(),
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?", re.I)
_SYSLOG = re.compile(r"([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: (\d{4}))?")
_LOCALISED = re.compile(r"(\d{1,2})月 +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?")
_KLOG = re.compile(r"(\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?")


def _moment(
    year: int | None, month: int, day: int, hour: int, minute: int, second: int, fraction: str | None
) -> float | None:
    if year is None:
        year = _PLACEHOLDER_YEAR
    elif not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    start = _hour(year, month, day, hour)
    if start is None or minute > 59:
        return None
    return start + minute * 60 + min(second, 59) + (float(f"0.{fraction}") if fraction else 0.0)


@lru_cache(maxsize=4096)
def _hour(year: int, month: int, day: int, hour: int) -> float | None:
    try:
        return datetime(year, month, day, hour, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def parse_iso(text: str) -> float | None:
    """Parse `2025-01-21T04:41:44,283302+00:00` and its variants (`/`, blank or `_` between, no zone = UTC)."""
    match = _ISO.match(text)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    seconds = _moment(year, month, day, hour, minute, second, match[7])
    zone = match[8]
    if seconds is None or not zone or zone in "Zz":
        return seconds
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return seconds - offset.total_seconds() * (1 if zone[0] == "+" else -1)


_INSIDE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?")


def find_iso(text: str) -> float | None:
    """Return the first full time inside a text: it may stand behind a progress bar or a logger's name.

    >>> find_iso("[trainer] 2025-09-01 05:10:01,377 >> saving")
    1756703401.377
    """
    stamp = _INSIDE.search(text)
    return parse_iso(stamp[0]) if stamp else None


def parse_syslog(text: str) -> float | None:
    """Parse `Aug 20 23:41:07` (no year), `Apr  5 21:29:39 2024` and the Chinese locale's `4月 28 15:08:10`."""
    match = _SYSLOG.match(text)
    if match:
        month = _MONTHS.get(match[1].lower())
        if month is None:
            return None
        year = int(match[7]) if match[7] else None
        return _moment(year, month, int(match[2]), int(match[3]), int(match[4]), int(match[5]), match[6])
    match = _LOCALISED.match(text)
    if match:
        month, day, hour, minute, second = (int(part) for part in match.groups()[:5])
        return _moment(None, month, day, hour, minute, second, match[6])
    return None


def parse_klog(text: str) -> float | None:
    """Parse `1128 10:02:11.291383` (klog) and `901 05:20:03.444816023` (c10d: the month has no leading zero).

    >>> parse_klog("1159 10:02:11") is None
    True
    """
    match = _KLOG.match(text)
    if not match:
        return None
    month, day, hour, minute, second = (int(part) for part in match.groups()[:5])
    return _moment(None, month, day, hour, minute, second, match[6])


def parse_epoch(text: str) -> float | None:
    """Parse seconds, milliseconds, microseconds or nanoseconds since the epoch, told apart by their size."""
    try:
        value = float(text)
    except ValueError:
        return None
    if not 1e8 < value < 1e20:  # not a number, infinite, or no time at all
        return None
    while value > 1e11:
        value /= 1000.0
    return value


def is_possible(seconds: float) -> bool:
    """Tell whether this is a time that a log can mean, its year known or not; never for what is not a number."""
    return is_without_year(seconds) or _POSSIBLE[0] <= seconds < _POSSIBLE[1]


def is_without_year(seconds: float) -> bool:
    """Tell whether this time stands in the placeholder year."""
    return _PLACEHOLDER[0] <= seconds < _PLACEHOLDER[1]


def set_year(seconds: float, year: int) -> float:
    """Move a time from the placeholder year into `year`; 29 February becomes 1 March where there is none."""
    return seconds + _shift(int(seconds // 86400), year)


@lru_cache(maxsize=4096)
def _shift(day: int, year: int) -> float:
    """Return how far a day (counted from the epoch) lies from the same day of `year`."""
    moment = datetime.fromtimestamp(day * 86400, UTC)
    try:
        placed = moment.replace(year=year)
    except ValueError:
        placed = (moment + timedelta(days=1)).replace(year=year)
    return (placed - moment).total_seconds()


@lru_cache(maxsize=64)
def _year(seconds: float) -> int:
    return datetime.fromtimestamp(seconds, UTC).year


def choose_year(seconds: float, latest: float | None, now: float) -> float:
    """Place a time without a year in the last year in which it is not in the future.

    Where the inputs show `latest` as their last time with a year, it lies at most a month after that one either.
    """
    limit = now + _LEEWAY
    if latest is not None:
        limit = max(latest + _LEEWAY, min(latest + _AHEAD, limit))
    year = _year(limit)
    placed = set_year(seconds, year)
    return placed if placed <= limit else set_year(seconds, year - 1)
