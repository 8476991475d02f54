"""Size of the model and name of the GPU, from the beginning of a training log."""

from __future__ import annotations

import pytest

from collectors.jobs import model_size
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

START = (FIXTURES / "training/step-timers.log").read_text("utf-8")
TITAN = (FIXTURES / "training/throughput.log").read_text("utf-8")


def test_sizes_in_all_forms() -> None:
    rows = [dict(one.attributes) for one in observed(read(model_size, START), "model-size")]
    assert rows == [
        {"parameters": "1204838912"}, {"hidden": "4096"}, {"experts": "8"}, {"parameters": "8030261248"},
        {"parameters": "6740000000"}, {"parameters": "8051232768"}, {"parameters": "8000000000"}, {"parameters": "123590000"},
        {"parameters": "15933000000"}, {"parameters": "751632384", "experts": "3000000000"},
    ]  # fmt: skip


def test_card_and_peak() -> None:
    records = read(model_size, TITAN)
    assert [one.code for one in observed(records, "run-gpu")] == ["NVIDIA H100 80GB HBM3"]
    assert [one.attributes["tflops"] for one in observed(records, "run-peak")] == ["989"]
    assert [one.attributes["parameters"] for one in observed(records, "model-size")] == ["8030261248"]


def test_colours_do_not_hide_a_size() -> None:
    text = "[titan] INFO - \x1b[34mModel llama3 8B \x1b[31msize: 8,030,261,248 total parameters\x1b[39m\n"
    assert [one.attributes["parameters"] for one in observed(read(model_size, text), "model-size")] == ["8030261248"]


@pytest.mark.parametrize(
    "text",
    [
        "number of parameters on (tensor, pipeline) model parallel rank (0, 0): none",
        "Total parameter count: dense ,",
        "CUDA capacity: unknown",
        "Peak FLOPS used for computing MFU: inf",
        "hidden_size ........ None",
        "size: ,,,,,,, total parameters",
    ],
)
def test_odd_lines_are_harmless(text: str) -> None:
    assert read(model_size, text + "\n") == []
