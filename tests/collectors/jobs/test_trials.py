"""What a shell shows below a run with one thing changed tells whether the change helps."""

from __future__ import annotations

import pytest

from collectors.block import Reader
from collectors.jobs import trials
from collectors.observation import Observation


def read(text: str) -> list[tuple[str, str, str]]:
    reader = Reader(text.encode(), 0, 1, "x.txt")
    found = [one for one in trials.parse_block(reader) if isinstance(one, Observation)]
    assert reader.number == 2  # what stands below the command is left to others
    return [(one.code, one.attributes["value"], one.attributes["outcome"]) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$ NCCL_CROSS_NIC=0 mpirun ./gather_perf | tail -1\n# Avg bus bandwidth    : 43.0184\n", ("NCCL_CROSS_NIC", "0", "works")),
        ("$ mpirun -x NCCL_P2P_DISABLE=1 ./a\n# Out of bounds values : 0 OK\n# Avg bus bandwidth : 1.2\n", ("NCCL_P2P_DISABLE", "1", "works")),
        ("$ NCCL_IB_DISABLE=1 python t.py\nstep 1 loss 2.0\nRuntimeError: NCCL error\n", ("NCCL_IB_DISABLE", "1", "fails")),
        ("$ pip install nvidia-nccl-cu12==2.21.5\n$ python t.py\nstep 10 loss 9.8\n", ("nccl-library", "2.21.5", "works")),
        ("$ sudo apt install libnccl2=2.21.5-1+cuda12.4\n$ python t.py\nstep 10 loss 9.8\n", ("nccl-library", "2.21.5-1+cuda12.4", "works")),
        ("$ LD_PRELOAD=/opt/lib/libnccl.so.2 torchrun t.py\nstep 10 ok\n", ("nccl-library", "/opt/lib/libnccl.so.2", "works")),
        ("# modprobe nvidia_uvm uvm_disable_hmm=1\n$ ffmpeg -i a\nframe= 1439 fps=811\n", ("uvm_disable_hmm", "1", "works")),
    ],
)  # fmt: skip
def test_changes(text: str, expected: tuple[str, str, str]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "$ NCCL_DEBUG=INFO torchrun t.py\nstep 10 loss 9.8\n",
        "$ export NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=1\nstep 10 loss 9.8\n",
        "$ NCCL_IB_DISABLE=1 torchrun t.py\n",
        "$ NCCL_IB_DISABLE=1 torchrun t.py\n$ date\nstep 10 loss 9.8\n",
        "$ NCCL_A=1 NCCL_B=1 NCCL_C=1 NCCL_D=1 torchrun t.py\nstep 10 loss 9.8\n",
        "",
    ],
)
def test_what_shows_nothing(text: str) -> None:
    reader = Reader(text.encode(), 0, 1, "x.txt")
    assert not list(trials.parse_block(reader))
