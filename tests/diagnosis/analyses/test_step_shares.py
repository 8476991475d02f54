"""Shares of a step by the trainer's own timers."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import step_shares
from diagnosis.facts import Facts


def test_shares_of_a_step_by_timers() -> None:
    timers = [
        Observation(
            "training", "step-timers", "a", line, line, "t",
            attributes={"total_ms": "5000", "data_ms": f"{data}", "communication_ms": "0"},
        )
        for line, data in enumerate((4900, 2000, 2100, 1900))
    ]  # fmt: skip
    ((found, because),) = list(step_shares.derive(Facts(timers)))
    assert (found.kind, found.code, found.attributes["share"], found.attributes["ms"]) == (
        "step-share",
        "data",
        "0.400",
        "2000",
    )
    assert [one.line for one in because] == [1]
