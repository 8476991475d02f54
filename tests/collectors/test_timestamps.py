"""Every timestamp form of the format notes, in front of a line as its program prints it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from collectors.clock import is_without_year, set_year
from collectors.engines import Re2Engine
from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation
from collectors.prefix import peel
from collectors.registry import Registry
from collectors.scan import Scanner


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


# (line, time in the year 2025 where the line has no year, None where it has no date at all)
FORMS: list[tuple[str, str | None]] = [
    # kernel
    ("[Fri Apr  5 21:29:39 2024] NVRM: x", "2024-04-05T21:29:39"),
    ("[Mon Oct 16 09:50:06 2017] nfs: server a not responding", "2017-10-16T09:50:06"),
    ("kern  :warn  : 2025-01-21T04:41:44,283302+00:00 NVRM: x", "2025-01-21T04:41:44.283302"),
    ("Aug 20 23:41:07 host kernel: [310912.440000] NVRM: x", "2025-08-20T23:41:07"),
    ("Aug 30 06:58:55.050705 host kernel: x", "2025-08-30T06:58:55.050705"),
    ("messages:Jun 17 20:18:08 host kernel: x", "2025-06-17T20:18:08"),
    ("4月 28 15:08:10 gpu01 kernel: NVRM: x", "2025-04-28T15:08:10"),
    ("host: kern: warning: [2025-01-02T03:04:05.678Z]: NVRM: x", "2025-01-02T03:04:05.678"),
    ("2025-01-21T04:41:44.283302+08:00 node-a kernel: NVRM: x", "2025-01-20T20:41:44.283302"),
    ("[310912.440000] NVRM: x", None),
    ("[  +0.000049] NVRM: x", None),
    ("[  130.456250] [   T1946] NVRM: x", None),
    # Kubernetes and containers
    ("E1128 10:02:11.291383       7 pod.go:425] error syncing", "2025-11-28T10:02:11.291383"),
    ("I0907 08:12:31.791410       1 main.go:392] No devices found", "2025-09-07T08:12:31.791410"),
    ("Jun 04 15:51:53 node-c kubelet[15104]: E0604 15:51:53.763503   15104 kubelet.go:1] x", "2025-06-04T15:51:53"),
    ("2025-07-24T08:11:24.002Z\tWARN\tcore.scheduler.application\tobjects/application.go:1240\tx", "2025-07-24T08:11:24.002"),
    ('time="2026-08-30T09:31:12Z" level=info msg="x"', "2026-08-30T09:31:12"),
    ('time="2023-07-28T07:58:57Z" level=fatal msg="Error watching fields"', "2023-07-28T07:58:57"),
    ("time=2025-04-28T15:08:10.123Z level=INFO msg=x", "2025-04-28T15:08:10.123"),
    ("2020/08/10 02:03:04 XidCriticalError: Xid=69 on Device=GPU-0", "2020-08-10T02:03:04"),
    ("2025-11-26T01:00:00.123456789Z stdout F x", "2025-11-26T01:00:00.123457"),
    ('{"ts":1753141980841.6,"caller":"x.go:1","msg":"y"}', "2025-07-21T23:53:00.8416"),
    ('{"level":"warn","ts":"2025-01-21T04:41:44.283Z","caller":"x.go:1","msg":"slow fdatasync"}', "2025-01-21T04:41:44.283"),
    # schedulers, storage, engines
    ("[2025-10-20T06:42:34.118] error: slurmd x", "2025-10-20T06:42:34.118"),
    ("[2025-10-20T06:42:34] error: slurmd x", "2025-10-20T06:42:34"),
    ("2024/07/03 15:22:41.973253 juicefs[450342] <INFO>: slow request", "2024-07-03T15:22:41.973253"),
    ("Feb 23 14:08:22 host /usr/local/bin/juicefs[15590]: x", "2025-02-23T14:08:22"),
    ("Mon Jun 25 22:23:36.298 2018: Lost membership in cluster a", "2018-06-25T22:23:36.298"),
    ("2018-06-25_22:23:36.298+0800: [E] Lost membership", "2018-06-25T14:23:36.298"),
    ("2025-12-22 03:10:40.011 ERROR [1514002:1514004] [[Health]] x", "2025-12-22T03:10:40.011"),
    ("[Dec 20 2024 04:12:41] [ERROR] [tid 1584] failed", "2024-12-20T04:12:41"),
    # training and serving
    ("[rank0]:[E1026 04:01:29.500801336 ProcessGroupNCCL.cpp:683] x", "2025-10-26T04:01:29.500801"),
    ("[rank0]:[E321 04:01:29.500801336 ProcessGroupNCCL.cpp:683] x", "2025-03-21T04:01:29.500801"),
    ("[2026-08-08 14:02:11] node-a:402:519 [0] misc/socket.cc:612 NCCL WARN x", "2026-08-08T14:02:11"),
    ("[0604/1024][2025-02-16 22:31:34,422] [misc/socket.cc:586] [node-a:pid=3942408] NCCL WARN x", "2025-02-16T22:31:34.422"),
    ("INFO 04-11 10:02:31 model_runner.py:104] x", "2025-04-11T10:02:31"),
    ("INFO 06-30 13:53:16 [file.py:1065] x", "2025-06-30T13:53:16"),
    ("(EngineCore_DP0 pid=17374) ERROR 09-28 15:47:24 [core.py:718] x", "2025-09-28T15:47:24"),
    ("[2025-06-30 13:53:16 TP0] x", "2025-06-30T13:53:16"),
    ("2025-06-30 13:53:16,123 - INFO - x", "2025-06-30T13:53:16.123"),
    ("[2025-06-30 13:53:16,123] [INFO] [launch.py:1] x", "2025-06-30T13:53:16.123"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), FORMS)
def test_a_stamp_is_read(line: str, expected: str | None) -> None:
    time = peel("a", 1, line).time
    if expected is None:
        assert time is None
        return
    assert time is not None
    assert (set_year(time, 2025) if is_without_year(time) else time) == pytest.approx(at(expected), abs=1e-3)


@pytest.mark.parametrize(
    "line",
    [
        "19:14:43  NVRM: x",
        "x 2025",
        "[12.5] x",
        "99:99:99 x",
        "[Foo Bar 99 99:99:99 2024] x",
        "E1399 99:02:11.291383 7 pod.go:425] x",
    ],
)
def test_what_has_no_date_has_no_time(line: str) -> None:
    assert peel("a", 1, line).time is None


def test_the_date_of_dmesg_h_stands_in_the_lines_above() -> None:
    """`dmesg -H` prints the minute once and then what passed since the line before: the order is kept, no time is made up."""
    registry = Registry()
    patterns = registry.patterns()
    text = "[Jan 2 09:41] NVRM: Xid (PCI:0000:3b:00): 31, pid=1, x\n[  +0.000127] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, x\n"
    intake = read_inputs(
        [text_input("a", text)], Scanner(patterns, Re2Engine(patterns)), registry, now=1_764_547_200.0
    )[0]
    assert [one.code for one in intake.records if isinstance(one, Observation) and one.kind == "xid"] == ["31", "79"]
