"""A short bounded round of `python -m tests.fuzzing`, the same every time: no parser raises or yields what it may not yield."""

from __future__ import annotations

import io
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors.ingest import Input
from collectors.registry import COLLECTORS
from diagnosis.engine import triage
from tests.fuzzing.__main__ import draw
from tests.fuzzing.mutations import CHANGES, Change, apply
from tests.fuzzing.targets import BrokenPromiseError, Target, knowledge, targets
from tests.incidents.generate import make_incident

MOST_BYTES = 1 << 13
NUMBER = re.compile(rb"(?<![\w.])\d+(?:\.\d+)?|(?<=0x)[0-9a-f]+")
HOSTILE = (b"0", b"-1", b"1e308", b"9" * 25, b"9" * 400, b"9" * 5000, b"4294967295", b"18446744073709551615")
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


@pytest.mark.parametrize("value", [b"9" * 400, b"9" * 5000, b"1.2.3", b"1..2", b".", b"-", b"", b"nan"])
def test_numbers_may_be_anything(value: bytes) -> None:
    for name in PARSERS:
        for seed in targets()[name].seeds:
            for place in range(3 if len(seed) < MOST_BYTES // 2 else 0):
                targets()[name].run(b"\n".join(replace_number(line, place, value) for line in seed.split(b"\n")))


def replace_number(line: bytes, place: int, value: bytes) -> bytes:
    """Return the line with one of its numbers (counted from 0) replaced."""
    numbers = list(NUMBER.finditer(line))
    if place >= len(numbers):
        return line
    return line[: numbers[place].start()] + value + line[numbers[place].end() :]


@pytest.mark.parametrize("seed", range(6))
def test_no_number_breaks_a_diagnosis(seed: int) -> None:
    chance, inputs = random.Random(seed), []
    for name, data in make_incident(seed, sizes=(8,)).inputs:
        if data[:1] != b"\x80":  # a pickle is another matter
            data = NUMBER.sub(lambda found: chance.choice(HOSTILE) if chance.random() < 0.1 else found[0], data)
        inputs.append(Input(name, io.BytesIO(data)))
    report = triage(inputs, knowledge(), now=1_764_547_200.0)
    assert not [note for part in report.inputs for note in part.notes if "could not read" in note]


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
