"""Reads a text through one collector, as the intake does, for the tests of the GPU collectors."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation, Record, Relation, Sample
from collectors.registry import Registry
from collectors.scan import Scanner

FIXTURES = Path(__file__).parents[3] / "fixtures" / "logs"


def read(module: ModuleType, text: str) -> list[Record]:
    """Return the records of a text, without lines that no collector explains and without shell commands."""
    registry = Registry((module,))
    intake = read_inputs([text_input("t", text)], Scanner(registry.patterns()), registry, now=1_764_547_200.0)[0]
    return [
        one
        for one in intake.records
        if not (isinstance(one, Observation) and one.kind in ("unexplained", "command", "filtered"))
    ]


def observed(records: list[Record], kind: str) -> list[Observation]:
    return [one for one in records if isinstance(one, Observation) and one.kind == kind]


def samples(records: list[Record]) -> list[Sample]:
    return [one for one in records if isinstance(one, Sample)]


def same(records: list[Record]) -> set[tuple[str, str]]:
    return {(one.upper, one.lower) for one in records if isinstance(one, Relation) and one.how == "same"}
