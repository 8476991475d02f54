"""How much of a step is waiting for data."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import data_wait
from diagnosis.facts import Facts


def step(line: int, step_ms: float, data_ms: float) -> Observation:
    attributes = {"step_ms": f"{step_ms:g}", "data_ms": f"{data_ms:g}"}
    return Observation("training", "step", "a", line, line, "step", attributes=attributes)


def test_share_of_a_step_that_waits_for_data() -> None:
    steps = [step(1, 9000, 8900), *(step(line, 1000, 20) for line in range(2, 8))]
    ((found, because),) = list(data_wait.derive(Facts(steps)))
    assert (found.attributes["share"], found.attributes["data_ms"]) == ("0.020", "20")
    assert len(because) == 3


def test_the_longest_wait_for_data_is_cited() -> None:
    waits = (1, 1, 67544, 1, 2995, 1, 15193, 1)
    steps = [step(line, wait + 154, wait) for line, wait in enumerate(waits, 1)]
    ((_, because),) = list(data_wait.derive(Facts(steps)))
    assert 3 in [one.line for one in because]


def test_steps_that_do_not_tell_of_data_say_nothing() -> None:
    rows = [
        Observation("training", "step", "a", line, line, "step", attributes={"step_ms": "1000"}) for line in (1, 2, 3)
    ]
    assert list(data_wait.derive(Facts(rows))) == []


def test_a_wait_longer_than_its_step_is_another_figure() -> None:
    assert list(data_wait.derive(Facts([step(line, 1000, 3000) for line in (1, 2, 3)]))) == []
