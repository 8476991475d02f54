"""Processes that are at other work while others stand in a collective, by their stacks."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import stack_phases
from diagnosis.facts import Facts

WAITS = "synchronize (torch/cuda/__init__.py) < barrier (torch/distributed/distributed_c10d.py) < save_checkpoint (train.py)"
SAVES = "read (urllib3/response.py) < upload_part (boto3/s3/transfer.py) < save_checkpoint (train.py)"
TRAINS = "forward (model.py) < train_step (train.py)"


def stack(line: int, frames: str, pid: str = "") -> Observation:
    attributes = {"frames": frames, "pid": pid}
    return Observation(
        "stack", "stack", "a", line, line + 3, frames, code="python", entity=f"process:{pid}", attributes=attributes
    )


def derived(*stacks: Observation) -> list[tuple[str, str, list[int]]]:
    return [
        (one.code, one.entity, [proof.line for proof in because])
        for one, because in stack_phases.derive(Facts(list(stacks)))
    ]


def test_the_one_that_saves_while_others_wait() -> None:
    found = derived(stack(1, WAITS, "10"), stack(5, SAVES, "11"), stack(9, TRAINS, "12"))
    assert found == [("checkpoint", "process:11", [5, 1])]


def test_without_anybody_who_waits_nothing_is_told() -> None:
    assert derived(stack(1, SAVES, "10"), stack(5, SAVES, "11")) == []


def test_most_of_the_processes_at_one_work_stall_nobody() -> None:
    assert derived(stack(1, WAITS, "10"), *(stack(line, SAVES, str(line)) for line in range(11, 31, 5))) == []


def test_kinds_of_work() -> None:
    kinds = {
        "evaluate (trainer.py) < main (train.py)": "evaluation",
        "compile (torch/_inductor/codecache.py) < forward (model.py)": "compilation",
        "map (datasets/arrow_dataset.py) < main (train.py)": "data preparation",
        "http_get (huggingface_hub/file_download.py) < hf_hub_download (x.py)": "download",
    }
    for frames, phase in kinds.items():
        assert [one[0] for one in derived(stack(1, WAITS, "10"), stack(5, frames, "11"))] == [phase]
