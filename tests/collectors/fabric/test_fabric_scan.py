"""iblinkinfo, ibqueryerrors and ibnetdiscover: degraded links, error counters, which switch a host hangs on."""

from __future__ import annotations

import pytest

from collectors.fabric.fabric_names import End, port_name, read_end
from collectors.observation import Relation
from tests.collectors.fabric.reading import seen, take, take_log, values


@pytest.mark.parametrize(
    ("description", "port", "expected"),
    [
        ("node-a mlx5_5", "1", End("node-a", "mlx5_5", "1", "")),
        ("node-a.example.com HCA-2", "1", End("node-a", "HCA-2", "1", "")),
        ("node-a ibp11s0f0", "1", End("node-a", "ibp11s0f0", "1", "")),
        ("MF0;leaf-3:MQM9700/U1", "12", End("leaf-3", "P12", "1", "leaf-3")),
        ("MF0;dir-1:MCS8500/L16/U2", "20", End("dir-1", "P20", "1", "dir-1")),
        ("SwitchIB Mellanox Technologies", "5", End("SwitchIB-Mellanox-Technologies", "P5", "1", "SwitchIB-Mellanox-Technologies")),
        ("node-a/U1/P1", "", End("node-a", "HCA-1", "1", "")),
        ("leaf-1/L02/U1/P2", "", End("leaf-1", "L02-P2", "1", "leaf-1")),
        ("Se41d2d03004bcfb0/Ne41d2d03004bcfb0/P20", "", End("e41d2d03004bcfb0", "P20", "1", "e41d2d03004bcfb0")),
        ("Se41d2d03004bcfb0/Ne41d2d03004bcfb0/P1(node-a/mlx5_2/1)", "", End("node-a", "mlx5_2", "1", "")),
        ("", "", End()),
        ("Aggregation Node", "", End()),
    ],
)  # fmt: skip
def test_names(description: str, port: str, expected: End) -> None:
    assert read_end(description, port) == expected


def test_port_names_hold_no_slash() -> None:
    assert port_name("Ethernet12/1") == "Ethernet12-1"


def test_iblinkinfo() -> None:
    intake = take_log("ib-fabric/iblinkinfo.txt")
    assert intake.kind == "ib-fabric"
    slower, waiting = seen(intake.records, "fabric-link")
    assert (slower.code, slower.node, slower.entity) == ("slower", "node-c", "link:mlx5_2:1")
    assert (slower.attributes["could"], slower.attributes["switch"], slower.attributes["switch_port"]) == (
        "53.125 Gbps",
        "leaf-1",
        "P3",
    )
    assert (waiting.code, waiting.node) == ("init", "node-d")
    hangs = {(one.node, one.upper, one.lower) for one in intake.records if isinstance(one, Relation)}
    assert ("node-a", "link:mlx5_0:1", "switch:leaf-1") in hangs


@pytest.mark.parametrize(
    "line",
    [
        ('0x0000000000200005 "               leaf-r2 switch"      9   33[  ] ==( 4X           2.5 Gbps Active/  LinkUp)==>  '
         '0x0000000000200000      2    4[  ] "spine01 switch" (Could be 12X Could be 10.0 Gbps)'),
        '  12    7[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>      31    1[  ] "node-a mlx5_0" ( Could be 50.0 Gbps)',
    ],
)  # fmt: skip
def test_one_line_of_iblinkinfo(line: str) -> None:
    (link,) = seen(take(line).records, "fabric-link")
    assert link.code == "slower"


def test_two_readings_of_ibqueryerrors() -> None:
    intake = take_log("ib-fabric/ibqueryerrors-twice.txt")
    assert intake.kind == "ib-fabric"
    assert values(intake.records, "symbol_error") == {"node-a link:mlx5_0:1": [14.0, 1873.0]}
    assert values(intake.records, "link_downed") == {"leaf-1 link:P1:1": [8.0, 13.0]}


def test_ibnetdiscover() -> None:
    intake = take_log("ib-fabric/ibnetdiscover.txt")
    assert intake.kind == "ib-fabric"
    (narrow,) = seen(intake.records, "fabric-link")
    assert (narrow.code, narrow.node, narrow.entity, narrow.attributes["switch"]) == (
        "narrow",
        "node-c",
        "link:mlx5_5:1",
        "leaf-4",
    )
    assert sum(isinstance(one, Relation) for one in intake.records) == 3


def test_ports_without_cable_are_left_alone() -> None:
    rows = "".join(
        f'           2   {port:2}[  ] ==(                Down/ Polling)==>             [  ] "" ( )\n'
        for port in range(1, 30)
    )
    assert not seen(take(f"Switch: 0x506b4b0300820910 MF0;leaf-1:MSB7700/U1:\n{rows}").records, "fabric-link")
