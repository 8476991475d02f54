"""DCGM's boxes, link letters and engine log."""

from __future__ import annotations

from collectors import dcgm
from tests.collectors.gpu_reading import FIXTURES, observed, read

TEXT = (FIXTURES / "dcgm" / "diag-and-engine.txt").read_text()


def test_box_joins_cells_cut_in_mid_word() -> None:
    records = read(dcgm, TEXT)
    failed = [one for one in observed(records, "dcgm_test") if one.attributes["result"] == "fail"]
    assert [(one.code, one.entity) for one in failed] == [("gpu_memory", "gpu:0")]
    (warning,) = observed(records, "dcgm_warning")
    assert "13.3 seconds started" in warning.attributes["message"]
    assert warning.line_end - warning.line == 2


def test_link_letters() -> None:
    records = read(dcgm, TEXT)
    assert [(one.entity, one.code, one.attributes["down"]) for one in observed(records, "nvlink_status")] == [
        ("gpu:0", "down", "1"), ("gpu:1", "up", "0"),
    ]  # fmt: skip


def test_engine_log() -> None:
    records = read(dcgm, TEXT)
    (health,) = observed(records, "dcgm_health")
    assert (health.code, health.entity) == ("Thermal", "gpu:2")
    (code,) = observed(read(dcgm, "GPU 4: DCGM_FR_L1TAG_MISCOMPARE"), "dcgm_code")
    assert (code.code, code.entity) == ("DCGM_FR_L1TAG_MISCOMPARE", "gpu:4")


def test_odd_input_yields_nothing() -> None:
    for text in ("| Diagnostic |", "|  NvLink Link Status  |", "ERROR [x:y] z", "DCGM_FR_"):
        assert read(dcgm, text) == []
