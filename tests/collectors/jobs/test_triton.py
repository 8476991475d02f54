"""Triton's table of models: wrapped cells are joined, and any end of the table is survived."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.block import Reader
from collectors.jobs import triton
from collectors.observation import Observation

LOG = Path(__file__).parents[3] / "fixtures" / "logs" / "serving" / "triton-trtllm-world-size.log"


def parse(text: str) -> list[Observation]:
    return list(triton.parse_block(Reader(text.encode(), 0, 1, "a")))


def test_wrapped_cells_are_joined() -> None:
    text = LOG.read_text()
    ready, broken = parse(text[text.index("| Model") :])
    assert (ready.code, ready.attributes["model"]) == ("READY", "preprocessing")
    assert broken.code == "UNAVAILABLE"
    assert "Assertion failed: mpiSize == tp * pp (/app/worldConfig.cpp:80)" in broken.attributes["reason"]
    assert (broken.line, broken.line_end) == (4, 6)


@pytest.mark.parametrize(
    "text",
    [
        "| Model | Version | Status |",
        "| Model | Version | Status |\n|\n||\n| x |\n",
        "| Model | Version | Status |\n\n",
    ],
)
def test_odd_tables_yield_nothing(text: str) -> None:
    assert parse(text) == []
