"""Progress lines of many trainers, the loss scaler, the straggler report and the allocator's message."""

from __future__ import annotations

import pytest

from collectors.jobs import cuda_oom, steps
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

PROGRESS = (FIXTURES / "training/progress.log").read_text("utf-8")


def test_steps_in_milliseconds() -> None:
    rows = [
        (one.line, one.attributes.get("step_ms"), one.attributes.get("data_ms"))
        for one in observed(read(steps, PROGRESS), "step")
    ]
    assert rows == [
        (1, "5210.8", None), (2, "94", "1"), (3, "1420", "44"), (4, "1310", "988"), (5, "138.1", "124.1"), (6, "2810", "2300"),
        (7, "5165.436", None),
    ]  # fmt: skip


def test_values_beside_the_time() -> None:
    first, second, *_ = observed(read(steps, PROGRESS), "step")
    assert (first.attributes["loss"], first.attributes["nan_iterations"], first.attributes["tflops"]) == (
        "2.204110e+00",
        "0",
        "412.1",
    )
    assert second.attributes["grad_norm"] == "nan"


def test_a_time_behind_a_name() -> None:
    (step,) = observed(
        read(steps, "[trainer:88] 2025-06-16 22:29:10,500 - INFO - {'loss': 2.31, 'step_time': 0.5}\n"), "step"
    )
    assert step.time == 1750112950.5


def test_loss_scale() -> None:
    scales = observed(read(steps, PROGRESS), "loss-scale")
    assert [one.attributes.get("next") for one in scales] == ["32", None, "32768.0"]


def test_straggler_report() -> None:
    (report,) = observed(read(steps, PROGRESS), "straggler-report")
    assert (report.entity, report.attributes["rtt_ratio"], report.attributes["lowest_clk"]) == (
        "rank:11",
        "5.433",
        "345",
    )


@pytest.mark.parametrize(
    ("text", "own", "held"),
    [
        ("(GPU 0; 7.92 GiB total capacity; 69.17 MiB already allocated; 24.56 MiB free; 86.00 MiB reserved in total by PyTorch)", "0.011", "0.986"),
        ("GPU 0 has a total capacty of 20.00 GiB of which 1.00 GiB is free. Process 7 has 14.00 GiB memory in use. Of the allocated memory 4.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.", "0.250", "0.700"),
    ],
)  # fmt: skip
def test_who_holds_the_card(text: str, own: str, held: str) -> None:
    (found,) = observed(
        read(cuda_oom, f"RuntimeError: CUDA out of memory. Tried to allocate 216.00 MiB. {text}\n"), "cuda-oom"
    )
    assert (found.entity, found.attributes["own_share"], found.attributes["held_share"]) == ("gpu:cuda-0", own, held)


@pytest.mark.parametrize("device", ["HIP", "NPU", "XPU"])
def test_builds_for_other_devices(device: str) -> None:
    name = "GPU" if device == "HIP" else device
    text = f"({name} 0; 60.97 GiB total capacity; 58.90 GiB already allocated; 1.05 GiB free; 59.20 GiB reserved in total by PyTorch)"
    (found,) = observed(
        read(cuda_oom, f"RuntimeError: {device} out of memory. Tried to allocate 2.00 GiB {text}\n"), "cuda-oom"
    )
    assert (found.entity, found.attributes["own_share"]) == ("gpu:cuda-0", "0.971")


def test_newest_wording() -> None:
    (found,) = observed(read(cuda_oom, PROGRESS), "cuda-oom")
    assert (found.entity, found.attributes["own_share"], found.attributes["largest_pid"]) == (
        "gpu:cuda-3",
        "0.951",
        "2521735",
    )


@pytest.mark.parametrize(
    "text",
    [
        "loss",
        "elapsed time per iteration (ms): x",
        "OVERFLOW! Rank",
        "Data: 1.0",
        "MnRtt/Rnk: x",
        "out of memory. Tried to allocate ",
        "data_time: 5",
    ],
)
def test_odd_lines_are_harmless(text: str) -> None:
    records = read(steps, text + "\n") + read(cuda_oom, text + "\n")
    assert all(one.attributes for one in observed(records, "step"))
    assert (
        observed(records, "loss-scale") == observed(records, "straggler-report") == observed(records, "cuda-oom") == []
    )


