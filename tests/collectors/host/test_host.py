"""What df, mount, ulimit, ps, top, fuser, sar and iostat print."""

from __future__ import annotations

from types import ModuleType

import pytest

from collectors.host import host_limits, host_load, host_processes, host_space
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

COMMANDS = (FIXTURES / "host/commands.txt").read_text("utf-8")


def test_file_systems() -> None:
    records = read(host_space, COMMANDS)
    rows = observed(records, "filesystem")
    assert [(one.code, one.attributes["mount"], one.attributes["percent"]) for one in rows] == [
        ("space", "/", "18"), ("space", "/dev/shm", "91"), ("space", "/data", "39"), ("inodes", "/data", "2"),
    ]  # fmt: skip
    assert rows[1].attributes["size"] == "67108864"
    assert [(one.code, one.attributes["mount"]) for one in observed(records, "mount")] == [
        ("nfs4", "/data"),
        ("fuse.juicefs", "/jfs"),
    ]


def test_wrapped_and_chinese_rows() -> None:
    text = "文件系统            1K-块    已用    可用 已用% 挂载点\n/dev/mapper/a-very-long-volume-name\n               1000 1000 0 100% /data\n"
    (row,) = observed(read(host_space, text), "filesystem")
    assert (row.attributes["size"], row.attributes["percent"], row.line, row.line_end) == ("1024000", "100", 2, 3)


def test_limits() -> None:
    records = read(host_limits, COMMANDS)
    limits = [(one.code, one.attributes["soft"]) for one in observed(records, "limit")]
    assert limits == [("open-files", "1024"), ("locked-memory", "8192"), ("locked-memory", "8192")]
    assert [one.attributes["count"] for one in observed(records, "open-files")] == ["1023"]
    assert [one.attributes["cpus"] for one in observed(records, "affinity")] == ["5"]
    assert [one.attributes["share"] for one in observed(records, "cpu-throttle")] == ["0.812"]


@pytest.mark.parametrize(
    "line",
    [
        "open files                      (-n) 1024",
        "max locked memory       (kbytes, -l) 65536",
        "max user processes              (-u) 4126528",
    ],
)
def test_ulimit(line: str) -> None:
    (found,) = observed(read(host_limits, line + "\n"), "limit")
    assert found.attributes["soft"] == line.rsplit(None, 1)[-1]


@pytest.mark.parametrize(
    "command", ["ulimit -l", "docker exec vllm bash -c 'ulimit -l'", 'kubectl exec worker-0 -- sh -c "ulimit -l"']
)
def test_ulimit_of_a_container(command: str) -> None:
    (found,) = observed(read(host_limits, f"# {command}\nunlimited\n"), "limit")
    assert (found.code, found.attributes["soft"]) == ("locked-memory", "unlimited")


def test_processes() -> None:
    records = read(host_processes, COMMANDS)
    rows = {one.attributes["pid"]: one for one in observed(records, "process")}
    assert set(rows) == {"20114", "81443"}
    assert rows["20114"].attributes["cpu"] == "100.0"
    assert rows["81443"].attributes["wchan"] == "rpc_wait_bit_killable"
    assert rows["81443"].code == "D"
    holders = observed(records, "gpu-holder")
    assert [(one.attributes["gpu"], one.attributes["pid"]) for one in holders] == [
        ("minor-0", "18822"),
        ("minor-0", "18823"),
    ]


def test_lsof_names_a_holder() -> None:
    text = "python    18822 18830 user3  mem    CHR            195,0             502 /dev/nvidia0\n"
    assert [one.attributes["gpu"] for one in observed(read(host_processes, text), "gpu-holder")] == ["minor-0"]


def test_load() -> None:
    records = read(host_load, COMMANDS)
    assert [(one.attributes["idle"], one.attributes["iowait"]) for one in observed(records, "cpu")] == [
        ("93.2", "0.1"),
        ("32.59", "61.10"),
    ]
    assert [one.attributes["percent"] for one in observed(records, "net-rate")] == ["99.15"]
    (disk,) = observed(records, "disk-io")
    assert (disk.attributes["device"], disk.attributes["read_await_ms"], disk.attributes["percent"]) == (
        "nvme0n1",
        "310.25",
        "99.80",
    )
    assert observed(records, "memory")[0].attributes["total"] == f"{257654.0 * 2**20:.10g}"


def test_free() -> None:
    text = "               total        used        free      shared  buff/cache   available\nMem:           1007Gi      1005Gi       102Mi       1.2Gi       1.1Gi        88Mi\n"
    (found,) = observed(read(host_load, text), "memory")
    assert float(found.attributes["available"]) == 88 * 2**20


@pytest.mark.parametrize("module", [host_limits, host_load, host_processes, host_space])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "Filesystem Size\n",
        "PID\n",
        "nr_periods x\n",
        "  PID USER COMMAND\nx\n",
        "Device %util\n\x00",
        "Mem: x y\n",
        "avg-cpu: %user\n1 2 3\n",
    ],
)
def test_odd_input_yields_nothing(module: ModuleType, text: str) -> None:
    assert read(module, text) == []


def test_ps_again_without_its_heading() -> None:
    text = """$ ps -eo pid,rss,comm --sort=-rss | head -2   # 09:00
    PID    RSS COMMAND
    212 6418220 VLLM::Worker_TP0
$ ps ...   # 13:00
    212 13290448 VLLM::Worker_TP0
$ wc -l a b
    212 13290448 other
"""
    rows = observed(read(host_processes, text), "process")
    assert [float(one.attributes["rss"]) // 2**30 for one in rows] == [6, 12]
