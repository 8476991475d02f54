"""Whatever stands in a fact's attributes, no diagnosis fails: a log may claim any number, and a collector may miss one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation, Record, Relation, Sample
from diagnosis.analyses import derive_all
from diagnosis.facts import Facts
from diagnosis.graph import build_graph
from diagnosis.hypotheses import propose
from diagnosis.ranking import rank
from diagnosis.recovery import find_recoveries
from tests.fuzzing.corpus import sample_texts
from tests.fuzzing.targets import knowledge

ODD = ("", "-", "N/A", "nan", "inf", "9" * 400, "9" * 5000, "-1", "0", "1e308", "1.5", "x")
TOGETHER = 6  # inputs of one diagnosis


def change(record: Record, chance: random.Random) -> Record:
    """Return a record with some attributes dropped and some made odd."""
    if not isinstance(record, Observation) or chance.random() < 0.3:
        return record
    kept = {name: value for name, value in record.attributes.items() if chance.random() > 0.05}
    return replace(
        record,
        attributes={name: chance.choice(ODD) if chance.random() < 0.15 else value for name, value in kept.items()},
    )


def read_samples(chance: random.Random) -> Iterator[list[Record]]:
    """Yield the records of a few samples and examples at a time."""
    texts = [text_input(f"{number}.log", text) for number, text in enumerate(sample_texts())]
    known = knowledge()
    found = [
        one.records for one in read_inputs(texts, known.scanner, known.registry, now=1_764_547_200.0) if one.records
    ]
    chance.shuffle(found)
    for start in range(0, len(found), TOGETHER):
        yield [record for records in found[start : start + TOGETHER] for record in records]


@pytest.mark.parametrize("seed", range(2))
def test_no_diagnosis_fails(seed: int) -> None:
    chance, rulebook = random.Random(seed), knowledge().rulebook
    for records in read_samples(chance):
        changed = [change(one, chance) for one in records]
        facts = Facts(
            [one for one in changed if isinstance(one, Observation)],
            [one for one in changed if isinstance(one, Sample)],
            [one for one in changed if isinstance(one, Relation)],
            reference=knowledge().reference,
        )
        derive_all(facts)
        causes, symptoms = propose(facts, rulebook)
        graph = build_graph(facts, [one.entity for one in (*causes, *symptoms)])
        rank(causes, symptoms, graph, rulebook, recoveries=find_recoveries(facts))