@pytest.mark.parametrize(
    ("text", "loss", "grad_norm"),
    [
        ('{"loss": 0.0, "acc": 0.0, "grad_norm": NaN, "learning_rate": 1.612e-05}', "0.0", "nan"),
        ('{"train/loss": NaN, "train/grad_norm": Infinity, "train/global_step": 100}', "nan", "inf"),
        (
            "[titan] 2025-03-02 10:12:40,512 - root - INFO - step: 920  loss:     nan  grad_norm:     nan  tps: 5,910",
            "nan",
            "nan",
        ),
        ("Epoch 0:  12%| | 120/1000 [00:41<05:02,  2.91it/s, v_num=3, train_loss=nan.0]", "nan", None),
        ("{'loss': '0', 'grad_norm': 'nan', 'learning_rate': '9.9e-05'}", "0", "nan"),
    ],
)
def test_losses_that_are_no_numbers(text: str, loss: str, grad_norm: str | None) -> None:
    found = observed(read(steps, text + "\n"), "step")
    assert [(one.attributes.get("loss"), one.attributes.get("grad_norm")) for one in found] == [(loss, grad_norm)]


@pytest.mark.parametrize(
    "text", ["{'eval_loss': nan, 'epoch': 1.0}", "best_loss: inf", "val_loss=nan", '"eval/loss": NaN']
)
def test_losses_of_evaluation_do_not_count(text: str) -> None:
    assert not [one for one in observed(read(steps, text + "\n"), "step") if "loss" in one.attributes]


def test_paddle_reader_cost() -> None:
    text = "global step 100, epoch: 1, loss: 0.611, avg_reader_cost: 2.11012 sec, avg_batch_cost: 2.51012 sec, ips: 12.7 sequences/sec\n"
    (one,) = observed(read(steps, text), "step")
    assert (one.attributes["data_ms"], one.attributes["step_ms"]) == ("2110.12", "2510.12")


def test_what_others_hold_is_told_without_the_allocators_own_figures() -> None:
    text = (
        "GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free. Process 7 has 76.00 GiB memory in use. "
        "Including non-PyTorch memory, this process has 2.00 GiB memory in use."
    )
    (found,) = observed(read(cuda_oom, f"CUDA out of memory. Tried to allocate 2.00 GiB. {text}\n"), "cuda-oom")
    assert (found.attributes["own_share"], found.attributes["held_share"]) == ("0.025", "0.963")


@pytest.mark.parametrize(
    "text",
    [
        "step=100 data_time=2.812 batch_time=3.101",
        "step 100: data 2.812s, compute 0.3s, total 3.101s",
        "2025-03-01 10:00:00 iter 100 data_time: 2.812 step_time: 3.101 loss: 2.3",
        "step: 100/5000 | loss: 2.31 | data_load: 2812.0ms | fwd: 120ms | bwd: 160ms | step: 3101ms",
        "[100/5000] loss=2.3 t_data=2.812 t_step=3.101",
        '{"step": 100, "loss": 2.3, "data_time": 2.812, "step_time": 3.101}',
        "INFO train step 100 took 3.101s (data 2.812s)",
        "step 100 data_wait_ms=2812 step_time_ms=3101",
    ],
)
def test_loops_of_ones_own(text: str) -> None:
    (one,) = observed(read(steps, text + "\n"), "step")
    assert (one.attributes["step_ms"], one.attributes["data_ms"]) == ("3101", "2812")


@pytest.mark.parametrize("text", ["loaded data 2 shards", "data: 5 files, total 12 MB", "step data_dir=/mnt/data"])
def test_what_only_speaks_of_data(text: str) -> None:
    assert not observed(read(steps, text + "\n"), "step")
