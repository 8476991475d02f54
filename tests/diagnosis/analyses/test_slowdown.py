"""Runs that become slower, and runs that only look so."""

from __future__ import annotations

import pytest

from collectors.observation import Observation
from diagnosis.analyses import slowdown
from diagnosis.facts import Facts


def step(line: int, **values: float) -> Observation:
    attributes = {name: f"{value:g}" for name, value in values.items()}
    return Observation("training", "step", "a", line, line, "step", attributes=attributes)


def run(figure: str, values: list[float]) -> list[Observation]:
    return [step(line, **{figure: value}) for line, value in enumerate(values, 10)]


def derived(steps: list[Observation]) -> list[Observation]:
    return [one for one, _ in slowdown.derive(Facts(steps))]


def test_a_slowdown_must_last() -> None:
    (found,) = derived(run("step_ms", [5200, 8900, 9000]))
    assert found.attributes["factor"] == "1.731"
    assert derived(run("step_ms", [150000, 5200, 5210, 5190, 5200, 5205])) == []  # warming up


@pytest.mark.parametrize("figure", ["tflops", "mfu", "rate", "step_ms"])
def test_a_figure_that_fell_and_stayed_low(figure: str) -> None:
    normal, slow = (1000.0, 1800.0) if figure == "step_ms" else (40.0, 20.0)
    values = [normal * 3, *[normal] * 40, *[slow] * 6]
    (found,) = derived(run(figure, values))
    assert found.attributes["figure"] == figure
    assert 1.7 < float(found.attributes["factor"]) < 2.1


@pytest.mark.parametrize(
    "values",
    [
        [40.0] * 50,
        [*[40.0] * 20, *[20.0] * 10, *[40.0] * 20],  # over
        [40.0, 20.0] * 25,  # up and down
        [*[40.0] * 47, 20.0, 20.0, 20.0],  # too short to tell
        [*[5.0] * 5, *[40.0] * 45],  # warming up
        [*[40.0] * 25, *[31.0] * 25],  # not by half
        [40.0, 40.0, 20.0, 20.0],
    ],
)
def test_what_is_no_lasting_slowdown(values: list[float]) -> None:
    assert derived(run("tflops", values)) == []


def test_a_run_is_told_once() -> None:
    assert len(derived(run("step_ms", [*[1000.0] * 20, *[2000.0] * 20]))) == 1


def test_growing_batches_are_no_slowdown() -> None:
    growing = [step(line, step_ms=ms, tflops=400) for line, ms in enumerate((1000, 1000, 2000, 2000, 4000, 4000))]
    (found,) = derived(growing)
    assert found.attributes["factor"] == "1.000"
