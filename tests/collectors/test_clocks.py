"""Seconds since boot become times by whatever tells the boot; wrong clocks are told and not believed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import pytest

from collectors.engines import Re2Engine
from collectors.ingest import Intake, read_inputs, text_input
from collectors.observation import Observation
from collectors.registry import Registry
from collectors.scan import Scanner

NOW = datetime(2025, 2, 1, tzinfo=UTC).timestamp()
BOOT = datetime(2025, 1, 21, 4, 41, 42, tzinfo=UTC).timestamp()
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=python, GPU has fallen off the bus."
DMESG = f"root@node-a:~# dmesg\n[    0.000000] Linux version 5.15.0\n[  600.000000] {XID}\n"


@cache
def tools() -> tuple[Scanner, Registry]:
    registry = Registry()
    patterns = registry.patterns()
    return Scanner(patterns, Re2Engine(patterns)), registry


def read(**texts: str) -> dict[str, Intake]:
    scanner, registry = tools()
    inputs = [text_input(name, text) for name, text in texts.items()]
    return {one.name: one for one in read_inputs(inputs, scanner, registry, now=NOW)}


def remarks(intake: Intake) -> list[str]:
    return [note for note in intake.notes if "not ruled out" not in note]


def xids(intake: Intake) -> list[Observation]:
    return [one for one in intake.records if isinstance(one, Observation) and one.kind == "xid"]


@pytest.mark.parametrize(
    ("more", "by"),
    [
        ({"a": DMESG + "[    1.284016] rtc_cmos 00:02: setting system clock to 2025-01-21T04:41:43 UTC (1737434503)\n"}, "rtc"),
        ({"a": DMESG + "root@node-a:~# uptime -s\n2025-01-21 04:41:42\n"}, "uptime -s"),
        ({"a": DMESG, "b": "root@node-a:~# who -b\n         system boot  2025-01-21 04:41\n"}, "who -b"),
        ({"a": DMESG, "b": f"root@node-a:~# dmesg -T\n[Tue Jan 21 04:51:42 2025] {XID}\n"}, "b"),
        ({"a": DMESG, "b": "2025-01-21T05:41:42+00:00 node-a kernel: [ 3600.000000] NVRM: Xid (PCI:0000:3b:00): 31, pid=2\n"}, "b"),
    ],
)  # fmt: skip
def test_seconds_since_boot_are_placed(more: dict[str, str], by: str) -> None:
    found = read(**more)["a"]
    (xid,) = xids(found)
    assert xid.time == pytest.approx(BOOT + 600, abs=60)
    assert found.notes == [f"seconds since boot placed in time by {by}"]


def test_another_host_tells_nothing() -> None:
    found = read(a=DMESG, b="root@node-b:~# uptime -s\n2025-01-21 04:41:42\n")["a"]
    assert xids(found)[0].time is None and remarks(found) == []


def test_of_several_boots_the_last_counts() -> None:
    text = (
        DMESG
        + "root@node-a:~# uptime -s\n2025-01-21 04:41:42\nroot@node-a:~# who -b\n         system boot  2025-01-02 00:00\n"
    )
    assert xids(read(a=text)["a"])[0].time == pytest.approx(BOOT + 600)


def test_lines_without_a_time_keep_their_order() -> None:
    lines = [
        f"[{second}.000000] NVRM: Xid (PCI:0000:3b:00): {code}, pid=1, x"
        for second, code in ((5, 79), (6, 48), (6, 31))
    ]
    found = xids(read(a="\n".join(lines) + "\n")["a"])
    assert [one.code for one in found] == ["79", "48", "31"]
    assert all(one.time is None for one in found)


def test_a_clock_that_was_never_set() -> None:
    found = read(a=f"1970-01-01T00:00:12+00:00 node-a kernel: {XID}\n2025-01-21T04:41:44+00:00 node-a kernel: {XID}\n")[
        "a"
    ]
    assert [one.time for one in xids(found)] == [None, BOOT + 2]
    assert remarks(found) == ["1 lines bear a time before 1980: a clock that was not set; these times are not used"]


def test_a_time_in_the_future_is_not_believed() -> None:
    lines = [f"2025-01-21T04:41:4{second}+00:00 node-a kernel: {XID}" for second in range(3)]
    found = read(a="\n".join([*lines, f"2031-05-01T00:00:00+00:00 node-a kernel: {XID}"]) + "\n")["a"]
    assert [one.time for one in xids(found)] == [BOOT - 2, BOOT - 1, BOOT, None]
    assert remarks(found) == ["1 lines bear a time after now (2031-05-01T00:00:00Z): these times are not used"]


def test_where_all_is_after_now_it_is_the_readers_clock() -> None:
    found = read(a=f"2031-05-01T00:00:00+00:00 node-a kernel: {XID}\n")["a"]
    assert xids(found)[0].time is not None and remarks(found) == []


def test_a_jump_back_is_told() -> None:
    first = "2025-01-21T04:41:44+00:00 node-a kernel: [  100.000000] NVRM: Xid (PCI:0000:3b:00): 31, pid=2, x"
    second = "2025-01-20T01:00:00+00:00 node-a kernel: [  200.000000] NVRM: Xid (PCI:0000:3b:00): 79, pid=2, x"
    found = read(a=f"{first}\n{second}\n")["a"]
    assert remarks(found) == ["the clock of node-a jumped from 2025-01-21T04:41:44Z to 2025-01-20T01:00:00Z at line 2"]


def timeout(host: str, clock: str) -> str:
    return (
        f"2025-01-21T{clock}+00:00 {host} train[71]: [rank1]:[E121 {clock}.500801336 ProcessGroupNCCL.cpp:683] [Rank 1] Watchdog caught "
        "collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 "
        "milliseconds before timing out.\n"
    )


def test_the_odd_clock_among_several_hosts() -> None:
    texts = {
        f"node-{name}": timeout(f"node-{name}", clock)
        for name, clock in zip("abcd", ("04:41:44", "04:41:45", "04:41:44", "03:10:00"), strict=True)
    }
    found = read(**texts)
    assert {name: one.notes for name, one in found.items() if one.notes} == {
        "node-d": [
            "the clock of node-d is not believed: it shows 2025-01-21T03:10:00Z where the other hosts show 2025-01-21T04:41:44Z; its times are moved by that"
        ]
    }

    assert {round(one.time or 0) for intake in found.values() for one in intake.records if isinstance(one, Observation)} <= {
        round(BOOT) + 2, round(BOOT) + 3,
    }  # fmt: skip


def test_of_two_clocks_nobody_knows_which_is_wrong() -> None:
    assert all(
        not one.notes
        for one in read(**{"node-a": timeout("node-a", "04:41:44"), "node-b": timeout("node-b", "03:10:00")}).values()
    )
