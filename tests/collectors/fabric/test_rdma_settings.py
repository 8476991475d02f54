"""rdma statistic, cma_roce, bonds and traffic shaping; SHARP; counters of switches."""

from __future__ import annotations

from collectors.observation import Relation
from tests.collectors.fabric.reading import seen, take, take_log, values


def test_sample_log() -> None:
    intake = take_log("network/rdma-bond-shaping.txt")
    assert intake.kind == "network"
    assert values(intake.records, "out_of_sequence") == {"node-a link:mlx5_0:1": [41.0]}
    mode, tos = seen(intake.records, "roce-setting")
    assert (mode.code, mode.attributes["value"], tos.code, tos.attributes["value"]) == ("mode", "RoCE v2", "tos", "106")
    first, second = seen(intake.records, "interface")
    assert (first.entity, first.code, second.code) == ("link:ens5f0np0:1", "down", "up")
    assert values(intake.records, "bond_link_failures")["node-a link:ens5f0np0:1"] == [17.0]
    (shaping,) = seen(intake.records, "shaping")
    assert (shaping.code, shaping.attributes["delay"], shaping.attributes["loss"]) == ("netem", "100ms", "1%")


def test_rdma_statistic_twice() -> None:
    text = "link mlx5_0/1 rx_write_requests 0 packet_seq_err 12 local_ack_timeout_err 3\n" * 2
    assert values(take(text).records, "packet_seq_err") == {" link:mlx5_0:1": [12.0, 12.0]}


def test_perfquery_of_two_ports_is_not_one_series() -> None:
    text = "# Port counters: Lid 4 port 17\nSymbolErrorCounter:..............0\n# Port counters: Lid 9 port 1\nSymbolErrorCounter:..............900\n"
    assert values(take(text).records, "symbol_error") == {" link:lid-4:17": [0.0], " link:lid-9:1": [900.0]}


def test_sharp() -> None:
    intake = take_log("sharp/no-tree.log")
    assert "sharp" in intake.kinds
    found = seen(intake.records, "sharp")
    assert [one.code for one in found] == ["no-job", "no-resource", "no-job", "not-used"]
    assert [one.node for one in found] == ["node-a", "node-a", "node-b", "node-b"]
    (one,) = seen(take("ERROR No Aggregation Manager (sharp_am) detected in sharp_create_job.").records, "sharp")
    assert one.code == "no-aggregation-manager"


def test_counters_of_switches() -> None:
    intake = take_log("switch/counters-twice.txt")
    assert intake.kind == "switch"
    assert values(intake.records, "switch_tx_drops")["leaf-3 link:Ethernet12:1"] == [120.0, 91120.0]
    assert values(intake.records, "switch_fcs_errors") == {"leaf-4 link:Et1:1": [0.0], "leaf-4 link:Et2:1": [17.0]}
    (storm,) = seen(intake.records, "pause-watchdog")
    assert (storm.code, storm.entity, storm.attributes["queue"]) == ("storm", "link:Ethernet12:1", "3")


def test_switch_log_beyond_links() -> None:
    intake = take_log("switch/err-disable-and-storm.log")
    assert [(one.entity, one.attributes["reason"]) for one in seen(intake.records, "switch-port")] == [
        ("link:Ethernet5:1", "link-flap"), ("link:Ethernet1-5:1", "link-flap"),
    ]  # fmt: skip
    assert [(one.code, one.node) for one in seen(intake.records, "pause-watchdog")] == [
        ("storm", "leaf-5"),
        ("restored", "leaf-5"),
    ]
    assert [(one.node, one.entity, one.code) for one in seen(intake.records, "link")] == [
        ("leaf-6", "link:swp3:1", "down"), ("leaf-6", "link:swp3:1", "up"), ("leaf-7", "link:Eth1-12:1", "down"),
    ]  # fmt: skip


def test_statistics_of_interfaces_twice() -> None:
    intake = take_log("network/ip-statistics-twice.txt")
    assert intake.kind == "network"
    assert values(intake.records, "netdev_rx_errors") == {"node-a link:ens5f0np0:1": [10.0, 9010.0]}
    assert not values(
        take("    RX:  bytes packets errors dropped  missed   mcast\n    1 2 3\n").records, "netdev_rx_errors"
    )


def test_infiniband_ports_of_rdma_link() -> None:
    line = "link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state DOWN physical_state POLLING"
    (port,) = seen(take(line).records, "port")
    assert (port.code, port.entity, port.attributes["physical"], port.attributes["sm_lid"]) == (
        "down",
        "link:mlx5_1:1",
        "POLLING",
        "0",
    )


def test_a_port_has_its_lid_as_another_name() -> None:
    text = "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tBase lid: {}\n"
    names = [
        (one.upper, one.lower)
        for one in take(text.format(4)).records
        if isinstance(one, Relation) and one.how == "same"
    ]
    assert names == [("link:mlx5_0:1", "link:lid-4:1")]
    assert not [one for one in take(text.format(65535)).records if isinstance(one, Relation) and one.how == "same"]
