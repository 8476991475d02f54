"""File servers that fall silent and come back; tables of the clients' tools; host memory printed by the job."""

from __future__ import annotations

import pytest

from collectors.filesystems import client_tables, file_servers
from collectors.host import memory_lines
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read, samples

SILENT = (FIXTURES / "storage/nfs-server-silent-for-three-seconds.log").read_text("utf-8")
TABLES = (FIXTURES / "storage/juicefs-stats-and-nfsiostat.txt").read_text("utf-8")


def test_silent_and_back() -> None:
    found = observed(read(file_servers, SILENT), "file-server")
    assert [(one.attributes["system"], one.code) for one in found] == [
        ("nfs", "silent"), ("nfs", "silent"), ("nfs", "back"), ("nfs", "back"), ("lustre", "silent"), ("lustre", "back"),
        ("ceph", "silent"), ("ceph", "back"), ("smb", "silent"),
    ]  # fmt: skip
    assert (found[0].entity, found[0].node) == ("filesystem:filer-2.example.com", "node-a")
    assert (found[4].entity, found[4].attributes["target"]) == ("filesystem:lfs01", "lfs01-OST0004")


def test_uptime_is_kept() -> None:
    found = observed(
        read(file_servers, "[  123.100000] nfs: server 10.0.0.21 not responding, timed out\n"), "file-server"
    )
    assert found[0].attributes["uptime"] == "123.100000"


def test_juicefs_stats() -> None:
    found = observed(read(client_tables, TABLES), "juicefs")
    assert [(one.code, one.attributes["meta_ms"], one.attributes["rows"]) for one in found] == [("stats", "24.1", "3")]


def test_nfsiostat() -> None:
    found = observed(read(client_tables, TABLES), "nfs-io")
    assert [(one.code, one.attributes["ops"], one.attributes["rtt_ms"], one.attributes["exe_ms"]) for one in found] == [
        ("read", "90.000", "88.101", "190.310"), ("write", "0.100", "2.101", "2.310"),
    ]  # fmt: skip
    assert found[0].entity == "filesystem:/nfs"


def test_memory_lines() -> None:
    text = (
        "[2024-05-01 10:00:00,000] [INFO] [utils.py:781:see_memory_usage] CPU Virtual Memory:  used = 512.3 GB, percent = 51.2%\n"
        "VmRSS:\t 12400000 kB\nstep 1000 pid=77 | RSS: 12.1 GB\n"
    )
    found = samples(read(memory_lines, text))
    assert [one.metric for one in found] == ["host_memory_used", "process_rss", "process_rss"]
    assert (found[1].value, found[2].labels) == (12400000 * 1024, {"pid": "77"})


@pytest.mark.parametrize(
    "text",
    [
        "nfs: server  not responding", "Lustre: x: Connection restored to ", "------usage------ ----fuse---- ----meta---",
        "10.0.0.5:/export mounted on /nfs:", "10.0.0.5:/export mounted on /nfs:\n\nread: ops/s kB/s\n x y\n", "RSS: many",
        "total-vm:1kB, anon-rss:36110244kB, file-rss:0kB", "------usage------ ----fuse---- ----meta---\n a | b | lat\n 1 | 2\n",
    ],
)  # fmt: skip
def test_odd_lines_yield_nothing(text: str) -> None:
    assert [one for module in (file_servers, client_tables, memory_lines) for one in read(module, text + "\n")] == []
