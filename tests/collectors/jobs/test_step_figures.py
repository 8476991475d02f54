"""What trainers print of the work of a step: TFLOP/s, MFU, samples or tokens a second."""

from __future__ import annotations

import pytest

from collectors.jobs import steps
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

THROUGHPUT = (FIXTURES / "training/throughput.log").read_text("utf-8")


def test_work_of_a_step_in_all_forms() -> None:
    rows = [
        (one.line, *(one.attributes.get(name) for name in ("step_ms", "tflops", "mfu", "rate")))
        for one in observed(read(steps, THROUGHPUT), "step")
    ]
    assert rows == [
        (4, None, "323.92", "32.75", "5593"), (5, None, None, "10.46", "1786"), (6, "5390", "2347", None, None),
        (7, "6080", "1249", None, None), (8, "11500", "38.3", None, "11400"), (9, "13360", "305.127", None, "3679.158"),
        (10, "9876.5", "150.3", None, "51.234"), (11, "5355.1", "137.11", None, "17.927"),
        (12, None, "180.4572541", None, "3345.72"), (13, None, "2.77", None, None), (14, "747.15", None, "36.63", None),
        (15, "4187.58", None, "32.2", None), (16, "2734.72", None, None, None), (17, None, None, None, "74.68528989"),
        (18, "1211", None, None, "26.424"), (19, "1920", "402.1", None, None), (20, None, None, "51", "118904"),
        (21, None, None, "45.12", None),
    ]  # fmt: skip


def test_steps_are_numbered() -> None:
    found = [one.attributes.get("step") for one in observed(read(steps, THROUGHPUT), "step")]
    assert found[:6] == ["210", "10", None, "45", "327281", "10"]


@pytest.mark.parametrize(
    "text",
    [
        "mfu: n/a",
        "tflops: -",
        "MFU:",
        "Peak FLOPS used for computing MFU: 9.890e+14",
        "TFLOP/s/GPU",
        "TFLOPS_per_GPU: x",
        "TFLOPs: 1,2,3,",
        "elapsed_time_per_iteration_ms: K",
    ],
)
def test_odd_lines_give_no_mfu(text: str) -> None:
    assert all("mfu" not in one.attributes for one in observed(read(steps, text + "\n"), "step"))
