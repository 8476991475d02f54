"""Timestamps: each form is read, nonsense is None, and stamps without a year land in the right one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.clock import (
    choose_year,
    is_possible,
    is_without_year,
    parse_epoch,
    parse_iso,
    parse_klog,
    parse_syslog,
    set_year,
)


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-01-21T04:41:44,283302+00:00", "2025-01-21T04:41:44.283302"),
        ("2025-01-21 04:41:44.25", "2025-01-21T04:41:44.25"),
        ("2025/01/21 04:41:44", "2025-01-21T04:41:44"),
        ("2025-01-21T04:41:44+0800", "2025-01-20T20:41:44"),
        ("2025-01-21T04:41:44-05:30", "2025-01-21T10:11:44"),
        ("2025-01-21T04:41:44Z and more", "2025-01-21T04:41:44"),
        ("2024-02-29 00:00:00", "2024-02-29T00:00:00"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59"),
    ],
)
def test_iso(text: str, expected: str) -> None:
    assert parse_iso(text) == pytest.approx(at(expected), abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "2025-02-29 00:00:00",  # no such day
        "2025-13-01 00:00:00",
        "2025-01-01 24:00:00",
        "0001-01-01T00:00:00Z",  # what Go prints for no time at all
        "1970-01-01T00:00:12+00:00",  # a host whose clock is not set yet
        "1972-05-05 10:00:00",  # would be taken for a stamp without a year
        "9999-12-31T23:59:59-12:00",
        "0000-00-00 00:00:00",
        "yesterday",
        "",
    ],
)
def test_iso_that_is_no_time(text: str) -> None:
    assert parse_iso(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Aug 20 23:41:07", "1972-08-20T23:41:07"),
        ("Aug  2 23:41:07.5 node-a", "1972-08-02T23:41:07.5"),
        ("Apr  5 21:29:39 2024", "2024-04-05T21:29:39"),
        ("4月 28 15:08:10 gpu01", "1972-04-28T15:08:10"),
    ],
)
def test_syslog(text: str, expected: str) -> None:
    assert parse_syslog(text) == at(expected)


@pytest.mark.parametrize(
    "text", ["Foo 20 23:41:07", "Feb 30 00:00:00", "13月 1 00:00:00", "Jan  1 00:00:10 1970", "Aug 20"]
)
def test_syslog_that_is_no_time(text: str) -> None:
    assert parse_syslog(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1126 02:24:08.114208331", "1972-11-26T02:24:08.114208"),
        ("901 05:20:03.444816023", "1972-09-01T05:20:03.444816"),
        ("0101 00:00:00", "1972-01-01T00:00:00"),
        ("0229 12:00:00", "1972-02-29T12:00:00"),
    ],
)
def test_klog(text: str, expected: str) -> None:
    seconds = parse_klog(text)
    assert seconds == pytest.approx(at(expected), abs=1e-5)
    assert seconds is not None and is_without_year(seconds)


@pytest.mark.parametrize("text", ["1159 10:02:11", "1301 00:00:00", "0000 00:00:00", "E1126 02:24:08"])
def test_klog_that_is_no_time(text: str) -> None:
    assert parse_klog(text) is None


@pytest.mark.parametrize(
    "text", ["1764123247", "1764123247.0", "1764123247000", "1764123247000000", "1764123247000000000"]
)
def test_an_epoch_is_told_by_its_size(text: str) -> None:
    assert parse_epoch(text) == pytest.approx(1764123247.0)


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e400", "12", "-1764123247", "9" * 400, "x", ""])
def test_an_epoch_that_is_no_time(text: str) -> None:
    assert parse_epoch(text) is None


@given(
    st.text()
    | st.from_regex(r"\A\d{1,5}[-/ ]?\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d([.,]\d{1,12})?([+-]\d\d:?\d\d|Z)?", alphabet=None)
)
def test_every_parser_is_total(text: str) -> None:
    for parse in (parse_iso, parse_syslog, parse_klog, parse_epoch):
        seconds = parse(text)
        if seconds is not None:
            datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize(
    ("stamp", "latest", "now", "expected"),
    [
        # the inputs show a year: the same one, also for lines after the last dated one
        ("Nov 26 02:24:08", "2025-11-26T02:20:00", "2026-07-01T00:00:00", "2025-11-26T02:24:08"),
        ("Nov 26 02:24:08", "2025-11-24T06:12:00", "2026-07-01T00:00:00", "2025-11-26T02:24:08"),
        # over New Year, in both directions
        ("Jan  1 00:10:00", "2025-12-31T23:50:00", "2026-02-01T00:00:00", "2026-01-01T00:10:00"),
        ("Dec 31 23:50:00", "2026-01-01T00:10:00", "2026-02-01T00:00:00", "2025-12-31T23:50:00"),
        # never in the future
        ("Nov 26 02:24:08", "2025-11-24T06:12:00", "2025-11-24T08:00:00", "2024-11-26T02:24:08"),
        # far after the last dated line: the year before
        ("Mar 10 00:00:00", "2025-11-24T06:12:00", "2026-07-01T00:00:00", "2025-03-10T00:00:00"),
        # no dated line at all: the last year in which it is past
        ("Nov 26 02:24:08", None, "2025-12-01T00:00:00", "2025-11-26T02:24:08"),
        ("Nov 26 02:24:08", None, "2025-10-01T00:00:00", "2024-11-26T02:24:08"),
        ("Nov 26 12:00:00", None, "2025-11-26T00:00:00", "2025-11-26T12:00:00"),  # a zone ahead of ours
        # a clock that runs ahead of ours moves nothing back
        ("Nov 26 02:24:08", "2031-11-26T02:20:00", "2025-12-01T00:00:00", "2031-11-26T02:24:08"),
        ("Feb 29 10:00:00", "2024-03-01T00:00:00", "2025-12-01T00:00:00", "2024-02-29T10:00:00"),
        ("Feb 29 10:00:00", "2025-03-05T00:00:00", "2025-12-01T00:00:00", "2025-03-01T10:00:00"),
    ],
)
def test_a_stamp_without_a_year_is_placed(stamp: str, latest: str | None, now: str, expected: str) -> None:
    seconds = parse_syslog(stamp)
    assert seconds is not None
    assert choose_year(seconds, at(latest) if latest else None, at(now)) == at(expected)


@pytest.mark.parametrize(
    ("seconds", "possible"),
    [
        (at("1972-05-05T00:00:00"), True),  # its year is not known yet
        (at("2025-11-26T02:24:08"), True),
        (at("1970-01-01T00:00:00"), False),
        (1.7e13, False),
        (float("inf"), False),
        (float("nan"), False),
    ],
)
def test_what_a_log_can_mean(seconds: float, possible: bool) -> None:
    assert is_possible(seconds) == possible


@given(
    st.datetimes(datetime(1972, 1, 1), datetime(1972, 12, 31, 23, 59, 59)),  # noqa: DTZ001  made aware below
    st.integers(1980, 2199),
)
def test_a_year_can_always_be_set(moment: datetime, year: int) -> None:
    seconds = moment.replace(tzinfo=UTC).timestamp()
    assert is_without_year(seconds)
    assert datetime.fromtimestamp(set_year(seconds, year), UTC).year == year
