"""DCGM's boxes, link letters and engine log."""

from __future__ import annotations

from collectors.gpu import dcgm, dcgm_diagnosis, dcgm_policy
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

TEXT = (FIXTURES / "dcgm" / "diag-and-engine.txt").read_text()


def test_box_joins_cells_cut_in_mid_word() -> None:
    records = read(dcgm, TEXT)
    failed = [one for one in observed(records, "dcgm_test") if one.attributes["result"] == "fail"]
    assert [(one.code, one.entity) for one in failed] == [("gpu_memory", "gpu:dcgm-0")]
    (warning,) = observed(records, "dcgm_warning")
    assert "13.3 seconds started" in warning.attributes["message"]
    assert warning.line_end - warning.line == 2


def test_link_letters() -> None:
    records = read(dcgm, TEXT)
    assert [(one.entity, one.code, one.attributes["down"]) for one in observed(records, "nvlink_status")] == [
        ("gpu:dcgm-0", "down", "1"), ("gpu:dcgm-1", "up", "0"),
    ]  # fmt: skip


def test_engine_log() -> None:
    records = read(dcgm, TEXT)
    (health,) = observed(records, "dcgm_health")
    assert (health.code, health.entity) == ("Thermal", "gpu:dcgm-2")
    (code,) = observed(read(dcgm, "GPU 4: DCGM_FR_L1TAG_MISCOMPARE"), "dcgm_code")
    assert (code.code, code.entity) == ("DCGM_FR_L1TAG_MISCOMPARE", "gpu:dcgm-4")


def test_odd_input_yields_nothing() -> None:
    for text in ("| Diagnostic |", "|  NvLink Link Status  |", "ERROR [x:y] z", "DCGM_FR_"):
        assert read(dcgm, text) == []


def test_diagnostic_as_json() -> None:
    for name, version, gpu, test, code in (
        ("diag-3.json", "3.3.7", "gpu:dcgm-0", "gpu_memory", "DCGM_FR_UNCONTAINED_ERROR"),
        ("diag-4.json", "4.4.2", "gpu:dcgm-5", "memory", "DCGM_FR_PENDING_ROW_REMAP"),
    ):
        text = (FIXTURES / "dcgm" / name).read_text()
        records = read(dcgm_diagnosis, text)
        (failed,) = [one for one in observed(records, "dcgm_test") if one.attributes["result"] == "fail"]
        assert (failed.code, failed.entity, failed.attributes["version"]) == (test, gpu, version)
        (warning,) = observed(records, "dcgm_warning")
        assert warning.attributes["message"] in text.splitlines()[warning.line - 1]
        assert [one.code for one in observed(records, "dcgm_code")] == [code]
        one_line = " ".join(text.split())
        assert len(observed(read(dcgm_diagnosis, one_line), "dcgm_test")) == len(observed(records, "dcgm_test"))


def test_policy_violations() -> None:
    records = read(dcgm_policy, (FIXTURES / "dcgm" / "policy.txt").read_text())
    assert [(one.code, one.attributes["value"]) for one in observed(records, "dcgm_policy")] == [
        ("pcie", "99999"), ("ecc", "1"), ("thermal", "96"),
    ]  # fmt: skip
    assert all(one.time is not None for one in observed(records, "dcgm_policy"))


def test_odd_documents_yield_nothing() -> None:
    for text in (
        '"DCGM Diagnostic":',
        '{"DCGM Diagnostic": [1',
        '{"DCGM GPU Diagnostic": {"test_categories": [null, {"tests": 3}]}}',
    ):
        assert read(dcgm_diagnosis, text) == []
    for text in ("Timestamp: Wed Jan 28 00:34:23 2026\n", "x has violated policy manager values."):
        assert read(dcgm_policy, text) == []
