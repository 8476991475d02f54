"""Prefixes: each launcher's and logger's form is taken off and read, and a sentence is never taken for a host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.clock import is_without_year, parse_iso
from collectors.prefix import peel


@pytest.mark.parametrize(
    ("raw", "host", "program", "text"),
    [
        ("2025-11-26T02:14:07.512338+00:00 node-b kernel: NVRM: hello", "node-b", "kernel", "NVRM: hello"),
        ("2025-11-26T02:14:07+0000 node-b.example.com sshd[812]: hello", "node-b", "sshd", "hello"),
        ("2025-11-26 02:14:07 node-b kernel: hello", "node-b", "kernel", "hello"),
        ("Wed 2025-11-26 02:14:07 UTC node-b kubelet[99]: hello", "node-b", "kubelet", "hello"),
        ("Aug 20 23:41:07 GPU-Node-7 systemd[1]: hello", "gpu-node-7", "systemd", "hello"),
        ("messages-1:Aug 20 23:41:07 node-b kernel: [310912.440000] hello", "node-b", "kernel", "hello"),
        ("4月 28 15:08:10 gpu01 kernel: hello", "gpu01", "kernel", "hello"),
    ],
)
def test_syslog_and_journal_name_the_host(raw: str, host: str, program: str, text: str) -> None:
    line = peel("a", 1, raw)
    assert (line.host, line.program, line.text) == (host, program, text)
    assert line.time is not None
    assert line.raw == raw


@pytest.mark.parametrize(
    "raw",
    [
        "2025-11-26 02:13:59 INFO trainer: step 3",
        "2025-11-26 02:13:59,123 WARNING torch.distributed: slow",
        "2025-11-26 02:13:59,123 ERROR main[12]: broken",
        "2025-11-26T02:14:07Z INFO router: ready",
        "2025-11-26T02:14:07+00:00 ERROR router: ready",
        "2025-11-26 02:14:07 Starting worker: 3",
        "2025-11-26T02:14:07.512338123Z Failed init: no device",
        "2025-11-26T02:14:07.5Z stderr F RuntimeError in forward: no device",
        "[2025-11-26 02:13:59] step loss: 2.3",
        "Nov 26 02:14:07 ERROR trainer: broken",
        "2025-11-26 02:14:07 error: no device",
    ],
)
def test_a_level_or_a_word_is_not_a_host(raw: str) -> None:
    line = peel("a", 1, raw)
    assert line.host == ""
    assert line.time is not None


@pytest.mark.parametrize(
    ("raw", "rank", "text"),
    [
        ("[rank11]:[E1126 02:24:08.114208331 ProcessGroupNCCL.cpp:632] [Rank 11] Watchdog", "11", "[Rank 11] Watchdog"),
        ("[rank 3]: Traceback", "3", "Traceback"),
        ("[1,3]<stdout>:[rank3]: hello", "3", "hello"),
        ("[1,3]<stderr>: hello", "3", "hello"),
        ("12: hello", "12", "hello"),
        ("[default5]:[rank13]: hello", "13", "hello"),
    ],
)
def test_launchers_name_the_rank(raw: str, rank: str, text: str) -> None:
    line = peel("a", 1, raw)
    assert (line.rank, line.text) == (rank, text)


@pytest.mark.parametrize(
    ("raw", "month_day"),
    [
        ("E1126 02:24:08.114208331 12 ProcessGroupNCCL.cpp:632] x", (11, 26)),
        ("[E1126 02:24:08.114208331 ProcessGroupNCCL.cpp:632] x", (11, 26)),
        ("I0901 05:20:03.444816       1 controller.go:12] x", (9, 1)),
        ("W901 05:20:03.444816023 socket.cpp:12] x", (9, 1)),
    ],
)
def test_klog_tells_the_day_without_a_year(raw: str, month_day: tuple[int, int]) -> None:
    line = peel("a", 1, raw)
    expected = parse_iso(f"2024-{month_day[0]:02d}-{month_day[1]:02d} 00:00:00")
    start = parse_iso("2024-01-01 00:00:00")
    assert line.time is not None and expected is not None and start is not None
    assert is_without_year(line.time)
    assert (line.time - 63072000.0) // 86400 == (expected - start) // 86400  # days since 1 January 1972
    assert line.text == "x"


@pytest.mark.parametrize(
    ("raw", "uptime", "text"),
    [
        ("[310912.440000] NVRM: hello", 310912.44, "NVRM: hello"),
        ("<4>[   12.000001] NVRM: hello", 12.000001, "NVRM: hello"),
        ("[   12.000001] [T1234] NVRM: hello", 12.000001, "NVRM: hello"),
    ],
)
def test_dmesg_tells_the_uptime(raw: str, uptime: float, text: str) -> None:
    line = peel("a", 1, raw)
    assert (line.uptime, line.source, line.text) == (uptime, "kernel", text)


@pytest.mark.parametrize(
    ("rest", "source"),
    [("NVRM: hello", "kernel"), ("[12345] 0", "kernel"), ("[drm] hello", "kernel"), ("[error] hello", "")],
)
def test_a_time_in_brackets_is_the_kernels_unless_a_level_follows(rest: str, source: str) -> None:
    assert peel("a", 1, f"[Sun Dec 14 04:47:44 2025] {rest}").source == source


def test_the_first_time_of_a_line_wins() -> None:
    line = peel("a", 1, "2025-11-26T02:14:07.5Z stdout F [2001-01-01 00:00:00] hello")
    assert line.time == parse_iso("2025-11-26T02:14:07.5Z")
    assert line.text == "hello"


def test_a_pod_and_an_actor_are_labels() -> None:
    assert peel("a", 1, "[pod/worker-0/pytorch] hello").labels == {"pod": "worker-0"}
    line = peel("a", 1, "(RayWorker pid=71, ip=10.0.0.12) hello")
    assert (line.labels, line.host, line.text) == ({"actor": "RayWorker"}, "10.0.0.12", "hello")


def test_colours_and_redrawn_lines_are_taken_off() -> None:
    assert peel("a", 1, "\x1b[31merror\x1b[0m: x\r").text == "error: x"
    assert peel("a", 1, " 10%\r 20%\r 30% done\r").text == "30% done"


def test_a_very_long_line_is_read() -> None:
    line = peel("a", 1, "[1,3]<stdout>: " + "(a b " * 200_000)
    assert line.rank == "3"
    assert len(line.text) > 900_000


@given(st.text())
def test_any_line_is_read(raw: str) -> None:
    line = peel("a", 7, raw)
    assert line.raw == raw
    assert line.number == 7
    assert len(line.text) <= len(raw)


_PARTS = st.sampled_from(
    ["[1,3]<stdout>:", "[rank3]:", "E1126 02:24:08.1 x.cpp:63] ", "2025-11-26T02:14:07Z ", "Aug 20 23:41:07 ", "node-b ", "kernel: ", "[ 1.000000] ", "1: ", "(A pid=1) "]
)  # fmt: skip


@given(st.lists(_PARTS, max_size=9).map("".join), st.text(max_size=20))
def test_nested_prefixes_keep_the_rest(prefix: str, rest: str) -> None:
    line = peel("a", 1, prefix + "message " + rest.replace("\r", "").replace("\x1b", ""))
    assert "message" in line.text


def test_a_trainer_may_name_itself_before_the_time() -> None:
    line = peel("a", 1, "[rank0]:[titan] 2025-06-16 22:29:58,322 - root - INFO - step: 210  loss:  6.0388")
    assert line.rank == "0" and line.time == parse_iso("2025-06-16 22:29:58.322")
