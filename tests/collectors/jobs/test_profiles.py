"""Totals of a PyTorch profile."""

from __future__ import annotations

import pytest

from collectors.jobs import profiles
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read


def test_totals() -> None:
    (one,) = observed(read(profiles, (FIXTURES / "training/profile.txt").read_text("utf-8")), "profile")
    assert one.attributes == {"cpu_ms": "5010", "cuda_ms": "206.101", "share": "0.0411"}
    assert (one.line, one.line_end) == (7, 8)


def test_of_before_1_13() -> None:
    (one,) = observed(read(profiles, "Self CPU time total: 812.000us\nCUDA time total: 800.000us\n"), "profile")
    assert one.attributes["share"] == "0.9852"


@pytest.mark.parametrize(
    "text",
    [
        "Self CPU time total: 5.010s\n",
        "Self CPU time total: 5.010s\nloss 1\n",
        "Self CPU time total: 0.0us\nSelf CUDA time total: 1ms\n",
    ],
)
def test_odd_input_yields_nothing(text: str) -> None:
    assert observed(read(profiles, text), "profile") == []
