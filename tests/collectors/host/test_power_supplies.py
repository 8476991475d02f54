"""What dmidecode says of power supplies."""

from __future__ import annotations

from collectors.block import Reader
from collectors.host import power_supplies
from collectors.observation import Observation

TEXT = "System Power Supply\n\tLocation: Internal\n\tName: PSU1\n\tMax Power Capacity: {}\n\tStatus: {}\n"


def read(text: str) -> list[Observation]:
    reader = Reader(text.encode(), 0, 1, "x")
    return [one for one in power_supplies.parse_block(reader) if isinstance(one, Observation)]


def test_supply() -> None:
    (found,) = read(TEXT.format("490 W", "Present, OK"))
    assert (found.kind, found.attributes["watts"], found.line) == ("supply", "490", 4)


def test_bay_without_a_supply_or_a_figure() -> None:
    for watts, status in (("Unknown", "Present, OK"), ("490 W", "Not Present"), ("0 W", "Present, OK")):
        assert read(TEXT.format(watts, status)) == []
    assert read("System Power Supply\n") == []
