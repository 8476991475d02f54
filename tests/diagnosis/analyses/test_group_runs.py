"""Groups of hosts that are fast alone and slow together."""

from __future__ import annotations

from diagnosis.analyses import group_runs
from tests.diagnosis.analyses.test_job_network import read

ROW = "{:>12}     134217728     float     sum      -1   10721   50.08   {:.2f}      0   10716   50.10   {:.2f}      0\n"


def row(busbw: float, size: int = 1 << 30) -> str:
    return ROW.format(size, busbw, busbw)


def codes(text: str) -> list[tuple[str, str]]:
    return [(one.code, one.attributes["together"]) for one, _ in group_runs.derive(read(text))]


def test_two_groups_that_are_slow_together() -> None:
    assert codes(row(96.1) + "# next\n" + row(95.9) + "# both\n" + row(31.2)) == [("slow-together", "31.2")]
    grown = row(90.0, 1 << 29) + row(96.1) + row(90.0, 1 << 29) + row(95.9) + row(30.0, 1 << 29) + row(31.2)
    assert codes(grown) == [("slow-together", "31.2")]


def test_runs_that_say_nothing() -> None:
    assert codes(row(96.1) + row(31.2)) == []  # one run alone may have another setting
    assert codes(row(96.1) + row(40.0) + row(31.2)) == []  # no two agree
    assert codes(row(96.1) + row(95.9) + row(94.0)) == []
    assert codes(row(9.0, 1 << 20) + row(9.1, 1 << 20) + row(2.0, 1 << 20)) == []
    assert codes("") == []
