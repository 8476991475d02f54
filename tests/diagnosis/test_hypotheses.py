"""Proposals: one hypothesis for each cause on each entity, vague findings given to the entities they may belong to."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from collectors.observation import Observation, Record
from diagnosis.graph import JOB
from diagnosis.hypotheses import MOST_ENTITIES, propose
from diagnosis.model import STRENGTHS, Hypothesis
from diagnosis.rulebook import Rulebook
from tests.diagnosis.making import cause, evidence, fact, make_facts, make_rulebook, symptom, text


@pytest.fixture
def rulebook(tmp_path: Path) -> Rulebook:
    return make_rulebook(
        tmp_path,
        cause(
            "gpu.lost",
            evidence({"kind": "xid"}, "decisive", why="an Xid"),
            evidence({"kind": "smi"}, "weak"),
            against=[{"when": {"kind": "reset"}, "strength": "strong", "why": text("it was planned")}],
        ),
        cause("gpu.hot", {"kind": "heat"}, status="draft"),
        cause("node.driver", {"kind": "xid"}, status="deprecated"),
        symptom("gone", {"kind": "xid"}, entity="gpu"),
        symptom("hang", {"kind": "hang"}),
    )


def causes(rulebook: Rulebook, *records: Record) -> list[Hypothesis]:
    return propose(make_facts(*records), rulebook)[0]


def xid(node: str = "", gpu: int | str = "", kind: str = "xid") -> Observation:
    return fact(kind, node=node, entity=f"gpu:{gpu}" if gpu != "" else "")


def test_nothing_is_proposed_without_evidence(rulebook: Rulebook) -> None:
    assert propose(make_facts(fact("reset")), rulebook) == ([], [])


def test_causes_and_symptoms_are_proposed(rulebook: Rulebook) -> None:
    found, seen = propose(make_facts(xid("node-a", 0), xid("node-a", 0, "heat"), fact("hang")), rulebook)
    assert [one.key for one in found] == [("gpu.hot", "gpu:node-a/0"), ("gpu.lost", "gpu:node-a/0")]
    assert [(one.key, one.layer) for one in seen] == [(("gone", "gpu:node-a/0"), ""), (("hang", JOB), "")]
    assert [one.layer for one in found] == ["hardware", "hardware"]
    assert [one.node for one in found] == ["node-a", "node-a"]


def test_a_draft_counts_half_and_a_deprecated_rule_not_at_all(rulebook: Rulebook) -> None:
    (found,) = causes(rulebook, xid("node-a", 0, "heat"))
    assert found.findings[0].strength == STRENGTHS["strong"] / 2
    assert "node.driver" not in {one.id for one in causes(rulebook, xid("node-a", 0))}


def test_each_entity_has_its_own_hypothesis(rulebook: Rulebook) -> None:
    found = causes(rulebook, xid("node-a", 1), xid("node-a", 0), xid("node-b", 0), xid("node-a", 1))
    assert [(one.entity, len(one.observations())) for one in found] == [
        ("gpu:node-a/0", 1),
        ("gpu:node-a/1", 2),
        ("gpu:node-b/0", 1),
    ]


def test_the_reason_is_told_in_the_language_asked_for(rulebook: Rulebook) -> None:
    found, _ = propose(make_facts(xid("node-a", 0)), rulebook, language="zh")
    assert found[0].findings[0].because == "中an Xid"


def test_what_names_only_a_host_goes_to_the_gpus_of_that_host(rulebook: Rulebook) -> None:
    found = causes(rulebook, xid("node-a", 0), xid("node-b", 0), xid("node-a", kind="smi"))
    assert [(one.entity, [item.key for item in one.findings]) for one in found] == [
        ("gpu:node-a/0", ["gpu.lost#0", "gpu.lost#1"]),
        ("gpu:node-b/0", ["gpu.lost#0"]),
    ]


def test_what_names_another_host_stands_alone(rulebook: Rulebook) -> None:
    found = causes(rulebook, xid("node-a", 0), xid("node-b", kind="smi"))
    assert [(one.entity, one.node) for one in found] == [("gpu:node-a/0", "node-a"), ("node:node-b", "node-b")]


def test_what_names_nothing_goes_to_all(rulebook: Rulebook) -> None:
    found = causes(rulebook, xid("node-a", 0), xid("node-b", 0), xid(kind="smi"))
    assert [len(one.findings) for one in found] == [2, 2]
    (alone,) = causes(rulebook, xid(), xid(kind="smi"))
    assert (alone.entity, alone.node, len(alone.findings)) == ("", "", 2)


def test_a_crowd_on_one_host_is_told_as_one(rulebook: Rulebook) -> None:
    (found,) = causes(rulebook, *(xid("node-a", gpu) for gpu in range(MOST_ENTITIES + 1)), xid(kind="smi"))
    assert found.entity == "node:node-a"
    assert found.others == tuple(f"gpu:node-a/{gpu}" for gpu in range(MOST_ENTITIES + 1))
    assert len(found.observations()) == MOST_ENTITIES + 2


def test_a_crowd_on_many_hosts_is_led_by_the_one_with_most_evidence(rulebook: Rulebook) -> None:
    (found,) = causes(rulebook, *(xid(f"node-{node}", 0) for node in range(6)), xid("node-4", 0, "smi"))
    assert found.entity == "gpu:node-4/0"
    assert len(found.others) == 5
    assert [len(item.matches) for item in found.findings] == [6, 1]


def test_a_contradiction_counts_where_it_belongs(rulebook: Rulebook) -> None:
    found = causes(rulebook, xid("node-a", 0), xid("node-a", 1), xid("node-b", 0), xid("node-a", 0, "reset"))
    assert [(one.entity, [item.key for item in one.findings if not item.supports]) for one in found] == [
        ("gpu:node-a/0", ["gpu.lost!0"]), ("gpu:node-a/1", []), ("gpu:node-b/0", []),
    ]  # fmt: skip
    found = causes(rulebook, xid("node-a", 0), xid("node-b", 0), xid("node-a", kind="reset"))
    assert [len(one.findings) for one in found] == [2, 1]
    found = causes(rulebook, xid("node-a", 0), xid("node-b", 0), xid(kind="reset"))
    assert [len(one.findings) for one in found] == [2, 2]


def test_many_pieces_of_evidence_keep_their_order(tmp_path: Path) -> None:
    rulebook = make_rulebook(tmp_path, cause("gpu.lost", *({"kind": f"k{number}"} for number in range(12))))
    (found,) = causes(rulebook, *(xid("node-a", 0 if number % 2 else "", f"k{number}") for number in range(12)))
    assert [item.key for item in found.findings] == [f"gpu.lost#{number}" for number in range(12)]


def test_the_order_of_facts_changes_nothing_that_counts(rulebook: Rulebook) -> None:
    facts = [
        xid(node, gpu, kind)
        for node in ("node-a", "node-b", "")
        for gpu in (0, 1, "")
        for kind in ("xid", "smi", "reset", "heat")
    ]
    expected = [(one.key, one.others, one.observations()) for one in causes(rulebook, *facts)]
    for seed in range(5):
        random.Random(seed).shuffle(facts)
        assert [(one.key, one.others, one.observations()) for one in causes(rulebook, *facts)] == expected


def test_thousands_of_entities_are_proposed(rulebook: Rulebook) -> None:
    facts = [xid(f"node-{number}", 0, kind) for number in range(2000) for kind in ("xid", "smi")]
    facts += [xid(kind="smi"), *(xid(f"node-{number}", kind="smi") for number in range(2000))]
    (found,) = causes(rulebook, *facts)
    assert len(found.others) == 1999


def test_evidence_may_name_something_narrower_than_its_rule(tmp_path: Path) -> None:
    rule = cause("nccl.peer", evidence({"kind": "closed"}), evidence({"kind": "dead"}, entity="rank"), entity="job")
    rulebook = make_rulebook(tmp_path, rule, symptom("crash", {"kind": "closed"}))
    closed, dead = fact("closed"), fact("dead", entity="rank:7")
    assert [one.entity for one in causes(rulebook, closed)] == [JOB]
    (found,) = causes(rulebook, closed, dead)
    assert (found.entity, len(found.findings)) == ("rank:7", 2)
