"""`ipmitool sdr list` in its short form: what is outside its limits is told, what is well is not."""

from __future__ import annotations

from collectors.host import ipmi
from collectors.observation import Observation
from collectors.prefix import peel
from collectors.registry import Registry

LINES = (
    "GPU1 Temp        | 45 degrees C      | ok",
    "GPU2 Temp        | 97 degrees C      | cr",
    "Fan1A            | 0 RPM             | nr",
    "PSU1 Status      | 0x01              | ok",
    "12V Rail         | 11.90 Volts       | ok",
)


def test_readings_outside_their_limits() -> None:
    found = [one for line in LINES for one in ipmi.parse_line(peel("a", 1, line)) if isinstance(one, Observation)]
    assert [
        (one.code, one.attributes["sensor"], one.attributes["reading"], one.attributes["state"]) for one in found
    ] == [
        ("temperature", "GPU2 Temp", "97 degrees C", "cr"),
        ("fan", "Fan1A", "0 RPM", "nr"),
    ]


def test_the_source_is_recognised() -> None:
    assert set(Registry().recognise(LINES)) == {"ipmi"}
