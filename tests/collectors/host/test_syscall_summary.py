"""Tables of system calls."""

from __future__ import annotations

from tests.collectors.fabric.reading import seen, take, take_log


def test_strace_and_perf() -> None:
    found = seen(take_log("host/syscall-summary.txt").records, "syscalls")
    assert [
        (one.code, one.attributes["percent"], one.attributes["microseconds"], one.attributes["calls"]) for one in found
    ] == [
        ("newfstatat", "99.81", "4499", "4403"),
        ("statx", "91.23", "2310", "9120"),
        ("read", "7.73", "110", "16200"),
    ]
    assert found[0].raw.strip().startswith("99.81")


def test_rows_without_errors_and_a_table_that_is_cut() -> None:
    (one,) = seen(
        take("% time     seconds  usecs/call     calls    errors syscall\n 60.00    1.5  7\n").records, "syscalls"
    ) or (None,)
    assert one is None
    text = "% time     seconds  usecs/call     calls    errors syscall\n------ -----------\n 60.00    1.500000        1500      1000       997 openat\n"
    (one,) = seen(take(text).records, "syscalls")
    assert (one.code, one.attributes["errors"]) == ("openat", "997")
