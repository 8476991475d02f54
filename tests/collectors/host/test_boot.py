"""When a host was started, as its kernel and its commands tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.host import boot
from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation
from collectors.registry import Registry
from collectors.scan import Scanner

SAMPLE = Path(__file__).parents[3] / "fixtures" / "logs" / "boot" / "three-ways.txt"


def read(text: str) -> list[Observation]:
    registry = Registry((boot,))
    intake = read_inputs([text_input("a", text)], Scanner(registry.patterns()), registry, now=1_764_547_200.0)[0]
    return [one for one in intake.records if isinstance(one, Observation) and one.kind == "boot-time"]


def test_the_sample() -> None:
    found = read(SAMPLE.read_text("utf-8"))
    assert [(one.code, one.line) for one in found] == [("rtc", 4), ("uptime -s", 7), ("who -b", 9)]
    assert [float(one.attributes["boot"]) for one in found] == pytest.approx(
        [1737434502.715684, 1737434502.0, 1737434460.0]
    )


@pytest.mark.parametrize(
    "text",
    [
        "rtc_cmos 00:02: setting system clock to 2025-01-21T04:41:44 UTC (1737434504)",  # no seconds since boot
        "[    1.2] setting system clock to 2025-99-21T04:41:44 UTC",
        "         system boot  2025-13-41 29:41",
        "$ uptime -s",
        "$ uptime -s\n 04:41:42 up 3 days",
    ],
)
def test_odd_input_yields_nothing(text: str) -> None:
    assert read(text) == []
