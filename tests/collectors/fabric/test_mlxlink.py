"""mlxlink in text and JSON, and what switches say of their ports."""

from __future__ import annotations

from tests.collectors.fabric.reading import seen, take, take_log, values


def test_bad_signal() -> None:
    intake = take_log("mlxlink/mlx5-3-bad-signal.txt")
    assert intake.kind == "mlxlink"
    (port,) = seen(intake.records, "port")
    assert (port.code, port.node, port.entity, port.attributes["gbps"]) == ("active", "node-b", "link:mlx5_3:1", "400")
    (advice,) = seen(intake.records, "link-diagnosis")
    assert (advice.code, advice.attributes["opcode"]) == ("bad signal integrity", "15")
    (rate,) = seen(intake.records, "ber")
    assert (rate.attributes["rate"], rate.attributes["symbol_ber"]) == ("3e-10", "3E-10")
    (optics,) = seen(intake.records, "optics")
    assert (optics.code, optics.attributes["value"]) == ("rx-power-low-alarm", "-14.2")
    assert values(intake.records, "link_downed") == {"node-b link:mlx5_3:1": [12.0]}


def test_json() -> None:
    intake = take_log("mlxlink/healthy.json")
    assert intake.kind == "mlxlink"
    assert [one.code for one in seen(intake.records, "link-diagnosis")] == ["no issue was observed"]
    assert [one.attributes["rate"] for one in seen(intake.records, "ber")] == ["0"]
    assert not seen(intake.records, "optics")


def test_colours_and_two_ports() -> None:
    block = (
        "Operational Info\n----\nState                              : {}\nPhysical state                     : LinkUp\n"
    )
    text = (
        "$ mlxlink -d mlx5_0\n"
        + block.format("\x1b[32mActive\x1b[0m")
        + "$ mlxlink -d mlx5_1\n"
        + block.format("\x1b[31mPolling\x1b[0m")
    )
    ports = seen(take(text).records, "port")
    assert [(one.entity, one.code) for one in ports] == [("link:mlx5_0:1", "active"), ("link:mlx5_1:1", "down")]


def test_switches() -> None:
    table = "Interface     Code     Status\n---------     ----     ------\nIB1/12        15       Bad signal integrity.\nIB1/13        1024     Cable is unplugged.\n"
    first, second = seen(take(table).records, "link-diagnosis")
    assert (first.code, first.entity, second.code) == ("bad signal integrity", "link:IB1-12:1", "cable is unplugged")
    (one,) = seen(take("      Troubleshooting Info: No issue was observed.\n").records, "link-diagnosis")
    assert one.code == "no issue was observed"


def test_slower_than_enabled_and_limited_by_the_cable() -> None:
    below = seen(take_log("mlxlink/edr-cable.txt").records, "link-below")
    assert [(one.code, one.entity, one.attributes["gbps"], one.attributes["enabled_gbps"]) for one in below] == [
        ("speed", "link:mlx5_0:1", "100", "200"),
        ("cable", "link:mlx5_0:1", "100", "200"),
    ]
    fields = "Enabled Link Speed (Ext.)          : 0x000017f2(200G,100G_2X,100G_4X,50G_1X)\n"
    text = "$ mlxlink -d mlx5_0\nOperational Info\n----\nState                              : Active\nSpeed                              : {}\n"
    assert [one.code for one in seen(take(text.format("100G") + fields).records, "link-below")] == ["speed"]
    assert not seen(take(text.format("200G") + fields).records, "link-below")
