"""Alarms of transceivers as ethtool -m shows them."""

from __future__ import annotations

from tests.collectors.fabric.reading import seen, take, take_log


def test_sample_log() -> None:
    intake = take_log("optics/ethtool-m-rx-power-low.txt")
    assert intake.kind == "optics"
    alarm, warning = seen(intake.records, "optics")
    assert (alarm.code, warning.code) == ("rx-power-low-alarm", "rx-power-low-warning")
    assert (alarm.node, alarm.entity, alarm.attributes["lanes"], alarm.attributes["rx_dbm"]) == (
        "node-b",
        "link:ens5f0np0:1",
        "1",
        "-20.00",
    )


def test_healthy_module() -> None:
    text = (
        "# ethtool -m enp2s0f0\n    Identifier                                : 0x03 (SFP)\n"
        "    Laser output power                        : 0.5832 mW / -2.34 dBm\n"
        "    Receiver signal average optical power     : 0.5730 mW / -2.42 dBm\n"
        "    Laser rx power low alarm                  : Off\n    Laser rx power low alarm threshold        : 0.0646 mW / -11.90 dBm\n"
    )
    (one,) = seen(take(text).records, "optics")
    assert (one.code, one.attributes["rx_dbm"], one.attributes["tx_dbm"]) == ("ok", "-2.42", "-2.34")


def test_all_flags_at_once_are_no_alarm() -> None:
    names = [
        f"Laser {what} {side} {level}"
        for what in ("output power", "rx power")
        for side in ("high", "low")
        for level in ("alarm", "warning")
    ]
    text = "    Identifier                                : 0x03 (SFP)\n" + "".join(
        f"    {name:41} : On\n" for name in names
    )
    assert not seen(take(text).records, "optics")


def test_passive_copper() -> None:
    assert not seen(
        take(
            "\tIdentifier                                : 0x11 (QSFP28)\n\tVendor name                               : Amphenol\n"
        ).records,
        "optics",
    )
