"""Results of ping and of perftest."""

from __future__ import annotations

import pytest

from tests.collectors.fabric.reading import seen, take, take_log, values


def test_sample_log() -> None:
    intake = take_log("perftest/ping-and-write-bandwidth.txt")
    assert intake.kind == "perftest"
    (ping,) = seen(intake.records, "ping")
    assert (ping.code, ping.node, ping.attributes["loss"]) == ("ok", "node-a", "0")
    (test,) = seen(intake.records, "bandwidth-test")
    assert (test.code, test.entity, test.attributes["gbps"], test.attributes["bytes"]) == (
        "rdma_write",
        "link:mlx5_0:1",
        "392.42",
        "65536",
    )
    assert values(intake.records, "rdma_test_gbps") == {"node-a link:mlx5_0:1": [392.42]}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("3 packets transmitted, 0 received, 100% packet loss, time 2034ms", "lost"),
        ("4 packets transmitted, 0 received, +4 errors, 100% packet loss, time 3061ms", "lost"),
        ("100 packets transmitted, 91 received, 9% packet loss, time 101376ms", "lossy"),
        ("3 packets transmitted, 3 packets received, 0% packet loss", "ok"),
    ],
)
def test_ping(line: str, code: str) -> None:
    (one,) = seen(take(line).records, "ping")
    assert one.code == code


def test_units_and_latency() -> None:
    text = (
        "                    Send BW Test\n Device         : mlx5_1\n"
        " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
        " 1048576    1000             11532.10            11500.00             0.0109\n"
    )
    (one,) = seen(take(text).records, "bandwidth-test")
    assert one.attributes["gbps"] == "92.00"
    text = (
        "                    RDMA_Write Latency Test\n Device         : mlx5_1\n"
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
        " 2       1000          1.04           4.10         1.08               1.09\n"
    )
    (one,) = seen(take(text).records, "latency-test")
    assert one.attributes["microseconds"] == "1.08"
