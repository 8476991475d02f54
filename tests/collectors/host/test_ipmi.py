"""ipmitool's event log and sensors."""

from __future__ import annotations

from collectors.host import ipmi
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

TEXT = (FIXTURES / "ipmi" / "sel-and-sdr.txt").read_text()


def test_event_log() -> None:
    events = observed(read(ipmi, TEXT), "sel")
    assert [(one.code, one.attributes["event"]) for one in events] == [
        ("power", "Failure detected"), ("power", "Presence detected"), ("memory", "Uncorrectable ECC (@DIMMG1(CPU2))"),
    ]  # fmt: skip
    assert events[0].time == 1_741_701_482.0


def test_sensors_outside_their_limits() -> None:
    sensors = observed(read(ipmi, TEXT), "sensor")
    assert [(one.code, one.attributes["sensor"]) for one in sensors] == [
        ("fan", "FAN3_F"), ("fan", "FAN4"), ("temperature", "Inlet Temp"),
    ]  # fmt: skip


def test_event_log_of_freeipmi() -> None:
    events = observed(read(ipmi, (FIXTURES / "ipmi" / "freeipmi-sel.txt").read_text()), "sel")
    assert [(one.code, one.attributes["event"].partition(" ;")[0]) for one in events] == [
        ("memory", "Uncorrectable memory error"), ("fan", "Lower Critical - going low"), ("power", "Power Supply Failure detected"),
        ("other", "OS Graceful Shutdown"),
    ]  # fmt: skip
    assert events[0].time == 1_707_621_164.0


def test_odd_input_yields_nothing() -> None:
    for text in (
        "FAN1 | 41h | ok  | 29.1 | 11760 RPM",
        "FAN7 | 47h | ns  | 29.7 | No Reading",
        "a | b | c",
        "5a1 | 99/99/99 | x",
        "1 | Xyz-11-2024 | x | Critical | y",
    ):
        assert read(ipmi, text) == []
