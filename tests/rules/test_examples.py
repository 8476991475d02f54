"""Every rule's own examples, each sent as raw lines through the real collectors, the store and the conditions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from collectors.ingest import read_inputs, text_input
from collectors.observation import Sample
from collectors.store import Store
from diagnosis.analyses import derive_all
from diagnosis.engine import Knowledge
from diagnosis.entities import kind_of
from diagnosis.evidence import Conditions
from diagnosis.facts import add_queries, load_facts
from diagnosis.hypotheses import propose
from diagnosis.model import STRENGTHS
from diagnosis.rulebook import CauseRule, load_rulebook
from diagnosis.rulebook.schema import Example

NOW = 1_764_547_200.0  # 2025-12-01T00:00:00Z


@cache
def knowledge() -> Knowledge:
    return Knowledge.build(load_rulebook())


def _cases() -> Iterator[Any]:
    for rule in load_rulebook().rules():
        for part, number, _ in rule.conditions():
            entry = getattr(rule, part)[number]
            if entry.examples is None:
                continue
            for wanted, examples in ((True, entry.examples.match), (False, entry.examples.no_match)):
                for index, example in enumerate(examples):
                    name = f"{rule.id}-{part}-{number}-{'match' if wanted else 'no_match'}-{index}"
                    yield pytest.param(rule.id, part, number, wanted, example, id=name)


def _observe(example: Example) -> tuple[Conditions, Any]:
    store = Store.open()
    if example.text is not None:
        intakes = read_inputs([text_input("example", example.text)], knowledge().scanner, knowledge().registry, now=NOW)
        store.append("example", [record for one in intakes for record in one.records])
    else:
        store.append("example", list(_samples(example)))
    facts = load_facts(store)
    add_queries(facts, store, knowledge().rulebook)
    store.close()
    facts.reference = knowledge().reference
    derive_all(facts)
    return Conditions(facts, knowledge().rulebook), facts


def _samples(example: Example) -> Iterator[Sample]:
    """Expand Prometheus' series shorthand: `'95x10 2x20'` is ten times 95 then twenty times 2, `step` apart.

    A series is written as in the exposition format and goes through the real metrics collector.
    """
    series = [example.series] if isinstance(example.series, str) else example.series or []
    values = [example.values] if isinstance(example.values, str) else example.values or []
    lines = []
    for name, shorthand in zip(series, values, strict=True):
        at = NOW
        for part in str(shorthand).split():
            value, _, times = part.partition("x")
            for _ in range(int(times or 1)):
                lines.append(f"{name} {value} {int(at * 1000)}")
                at += example.step
    intakes = read_inputs(
        [text_input("example", "\n".join(lines) + "\n")], knowledge().scanner, knowledge().registry, now=NOW
    )
    for one in intakes:
        yield from (record for record in one.records if isinstance(record, Sample))


@pytest.mark.parametrize(("name", "part", "number", "wanted", "example"), list(_cases()))
def test_example(name: str, part: str, number: int, wanted: bool, example: Example) -> None:
    rulebook = knowledge().rulebook
    conditions, facts = _observe(example)
    rule = rulebook.causes.get(name) or rulebook.symptoms[name]
    matches = conditions.find(getattr(rule, part)[number].when)
    if not wanted:
        assert not matches, f"must not match because {example.why}: {example.text}"
        return
    assert matches, f"does not match: {example.text or example.series}"
    met = [one for match in matches for one in match.observations]
    cited = [line for one in met for line in facts.because.get(one, (one,))]
    assert all(line.raw for line in cited), "a report cites lines as they stand in the input"
    if part == "against" or not isinstance(rule, CauseRule):
        return
    causes, _ = propose(facts, rulebook)
    if example.entity is not None:
        found = {one.entity for one in causes if one.id == name}
        plain = {_unqualified(entity) for entity in found} | found
        assert example.entity in plain, f"expected {example.entity}, found {sorted(found)}"
    layer = rulebook.layer_of(name)
    others = {
        one.id
        for one in causes
        if one.layer == layer
        and one.id != name
        and any(f.strength >= STRENGTHS["strong"] for f in one.findings if f.supports)
    }
    unexpected = others - set(example.also) - set(rulebook.reach(name))
    unexpected = {other for other in unexpected if name not in rulebook.reach(other)}
    assert not unexpected, f"also speaks strongly for {sorted(unexpected)}; if that is right, list it under `also:`"


def _unqualified(entity: str) -> str:
    return f"{kind_of(entity)}:{entity.partition(':')[2].rpartition('/')[2]}"
