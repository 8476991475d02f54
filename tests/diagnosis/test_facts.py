"""Facts: read from the store in one order, and indexed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from collectors.observation import Record, Relation
from collectors.store import Store
from diagnosis.facts import Facts, add_queries, load_facts
from tests.diagnosis.making import cause, fact, make_rulebook, sample


@pytest.mark.parametrize("seed", range(2))
def test_rows_come_in_one_order_however_they_were_kept(seed: int) -> None:
    records: list[Record] = [
        fact("xid", "79", line=line, node=node, entity=f"gpu:{gpu}", pid=str(pid))
        for line in range(5) for node in ("a", "b") for gpu in range(3) for pid in range(9)
    ]  # fmt: skip
    records += [sample("m", value / 7, 1.0, gpu=str(value)) for value in range(100)]
    expected = _load(records)
    random.Random(seed).shuffle(records)
    found = _load(records)
    assert found.observations == expected.observations
    assert found.samples == expected.samples


def _load(records: list[Record]) -> Facts:
    store = Store.open()
    for start in range(0, len(records), 97):
        store.append(f"batch {start}", records[start : start + 97])
    return load_facts(store)


def test_facts_are_found_by_kind_key_and_metric() -> None:
    facts = Facts([fact("xid", "79", line=1), fact("text", "rule#0.0", line=2)], [sample("temp", 1.0)])
    assert [one.line for one in facts.by_kind["xid"]] == [1]
    assert [one.line for one in facts.by_key["rule#0.0"]] == [2]
    assert "text" not in facts.by_kind
    assert len(facts.by_metric["temp"]) == 1


def test_a_derived_fact_is_found_and_cites_its_proof() -> None:
    proof = fact("step", line=1)
    facts = Facts([proof])
    derived = fact("slow_rank", entity="rank:3", line=1)
    facts.add(derived, [proof])
    assert facts.by_kind["slow_rank"] == [derived]
    assert facts.because[derived] == (proof,)


def test_a_view_of_some_nodes_keeps_what_names_none() -> None:
    store = Store.open()
    store.append("one", [
        fact("xid", line=1, node="a"), fact("xid", line=2, node="b"), fact("xid", line=3),
        fact("event", line=4, entity="pod:x/mine"), fact("event", line=5, entity="pod:x/other"), fact("event", line=6, entity="rank:3"),
    ])  # fmt: skip
    facts = load_facts(store, nodes=["a"], entities=["pod:x/mine"])
    assert [one.line for one in facts.observations] == [1, 3, 4, 6]


def test_a_named_query_gives_the_rows_of_the_window(tmp_path: Path) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "later.sql").write_text("SELECT input, line, kind FROM observations WHERE line > 1")
    rulebook = make_rulebook(tmp_path, cause("gpu.lost", {"query": "later"}))
    store = Store.open()
    store.append("one", [fact("xid", line=1, time=1.0), fact("xid", line=2, time=2.0), fact("xid", line=3, time=9.0)])
    facts = load_facts(store, until=5.0)
    add_queries(facts, store, rulebook)
    assert [one.line for one in facts.queries["later"]] == [2]


def test_what_a_rank_says_stands_on_its_host() -> None:
    where = [Relation("rank:3", "node:node-b", "on", "nccl.log", 1, "node-b")]
    said = [
        fact("exception", "KeyError", rank="3"),
        fact("progress", rank="3", group_rank="3"),
        fact("exception", "KeyError", rank="4"),
    ]
    assert [one.node for one in Facts(said, relations=where).observations] == ["node-b", "", ""]
    twice = [*where, Relation("rank:3", "node:node-c", "on", "nccl.log", 2, "node-c")]
    assert Facts(said, relations=twice).observations[0].node == ""
