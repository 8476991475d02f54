"""What a job computes against its GPUs' peak."""

from __future__ import annotations

from collectors.observation import Observation, Sample
from diagnosis.analyses import step_work
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


def derived(*facts: Observation) -> list[Observation]:
    return [one for one, _ in step_work.derive(Facts(list(facts), reference=REFERENCE))]


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
    ((found, because),) = list(step_work.derive(facts))
    assert (found.code, found.attributes["peak"], len(because)) == ("ordinary", "312", 3)


def test_shares_that_jump_are_not_low() -> None:
    assert [one.code for one in derived(LARGE, H100, *run("tflops", [9, 41, 400, 41, 390, 41, 41, 395]))] == [
        "ordinary"
    ]
