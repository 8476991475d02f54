"""Fabric Manager's log."""

from __future__ import annotations

from collectors.gpu import fabric_manager
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

TEXT = (FIXTURES / "fabric-manager" / "fabricmanager.log").read_text()


def test_log() -> None:
    found = observed(read(fabric_manager, TEXT), "fabric_manager")
    assert [one.code for one in found] == [
        "started", "configured", "nvswitch-nonfatal", "nvswitch-fatal", "multicast", "gpu-nvlink-fatal", "topology",
    ]  # fmt: skip
    fatal = found[3]
    assert (fatal.entity, fatal.attributes["sxid"], fatal.attributes["port"]) == (
        "nvswitch:0000:86:00.0",
        "20034",
        "33",
    )
    assert fatal.time == 1734667960.0


def test_error_over_several_lines() -> None:
    one = observed(read(fabric_manager, TEXT), "fabric_manager")[5]
    assert (one.line, one.line_end) == (9, 18)
    assert (one.attributes["module"], one.attributes["port"], one.attributes["reason"]) == ("3", "4", "0x0A")


def test_odd_input_yields_nothing() -> None:
    for text in (
        "[ERROR] [tid 1] x",
        "[Dec 19 2024 22:08:53] [INFO] [tid 1570] Logging level = 4",
        "[x] [ERROR] [tid 9] y",
    ):
        assert read(fabric_manager, text) == []
