"""What programs repeat of NCCL's last warning is read as the warning itself."""

from __future__ import annotations

import pytest

from collectors.block import Reader
from collectors.jobs import nccl_last_error
from collectors.observation import Observation
from collectors.prefix import peel


def read(text: str) -> list[Observation]:
    reader = Reader(text.encode(), 0, 1, "x.log")
    return [one for one in nccl_last_error.parse_block(reader) if isinstance(one, Observation)]


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("Net : Call to recv from 10.0.0.1<41822> failed : Connection reset by peer", "closed-by-peer", "Connection reset by peer"),
        ("NET/IB : Got completion from peer 10.0.0.12<41822> with status=12 opcode=0 len=0 vendor err 129 (Recv)", "completion", "12"),
        ("Duplicate GPU detected : rank 0 and rank 8 both on CUDA device 31000", "duplicate-gpu", "Duplicate GPU"),
        ("Call to ibv_modify_qp failed with error No such device", "verbs-call", "ibv_modify_qp"),
    ],
)  # fmt: skip
def test_messages(text: str, kind: str, code: str) -> None:
    (found,) = read(f"[rank3]: Last error:\n[rank3]: {text}\n")
    assert (found.kind, found.code, found.line) == (kind, code, 2)


def test_nothing_behind_the_head() -> None:
    assert read("Last error:\n") == []
    assert read("Last error:\n\nTraceback (most recent call last):\n") == []


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("Bootstrap : no socket interface found", "no-interface", "no socket interface found"),
        ("Call to ibv_modify_qp failed with error No such device", "verbs-call", "ibv_modify_qp"),
    ],
)
def test_quotes_of_xla(text: str, kind: str, code: str) -> None:
    raw = "INTERNAL: NCCL operation ncclCommInitRank(&comm, n, id, rank) failed: invalid usage (run with NCCL_DEBUG=WARN for details). "
    raw += (
        f"Last NCCL warning(error) log entry (may be unrelated) '{text}'.; current tracing scope: all-reduce-start.285"
    )
    (found,) = nccl_last_error.parse_line(peel("x", 1, raw))
    assert isinstance(found, Observation)
    assert (found.kind, found.code) == (kind, code)
    assert not list(
        nccl_last_error.parse_line(peel("x", 1, "Last NCCL warning(error) log entry (may be unrelated) ''."))
    )
