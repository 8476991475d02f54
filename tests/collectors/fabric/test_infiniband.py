"""State and counters of RDMA ports, GID tables, interfaces and lossless settings, read through the whole intake."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from collectors.block import Reader
from collectors.fabric import infiniband, interfaces
from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation, Record, Relation, Sample
from collectors.prefix import peel
from collectors.registry import Registry
from collectors.scan import Scanner

LOGS = Path(__file__).parents[3] / "fixtures" / "logs"


def read(text: str) -> list[Record]:
    registry = Registry()
    scanner = Scanner(registry.patterns())
    (intake,) = read_inputs([text_input("x.txt", text)], scanner, registry, now=1_764_547_200.0)
    return intake.records


def seen(records: list[Record], kind: str) -> list[Observation]:
    return [one for one in records if isinstance(one, Observation) and one.kind == kind]


def samples(records: list[Record]) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for one in records:
        if isinstance(one, Sample):
            found.setdefault(one.metric, []).append(one)
    return found


def test_sample_log() -> None:
    records = read((LOGS / "rdma" / "port-state-and-counters.txt").read_text())
    (port,) = seen(records, "port")
    assert (port.code, port.entity, port.node, port.attributes["gbps"]) == ("active", "link:mlx5_3:1", "node-b", "400")
    assert [one.value for one in samples(records)["link_downed"]] == [2.0]
    (gid,) = seen(records, "gid")
    assert (gid.code, gid.attributes["version"], gid.attributes["ipv4"]) == ("3", "v2", "172.20.1.1")


def test_counters_with_headings_have_times() -> None:
    records = read(
        "# 2025-03-04T01:00:01Z mlx5_0 port 1\nlink_downed 2\n# 2025-03-04T02:00:01Z mlx5_0 port 1\nlink_downed 7\n"
    )
    first, last = samples(records)["link_downed"]
    assert (first.entity, last.value - first.value, (last.time or 0) - (first.time or 0)) == (
        "link:mlx5_0:1",
        5.0,
        3600.0,
    )


def test_sysfs_paths_name_the_port() -> None:
    records = read(
        "$ grep . /sys/class/infiniband/mlx5_*/ports/1/hw_counters/*\n/sys/class/infiniband/mlx5_2/ports/1/hw_counters/out_of_sequence:511083\n"
    )
    (one,) = samples(records)["out_of_sequence"]
    assert (one.entity, one.value, one.line) == ("link:mlx5_2:1", 511083.0, 2)


def test_ethtool_takes_its_interface_from_the_command() -> None:
    records = read(
        "root@node-a:~# ethtool -S ens13np0\nNIC statistics:\n     rx_prio3_pause: 18230411\n     link_down_events_phy: 1\nroot@node-a:~# ls\n"
    )
    (one,) = samples(records)["rx_prio3_pause"]
    assert (one.entity, one.node) == ("link:ens13np0:1", "node-a")


def test_ports_of_other_tools() -> None:
    text = (
        "Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t\t 2: INIT\n\tphys state:\t 5: LinkUp\n\tlink_layer:\t InfiniBand\n\n"
        "hca_id:\tmlx5_1\n\ttransport:\t\tInfiniBand (0)\n\t\tport:\t1\n\t\t\tstate:\t\tPORT_DOWN (1)\n\t\t\tlink_layer:\tInfiniBand\n"
    )
    assert {(one.entity, one.code) for one in seen(read(text), "port")} == {
        ("link:mlx5_0:1", "init"),
        ("link:mlx5_1:1", "down"),
    }


def test_interfaces_and_qos() -> None:
    records = read((LOGS / "network" / "interfaces-and-qos.txt").read_text())
    found = {
        one.attributes["name"]: (one.code, one.attributes["mtu"], one.attributes["carrier"])
        for one in seen(records, "interface")
    }
    assert found["ens5f0np0"] == ("up", "9000", "yes")
    assert found["ens6f0np0"] == ("down", "9000", "no")
    (pfc,) = seen(records, "pfc")
    assert (pfc.entity, pfc.attributes["enabled"], pfc.attributes["trust"], pfc.node) == (
        "link:ens5f0np0:1",
        "3",
        "dscp",
        "node-a",
    )
    assert any(
        isinstance(one, Relation) and (one.upper, one.lower) == ("nic:mlx5_0", "nic:ens5f0np0") for one in records
    )


@given(st.text(max_size=300))
def test_parsers_are_total(raw: str) -> None:
    for head in ("CA 'mlx5_0'", "DEV\tPORT\tINDEX\tGID", "# Port counters: Lid 1", "$ ethtool -S eth0", ""):
        list(infiniband.parse_block(Reader(f"{head}\n{raw}".encode(), 0, 1, "x")))
    list(interfaces.parse_block(Reader(f"$ mlnx_qos -i eth0\n{raw}".encode(), 0, 1, "x")))
    list(interfaces.parse_line(peel("x", 1, raw)))


def test_ethtool_says_whether_there_is_a_link() -> None:
    text = "$ ethtool ens5f0np0\nSettings for ens5f0np0:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tLink detected: no\n"
    (found,) = [one for one in read(text) if isinstance(one, Observation) and one.kind == "interface"]
    assert (found.code, found.attributes["carrier"], found.entity) == ("down", "no", "link:ens5f0np0:1")


def test_a_single_counter_that_cat_prints() -> None:
    text = "node-a:~$ cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err\n182736\n"
    (found,) = [one for one in read(text) if isinstance(one, Sample)]
    assert (found.metric, found.value, found.entity, found.node) == (
        "packet_seq_err",
        182736.0,
        "link:mlx5_0:1",
        "node-a",
    )


def test_sections_that_paste_joined_into_lines() -> None:
    text = (
        "$ ibstat | egrep '^CA|State|Rate|Link layer' | paste - - - -\n"
        "CA 'mlx5_0'\t\tState: Active\t\tRate: 400\t\tLink layer: InfiniBand\n"
        "CA 'mlx5_1'\t\tState: Down\t\tRate: 10\t\tLink layer: InfiniBand\n"
    )
    found = seen(read(text), "port")
    assert [(one.code, one.entity, one.attributes.get("gbps"), one.attributes["link_layer"]) for one in found] == [
        ("active", "link:mlx5_0:1", "400", "InfiniBand"),
        ("down", "link:mlx5_1:1", "10", "InfiniBand"),
    ]
