"""The kernel's out-of-memory killer, host and cgroup, old and new wordings."""

from __future__ import annotations

import pytest

from collectors.host import oom
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read


def test_log_tells_host_from_cgroup() -> None:
    records = read(oom, (FIXTURES / "kernel/out-of-memory.log").read_text("utf-8"))
    kills = observed(records, "oom-kill")
    assert [(one.code, one.entity, one.line) for one in kills] == [
        ("host", "process:1168", 5), ("host", "process:1168", 6), ("cgroup", "process:461754", 11), ("cgroup", "process:461754", 12),
    ]  # fmt: skip
    assert kills[2].attributes["pod_uid"] == "00000000-0000-4000-8000-000000000001"
    assert kills[3].attributes["anon_rss"] == "6538204"
    assert [one.attributes["full"] for one in observed(records, "memcg-usage")] == ["true"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Out of memory: Kill process 3710 (mysqld) score 99 or sacrifice child", "host"),
        ("Out of memory (oom_kill_allocating_task): Kill process 3710 (a b) score 99 or sacrifice child", "host"),
        ("Memory cgroup out of memory: Kill process 4412 (java) score 0 or sacrifice child", "cgroup"),
        ("Task in /kubepods/pod1/c1 killed as a result of limit of /kubepods/pod1", "cgroup"),
        ("Killed process 3710 (mysqld) total-vm:1044000kB, anon-rss:400000kB, file-rss:0kB", "unknown"),
    ],
)
def test_older_kernels(line: str, code: str) -> None:
    (found,) = observed(read(oom, f"Mar 22 19:50:04 node-1 kernel: [ 2196.81] {line}\n"), "oom-kill")
    assert (found.code, found.node) == (code, "node-1")


@pytest.mark.parametrize(
    "line",
    [
        "oom_reaper: reaped process 41 (x), now anon-rss:0kB",
        "oom-kill:constraint=",
        "Killed process x",
        "scripts/train.sh: line 41: 9011 Killed python",
    ],
)
def test_odd_lines_yield_no_kill(line: str) -> None:
    assert observed(read(oom, line + "\n"), "oom-kill") == []
