"""Timers of Megatron-LM, old and new, and of DeepSpeed."""

from __future__ import annotations

import pytest

from collectors.jobs import step_timers
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

TIMERS = (FIXTURES / "training/step-timers.log").read_text("utf-8")


def test_block_line_and_deepspeed() -> None:
    rows = [
        (one.line, one.line_end, *(one.attributes[name] for name in ("total_ms", "data_ms", "communication_ms")))
        for one in observed(read(step_timers, TIMERS), "step-timers")
    ]
    assert rows == [
        (12, 18, "5443.61", "817.78", "193.33"), (19, 19, "152.07", "5.24", "21.24"), (20, 20, "5885.39", "0", "3496"),
    ]  # fmt: skip


def test_the_most_of_all_ranks_alone_tells_nothing_of_communication() -> None:
    text = (
        "max time across ranks (ms):\n"
        "    forward-backward ...............................: 5177.15\n"
        "    batch-generator ................................: 817.78\n"
        "    all-grads-sync .................................: 193.63\n"
    )
    (one,) = observed(read(step_timers, text), "step-timers")
    assert (one.attributes["data_ms"], one.attributes["communication_ms"]) == ("817.78", "0")


@pytest.mark.parametrize(
    "text",
    [
        "time (ms) | ",
        "time (ms) | load-checkpoint: 0.47",
        "(min, max) time across ranks (ms):",
        "(min, max) time across ranks (ms):\n    model-and-optimizer-setup ......................: (1.0, 2.0)",
        "max time across ranks (ms):\n    forward-backward ....: (x, y)",
    ],
)
def test_other_timers_are_no_step(text: str) -> None:
    assert observed(read(step_timers, text + "\n"), "step-timers") == []
