"""PyTorch's failures are read in all their generations, and what a job was busy with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.block import Reader
from collectors.jobs import training, training_phases
from collectors.observation import Observation, Record
from collectors.prefix import peel


def read(raw: str) -> list[Record]:
    return list(training.parse_line(peel("x.log", 1, raw)))


def one(raw: str) -> Observation:
    (found,) = read(raw)
    assert isinstance(found, Observation)
    return found


TAIL = "OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800572 milliseconds before timing out."


@pytest.mark.parametrize(
    ("raw", "rank", "sequence"),
    [
        (f"[Rank 1] Watchdog caught collective operation timeout: WorkNCCL({TAIL}", "1", None),
        (f"[E ProcessGroupNCCL.cpp:475] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, {TAIL}", "2", "2"),
        ((f"[rank9]:[E1026 04:01:29.500801336 ProcessGroupNCCL.cpp:683] [Rank 1] Watchdog caught collective operation timeout: "
         f"WorkNCCL(SeqNum=5, {TAIL}"), "9", "5"),
        ((f"97%|##| 3/3 [00:01<00:00][rank7]:[E901 05:20:03.398331961 ProcessGroupNCCL.cpp:2268] [Rank 7] Watchdog caught collective "
         f"operation timeout: WorkNCCL(SeqNum=6, {TAIL}"), "7", "6"),
    ],
)  # fmt: skip
def test_watchdog_of_every_generation(raw: str, rank: str, sequence: str | None) -> None:
    found = one(raw)
    assert (found.kind, found.entity, found.attributes.get("sequence")) == (
        "watchdog-timeout",
        f"rank:{rank}",
        sequence,
    )
    assert found.attributes["timeout_ms"] == "1800000"


@pytest.mark.parametrize(
    ("raw", "enqueued", "completed", "code"),
    [
        ("[PG 0 Rank 1] Timeout at NCCL work: 6075, last enqueued NCCL work: 6139, last completed NCCL work: 6074.", "6139", "6074", "waiting"),
        ("[PG ID 1 PG GUID 1 Rank 0]  failure detected by watchdog at work sequence id: 7 PG status: last enqueued work: 9, last completed work: 6",
         "9", "6", "waiting"),
        ("[PG ID 0 PG GUID 0(default_pg) Rank 0] Received a dump signal. Last enqueued NCCL work: 4, last completed NCCL work: 4.This is",
         "4", "4", "seen"),
    ],
)  # fmt: skip
def test_progress(raw: str, enqueued: str, completed: str, code: str) -> None:
    found = one(raw)
    assert (found.kind, found.code) == ("progress", code)
    assert (found.attributes["enqueued"], found.attributes["completed"]) == (enqueued, completed)


@pytest.mark.parametrize(
    ("raw", "kind", "code"),
    [
        (
            "[rank11]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.35 GiB.",
            "exception",
            "OutOfMemoryError",
        ),
        (
            "(Worker pid=1, ip=10.0.0.8) ERROR 08-15 08:50:03 [worker_base.py:620] RuntimeError: Gloo connectFullMesh failed",
            "exception",
            "RuntimeError",
        ),
        (
            "E1026 03:51:33.1 2 torch/api.py:882] failed (exitcode: -9) local_rank: 3 (pid: 25) of binary: /usr/bin/python",
            "exit",
            "-9",
        ),
        ("srun: error: node-7: tasks 12-15: Killed", "exit", "-9"),
        ("srun: error: node-7: task 12: Exited with exit code 1", "exit", "1"),
        (
            "[E socket.cpp:957] [c10d] The client socket has timed out after 300000ms while trying to connect to (m-0, 23456).",
            "rendezvous",
            "timed-out",
        ),
        (
            "[c10d] The client socket has failed to connect to any network address of (node-a, 29500).",
            "rendezvous",
            "failed",
        ),
    ],
)
def test_other_failures(raw: str, kind: str, code: str) -> None:
    found = one(raw)
    assert (found.kind, found.code) == (kind, code)


@pytest.mark.parametrize(
    "raw",
    [
        "[W socket.cpp:752] [c10d] The client socket has failed to connect to [node-719]:29500 (errno: 22 - Invalid argument).",
        "[W socket.cpp:752] [c10d] The client socket cannot be initialized to connect to [localhost]:29500 (errno: 97 - Address family).",
        "no errors here", "Watchdog caught collective operation timeout", "",
    ],
)  # fmt: skip
def test_harmless_lines_yield_nothing(raw: str) -> None:
    assert read(raw) == []


def test_torchrun_block_names_host_and_rank() -> None:
    text = (
        b"Root Cause (first observed failure):\n[0]:\n  time      : 2025-10-26_03:51:31\n  host      : node-c.example.com\n"
        b"  rank      : 11 (local_rank: 3)\n  exitcode  : -9 (pid: 25)\n  error_file: <N/A>\n=====\nafter\n"
    )
    reader = Reader(text, 0, 5, "x.log")
    found = next(record for record in training.parse_block(reader) if isinstance(record, Observation))
    assert (found.kind, found.code, found.entity, found.node, found.line, found.line_end) == (
        "exit",
        "-9",
        "rank:11",
        "node-c",
        5,
        11,
    )
    assert reader.next() == "====="


@pytest.mark.parametrize(
    ("raw", "phase", "edge"),
    [
        (
            "97%|#| 12000/12360 [38:13:01<1:11:20][INFO|trainer.py:3993] 2025-09-01 05:10:01,377 >> Saving model checkpoint to out/c-12000",
            "checkpoint",
            "begin",
        ),
        ("INFO:torchtune.utils._logging:Saving checkpoint. This may take some time.", "checkpoint", "begin"),
        ("saving checkpoint at iteration   20000 to /data/ckpt in torch format", "checkpoint", "begin"),
        ("  successfully saved checkpoint at iteration   20000 to /data/ckpt", "checkpoint", "end"),
        ("***** Running Evaluation *****", "evaluation", "begin"),
        ("2026-07-22 18:20:04,602 INFO trainer rank=0 running validation: 30 datasets", "evaluation", "begin"),
        ("2025-09-01 05:10:01 - INFO - rank 0: starting validation", "evaluation", "begin"),
        ("Validation DataLoader 0:  12%|#2        | 120/1000 [25:11<3:04:00, 12.5s/it]", "evaluation", "begin"),
        ("Validation DataLoader 0: 100%|##########| 1000/1000 [25:11<00:00, 12.5s/it]", "evaluation", "end"),
        ("Running tokenizer on dataset (num_proc=16):  12%|##", "data preparation", "begin"),
        ("Building extension module fused_adam...", "compilation", "begin"),
    ],
)
def test_phases(raw: str, phase: str, edge: str) -> None:
    (found,) = training_phases.parse_line(peel("x.log", 1, raw))
    assert (found.code, found.attributes["edge"]) == (phase, edge)


def test_a_phase_names_its_rank() -> None:
    raw = "2026-07-22 18:20:04,602 INFO trainer rank=0 running validation: 30 datasets"
    (found,) = training_phases.parse_line(peel("x.log", 1, raw))
    assert (found.entity, found.attributes["rank"]) == ("rank:0", "0")


@given(st.text(max_size=200))
def test_parsers_are_total(raw: str) -> None:
    read(raw)
    list(training_phases.parse_line(peel("x.log", 1, raw)))
    list(training.parse_block(Reader(f"Root Cause (first observed failure):\n{raw}".encode(), 0, 1, "x")))


@pytest.mark.parametrize(
    ("raw", "kind", "code"),
    [
        ("RuntimeError: connect() timed out. Original timeout was 1800000 ms.", "rendezvous", "timed-out"),
        (("RuntimeError: Timed out initializing process group in store based barrier on rank: 3, for key: store_based_barrier_key:1 "
          "(world_size=16, worker_count=8, timeout=0:30:00)"), "rendezvous", "clients-missing"),
        ("torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0//cuda//0", "rendezvous", "store-timeout"),
        ("[2024-01-03 10:00:00,100] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python3', 'main.py'] exits with return code = -9", "exit", "-9"),
        ("torch.multiprocessing.spawn.ProcessExitedException: process 3 terminated with signal SIGKILL", "exit", "-9"),
        ("mpirun noticed that process rank 7 with PID 0 on node node-b exited on signal 11 (Segmentation fault).", "exit", "-11"),
        ("subprocess.CalledProcessError: Command '['python', 'x.py']' died with <Signals.SIGABRT: 6>.", "exit", "-6"),
    ],
)  # fmt: skip
def test_launchers_and_stores(raw: str, kind: str, code: str) -> None:
    found = next(one for one in training.parse_line(peel("x.log", 1, raw)) if isinstance(one, Observation))
    assert (found.kind, found.code) == (kind, code)


@pytest.mark.parametrize(
    ("raw", "edge"),
    [
        ("Preparing test set...:  39%|###9      | 26/67 [24:51<30:30, 44.65s/it]", "begin"),
        ("Map (num_proc=8): 100%|####| 9/9", "end"),
    ],
)
def test_progress_bars_of_preparation(raw: str, edge: str) -> None:
    (found,) = training_phases.parse_line(peel("x.log", 1, raw))
    assert (found.code, found.attributes["edge"]) == ("data preparation", edge)
