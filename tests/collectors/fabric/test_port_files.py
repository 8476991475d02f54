"""Lists of RDMA devices and the files of their ports."""

from __future__ import annotations

from tests.collectors.fabric.reading import seen, take, take_log


def test_devices_and_files() -> None:
    intake = take_log("rdma/devices-and-port-files.txt")
    assert intake.kind == "rdma"
    assert [one.entity for one in seen(intake.records, "rdma-device")] == ["nic:mlx5_0", "nic:mlx5_1"]
    told = [
        (one.node, one.code, one.entity, one.attributes.get("physical"), one.attributes["gbps"])
        for one in seen(intake.records, "port")
    ]
    assert told == [
        ("node-b", "active", "link:mlx5_0:1", "LinkUp", "400"),
        ("node-b", "down", "link:mlx5_1:1", "Polling", "10"),
    ]


def test_a_rate_alone_is_that_of_an_active_port_unless_it_is_the_lowest() -> None:
    text = (
        "/sys/class/infiniband/mlx5_0/ports/1/rate:100 Gb/sec (1X NDR)\n"
        "/sys/class/infiniband/mlx5_1/ports/1/rate:10 Gb/sec (4X SDR)\n"
    )
    assert [(one.code, one.entity) for one in seen(take(text).records, "port")] == [("active", "link:mlx5_0:1")]


def test_a_rate_that_is_no_number_is_no_port() -> None:
    text = (
        "/sys/class/infiniband/mlx5_1/ports/1/phys_state:2: Polling\n/sys/class/infiniband/mlx5_1/ports/1/rate:SDR)\n"
    )
    assert seen(take(text).records, "port") == []


def test_odd_lines_yield_nothing() -> None:
    assert not seen(take("/sys/class/infiniband/mlx5_0/ports/1/rate:\n   device   node GUID\n   x\n").records, "port")
