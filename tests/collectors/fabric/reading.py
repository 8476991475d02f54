"""Read a text through the whole intake, as the tests of fabric sources do."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from collectors.ingest import Intake, read_inputs, text_input
from collectors.observation import Observation, Record, Sample
from collectors.registry import Registry
from collectors.scan import Scanner

LOGS = Path(__file__).parents[3] / "fixtures" / "logs"


@cache
def _machine() -> tuple[Scanner, Registry]:
    registry = Registry()
    return Scanner(registry.patterns()), registry


def take(text: str) -> Intake:
    """Return the intake of one text."""
    (intake,) = read_inputs([text_input("x.txt", text)], *_machine(), now=1_764_547_200.0)
    return intake


def take_log(name: str) -> Intake:
    """Return the intake of a sample log."""
    return take((LOGS / name).read_text(encoding="utf-8"))


def seen(records: list[Record], kind: str) -> list[Observation]:
    """Return the observations of a kind."""
    return [one for one in records if isinstance(one, Observation) and one.kind == kind]


def values(records: list[Record], metric: str) -> dict[str, list[float]]:
    """Return a metric's values by entity, in order."""
    found: dict[str, list[float]] = {}
    for one in records:
        if isinstance(one, Sample) and one.metric == metric:
            found.setdefault(f"{one.node} {one.entity}", []).append(one.value)
    return found
