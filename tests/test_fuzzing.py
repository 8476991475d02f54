"""A short bounded round of `python -m tests.fuzzing`, the same every time: no parser raises or yields what it may not yield."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors.registry import COLLECTORS
from tests.fuzzing.__main__ import draw
from tests.fuzzing.mutations import CHANGES, Change, apply
from tests.fuzzing.targets import BrokenPromiseError, Target, targets

MOST_BYTES = 1 << 13
CHANGE = st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 1 << 20), st.integers(0, 1 << 20))
PARSERS = sorted(
    name for name, one in targets().items() if name not in ("intake", "triage", "archives", "prefix") and one.seeds
)


def test_every_collector_is_a_target() -> None:
    assert len(targets()) == len(COLLECTORS) + 4
    assert len(PARSERS) >= 0.9 * len(COLLECTORS)


@settings(max_examples=400, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(PARSERS), place=st.integers(0, 1 << 20), changes=st.lists(CHANGE, max_size=6))
def test_parsers_take_anything(name: str, place: int, changes: list[Change]) -> None:
    target = targets()[name]
    target.run(apply(target.seeds[place % len(target.seeds)][:MOST_BYTES], changes, MOST_BYTES))


@pytest.mark.parametrize(("name", "rounds"), [("archives", 60), ("prefix", 60), ("intake", 40)])
def test_the_intake_takes_anything(name: str, rounds: int) -> None:
    chance, target = random.Random(20), targets()[name]
    seeds = [one for one in target.seeds if len(one) <= MOST_BYTES]
    for _ in range(rounds):
        target.run(draw(chance, seeds)[:MOST_BYTES])


def test_what_is_broken_is_found() -> None:
    def run(data: bytes) -> None:
        if b"\x00" in data:
            raise BrokenPromiseError("a zero")

    target = Target("broken", [b"NVRM: Xid 79"], run)
    chance = random.Random(1)
    found = [draw(chance, list(target.seeds)) for _ in range(2000)]
    broken = next(data for data in found if b"\x00" in data)
    with pytest.raises(BrokenPromiseError):
        target.run(broken)
