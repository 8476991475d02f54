"""What a job computes against its GPUs' peak, figures that fall late, and shares of a step."""

from __future__ import annotations

import pytest

from collectors.observation import Observation, Sample
from diagnosis.analyses import pace, step_speed
from diagnosis.facts import Facts
from diagnosis.rulebook import find_rules_folder
from diagnosis.rulebook.reference import load_reference

REFERENCE = load_reference(find_rules_folder())

LARGE = Observation("training", "model-size", "a", 1, 1, "size", attributes={"parameters": "8030261248"})
H100 = Observation("training", "run-gpu", "a", 2, 2, "card", code="NVIDIA H100 80GB HBM3")


def step(line: int, **values: float) -> Observation:
    attributes = {name: f"{value:g}" for name, value in values.items()}
    return Observation("training", "step", "a", line, line, "step", attributes=attributes)


def run(figure: str, values: list[float]) -> list[Observation]:
    return [step(line, **{figure: value}) for line, value in enumerate(values, 10)]


def derived(*facts: Observation, kind: str = "step-work") -> list[Observation]:
    return [one for one, _ in step_speed.derive(Facts(list(facts), reference=REFERENCE)) if one.kind == kind]


def test_a_large_model_far_below_the_peak() -> None:
    (found,) = derived(LARGE, H100, *run("tflops", [3, 41, 42, 41, 41]))
    assert (found.code, found.attributes["percent"], found.attributes["peak"]) == ("low", "4.1", "989")


def test_a_third_of_the_peak_is_ordinary_and_warm_up_does_not_count() -> None:
    (found,) = derived(LARGE, H100, *run("tflops", [3, 341, 342, 341]))
    assert (found.code, found.attributes["share"]) == ("ordinary", "0.345")


def test_a_small_model_or_one_of_unknown_size_is_not_judged() -> None:
    small = Observation("training", "model-size", "a", 1, 1, "size", attributes={"parameters": "123590000"})
    assert [one.code for one in derived(small, H100, *run("tflops", [41] * 5))] == ["unknown"]
    assert [one.code for one in derived(H100, *run("tflops", [41] * 5))] == ["unknown"]


def test_hidden_size_of_another_input_tells_the_size() -> None:
    wide = Observation("training", "model-size", "b", 1, 1, "size", attributes={"hidden": "8192"})
    assert [one.code for one in derived(wide, H100, *run("tflops", [41] * 5))] == ["low"]


def test_experts_reach_less() -> None:
    experts = Observation("training", "model-size", "a", 3, 3, "size", attributes={"experts": "64"})
    assert [one.code for one in derived(LARGE, experts, H100, *run("tflops", [70] * 5))] == ["ordinary"]
    assert [one.code for one in derived(LARGE, experts, H100, *run("tflops", [20] * 5))] == ["low"]


def test_without_a_peak_nothing_is_said() -> None:
    assert derived(LARGE, *run("tflops", [41] * 5)) == []
    assert derived(LARGE, *run("mfu", [4] * 5)) == []
    slice_ = Observation("training", "run-gpu", "a", 2, 2, "card", code="NVIDIA H100 80GB HBM3 MIG 1g.10gb")
    assert derived(LARGE, slice_, *run("tflops", [41] * 5)) == []


def test_the_peak_that_the_program_counts_with() -> None:
    stated = Observation("training", "run-peak", "a", 3, 3, "peak", attributes={"tflops": "989"})
    assert [one.code for one in derived(LARGE, stated, *run("tflops", [41] * 5))] == ["low"]
    both = [step(line, tflops=41, mfu=4.15) for line in range(10, 15)]
    assert [one.code for one in derived(LARGE, *both)] == ["low"]
    unknown_card = [step(line, tflops=12.9, mfu=4.15) for line in range(10, 15)]  # counted as an A100
    assert derived(LARGE, *unknown_card) == []


def test_the_slowest_gpu_of_the_inputs_is_the_measure() -> None:
    sample = Sample("metrics", "DCGM_FI_DEV_GPU_UTIL", 99.0, "b", 1, labels={"modelName": "NVIDIA A100-SXM4-80GB"})
    facts = Facts([LARGE, H100, *run("tflops", [41] * 5)], [sample], reference=REFERENCE)
    ((found, because),) = list(step_speed.derive(facts))
    assert (found.code, found.attributes["peak"], len(because)) == ("ordinary", "312", 3)


def test_shares_that_jump_are_not_low() -> None:
    assert [one.code for one in derived(LARGE, H100, *run("tflops", [9, 41, 400, 41, 390, 41, 41, 395]))] == [
        "ordinary"
    ]


@pytest.mark.parametrize("figure", ["tflops", "mfu", "rate", "step_ms"])
def test_a_figure_that_fell_and_stayed_low(figure: str) -> None:
    normal, slow = (1000.0, 1800.0) if figure == "step_ms" else (40.0, 20.0)
    values = [normal * 3, *[normal] * 40, *[slow] * 6]
    (found,) = derived(*run(figure, values), kind="slowdown")
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
    assert derived(*run("tflops", values), kind="slowdown") == []


def test_what_pace_told_is_not_told_twice() -> None:
    facts = Facts(run("step_ms", [*[1000.0] * 20, *[2000.0] * 20]))
    for found, because in list(pace.derive(facts)):
        facts.add(found, because)
    assert len(facts.by_kind["slowdown"]) == 1
    assert [one for one, _ in step_speed.derive(facts) if one.kind == "slowdown"] == []


def test_growing_batches_are_no_slowdown() -> None:
    growing = [step(line, step_ms=ms, tflops=400) for line, ms in enumerate((1000, 1000, 2000, 2000, 4000, 4000))]
    (found,) = [one for one, _ in pace.derive(Facts(growing)) if one.kind == "slowdown"]
    assert found.attributes["factor"] == "1.000"


def test_shares_of_a_step_by_timers() -> None:
    timers = [
        Observation(
            "training", "step-timers", "a", line, line, "t",
            attributes={"total_ms": "5000", "data_ms": f"{data}", "communication_ms": "0"},
        )
        for line, data in enumerate((4900, 2000, 2100, 1900))
    ]  # fmt: skip
    ((found, because),) = list(step_speed.derive(Facts(timers)))
    assert (found.kind, found.code, found.attributes["share"], found.attributes["ms"]) == (
        "step-share",
        "data",
        "0.400",
        "2000",
    )
    assert [one.line for one in because] == [1]
