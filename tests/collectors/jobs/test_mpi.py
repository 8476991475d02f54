"""Which rank MPI's launchers say ended first."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from collectors.block import Reader
from collectors.ingest import read_inputs, text_input
from collectors.jobs import mpi
from collectors.observation import Observation, Relation
from collectors.registry import Registry
from collectors.scan import Scanner

LOG = Path(__file__).parents[3] / "fixtures" / "logs" / "training" / "mpi-verdicts.log"


def test_sample() -> None:
    registry = Registry()
    text = LOG.read_text(encoding="utf-8")
    (intake,) = read_inputs([text_input("x.log", text)], Scanner(registry.patterns()), registry, now=1_764_547_200.0)
    assert intake.kind == "training"
    exits = [one for one in intake.records if isinstance(one, Observation) and one.kind == "exit"]
    assert [(one.code, one.entity, one.node) for one in exits] == [
        ("17", "rank:3", ""), ("1", "rank:3", ""), ("-9", "rank:5", "node-b"), ("-11", "", "node-c"),
    ]  # fmt: skip
    assert [(one.upper, one.lower) for one in intake.records if isinstance(one, Relation)] == [
        ("rank:5", "node:node-b")
    ]


@given(st.text())
def test_odd_blocks(text: str) -> None:
    data = f"The first process to do so was:\n{text}".encode()
    assert not [one for one in mpi.parse_block(Reader(data, 0, 1, "x.log")) if isinstance(one, Relation)]
