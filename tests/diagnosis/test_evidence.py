"""Conditions: each form on facts where it holds and on facts where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from collectors.ingest import read_inputs, text_input
from collectors.observation import Record, Relation
from collectors.registry import Registry
from collectors.scan import Scanner
from diagnosis.evidence import MOST_MATCHES, Conditions
from diagnosis.facts import Facts
from diagnosis.rulebook import Rulebook, When
from tests.diagnosis.making import cause, fact, find, make_facts, make_rulebook, sample

XID, ECC = {"kind": "xid"}, {"kind": "ecc"}


@pytest.fixture
def rulebook(tmp_path: Path) -> Rulebook:
    return make_rulebook(tmp_path, cause("gpu.lost", {"kind": "xid"}))


# --- a typed fact


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ({"kind": "xid"}, True),
        ({"kind": "ecc"}, False),
        ({"kind": "xid", "code": 79}, True),
        ({"kind": "xid", "code": "79"}, True),
        ({"kind": "xid", "code": 7}, False),
        ({"kind": "xid", "code": [48, "79"]}, True),
        ({"kind": "xid", "code": [48, 95]}, False),
        ({"kind": "xid", "source": "kernel"}, True),
        ({"kind": "xid", "source": "nccl"}, False),
        ({"kind": "xid", "source": ["nccl", "kernel"]}, True),
        ({"kind": "xid", "source": "any"}, True),
    ],
)
def test_a_fact(rulebook: Rulebook, when: dict[str, Any], holds: bool) -> None:
    found = find(when, rulebook, fact("xid", "79", line=5))
    assert found == ([[5]] if holds else [])


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ({"pid": 12}, True),
        ({"pid": "12"}, True),
        ({"pid": 13}, False),
        ({"absent": "x"}, False),
        ({"name": "python"}, True),
        ({"node": "node-a"}, True),
        ({"entity": "gpu:0"}, True),
        ({"text": {"matches": "^fell"}}, True),
        ({"pid": {"not": 13}}, True),
        ({"pid": {"not": 12}}, False),
        ({"absent": {"not": 13}}, False),
        ({"pid": {"in": [1, 12]}}, True),
        ({"pid": {"in": [1, 2]}}, False),
        ({"pid": {"above": 11}}, True),
        ({"pid": {"above": 12}}, False),
        ({"pid": {"at_least": 12}}, True),
        ({"pid": {"at_most": 12, "at_least": 13}}, False),
        ({"pid": {"below": "{limit}"}}, True),
        ({"pid": {"above": "{limit}"}}, False),
        ({"pid": {"below": "{absent}"}}, False),
        ({"pid": {"equals": "{limit}"}}, False),
        ({"name": {"above": 3}}, False),
        ({"size": {"above": 11}}, True),  # 12 GiB
        ({"mask": {"bits": 8}}, True),
        ({"mask": {"bits": 2}}, False),
        ({"hex": {"bits": 0x40}}, True),
        ({"hex": {"equals": 0x48}}, True),
        ({"hex": {"bits": 0x04}}, False),
        ({"name": {"bits": 1}}, False),
        ({"broken": {"bits": 1}}, False),
        ({"broken": {"above": 1}}, False),
        ({"endless": {"bits": 1}}, False),
        ({"name": {"matches": "^py"}}, True),
        ({"name": {"matches": "^x"}}, False),
        ({"name": {"exists": True}}, True),
        ({"absent": {"exists": True}}, False),
        ({"absent": {"exists": False}}, True),
        ({"name": {"exists": False}}, False),
        ({"pid": 12, "name": "perl"}, False),
    ],
)
def test_where(rulebook: Rulebook, where: Mapping[str, Any], holds: bool) -> None:
    one = fact(
        "xid", "79", line=5, node="node-a", entity="gpu:0", text="fell off", pid="12", name="python", limit="20", size="12 GiB", mask="9",
        hex="0x0000000000000048", broken="nan", endless="inf",
    )  # fmt: skip
    assert find({"kind": "xid", "where": where}, rulebook, one) == ([[5]] if holds else [])


def test_repeats_are_looked_at_up_to_a_bound(rulebook: Rulebook) -> None:
    assert len(find(XID, rulebook, *(fact("xid") for _ in range(MOST_MATCHES + 10)))) == MOST_MATCHES


# --- a line of text


@cache
def scanned(folder: Path) -> tuple[Rulebook, Scanner, Registry]:
    rulebook = make_rulebook(
        folder,
        cause("gpu.lost", {"pattern": r"card (?P<gpu>\d+) is gone"}),
        cause("gpu.hot", {"pattern": r"card (?P<gpu>\d+) is gone", "source": "kernel", "where": {"gpu": {"above": 3}}}),
    )
    registry = Registry()
    return rulebook, Scanner([*registry.patterns(), *rulebook.patterns]), registry


@pytest.mark.parametrize(
    ("line", "lost", "hot"),
    [
        ("card 4 is gone", 1, 0),  # not known to be the kernel's
        ("Aug 20 23:41:07 node-b kernel: card 4 is gone", 1, 1),
        ("Aug 20 23:41:07 node-b kernel: card 3 is gone", 1, 0),
        ("card x is gone", 0, 0),
    ],
)
def test_a_pattern(tmp_path_factory: pytest.TempPathFactory, line: str, lost: int, hot: int) -> None:
    rulebook, scanner, registry = scanned(tmp_path_factory.getbasetemp() / "scanned")
    (intake,) = read_inputs([text_input("a.log", line)], scanner, registry, now=1.7e9)
    conditions = Conditions(make_facts(*intake.records), rulebook)
    found = [len(conditions.find(rulebook.causes[name].evidence[0].when)) for name in ("gpu.lost", "gpu.hot")]
    assert found == [lost, hot]


# --- combinations


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        (["xid", "ecc"], [[0, 1]]),
        (["xid"], []),
        (["ecc"], []),
        (["xid", "xid", "ecc"], [[0, 1, 2]]),
        (["xid", "ecc", "reset"], []),
    ],
)
def test_all(rulebook: Rulebook, kinds: list[str], found: list[list[int]]) -> None:
    facts = [fact(kind, line=number + 100) for number, kind in enumerate(kinds)]
    when = {"all": [XID, ECC, {"none": [{"kind": "reset"}]}]}
    assert find(when, rulebook, *facts) == [[line + 100 for line in lines] for lines in found]


@pytest.mark.parametrize(("kinds", "count"), [(["xid"], 1), (["xid", "ecc"], 2), (["reset"], 0)])
def test_any(rulebook: Rulebook, kinds: list[str], count: int) -> None:
    assert len(find({"any": [XID, ECC]}, rulebook, *(fact(kind) for kind in kinds))) == count


def test_all_on_the_same_gpu(rulebook: Rulebook) -> None:
    when = {"all": [XID, ECC], "same": "gpu"}
    a, b = ({"node": node, "entity": "gpu:0"} for node in ("a", "b"))
    assert find(when, rulebook, fact("xid", **a), fact("ecc", **b)) == []
    one = [
        fact("xid", line=901, **a),
        fact("ecc", line=902, **a),
        fact("xid", line=903, **b),
        fact("ecc", line=904, **b),
    ]
    assert find(when, rulebook, *one) == [[901, 902], [903, 904]]
    # one that names no GPU goes with each
    assert find(when, rulebook, fact("xid", line=905, **a), fact("ecc", line=906)) == [[905, 906]]


def test_names_of_one_gpu_count_as_the_same(rulebook: Rulebook) -> None:
    records: list[Record] = [
        fact("xid", node="a", entity="gpu:0000:3b:00.0"), fact("ecc", node="a", entity="gpu:GPU-1"),
        Relation("gpu:0000:3b:00.0", "gpu:GPU-1", "same", "a.log", 1, "a"),
    ]  # fmt: skip
    when = {"all": [XID, ECC], "same": "gpu"}
    assert len(find(when, rulebook, *records)) == 1
    assert find(when, rulebook, *records[:2]) == []


def test_none_on_another_gpu_bars_nothing(rulebook: Rulebook) -> None:
    when = {"all": [XID, {"none": [{"kind": "reset"}]}], "same": "gpu"}
    facts = [
        fact("xid", line=801, entity="gpu:0"),
        fact("reset", line=802, entity="gpu:1"),
        fact("xid", line=803, entity="gpu:1"),
    ]
    assert find(when, rulebook, *facts) == [[801]]


@pytest.mark.parametrize(
    ("times", "holds"), [((100.0, 160.0), True), ((160.0, 100.0), True), ((100.0, 161.0), False), ((None, 161.0), True)]
)
def test_all_within_a_time(rulebook: Rulebook, times: tuple[float | None, float | None], holds: bool) -> None:
    facts = [fact("xid", time=times[0]), fact("ecc", time=times[1])]
    assert bool(find({"all": [XID, ECC], "within": "1m"}, rulebook, *facts)) == holds


def test_all_within_a_time_takes_those_that_are_near(rulebook: Rulebook) -> None:
    facts = [
        fact("xid", line=701, time=1.0),
        fact("xid", line=702, time=500.0),
        fact("ecc", line=703, time=505.0),
        fact("ecc", line=704, time=900.0),
    ]
    assert find({"all": [XID, ECC], "within": "1m"}, rulebook, *facts) == [[702, 703]]
    reset = fact("reset", time=510.0)
    assert find({"all": [XID, ECC, {"none": [{"kind": "reset"}]}], "within": "1m"}, rulebook, *facts, reset) == []
    reset = fact("reset", time=900.0)
    assert find({"all": [XID, ECC, {"none": [{"kind": "reset"}]}], "within": "1m"}, rulebook, *facts, reset) == [
        [702, 703]
    ]


@pytest.mark.parametrize(
    ("lines", "inputs", "holds"),
    [
        ((10, 15), ("a", "a"), True),
        ((15, 10), ("a", "a"), True),
        ((10, 16), ("a", "a"), False),
        ((10, 11), ("a", "b"), False),
    ],
)
def test_all_within_lines(rulebook: Rulebook, lines: tuple[int, int], inputs: tuple[str, str], holds: bool) -> None:
    facts = [fact("xid", line=lines[0], input=inputs[0]), fact("ecc", line=lines[1], input=inputs[1])]
    assert bool(find({"all": [XID, ECC], "within_lines": 5}, rulebook, *facts)) == holds


# --- how many, and on what


@pytest.mark.parametrize(("number", "holds"), [(2, False), (3, True), (4, True)])
def test_count(rulebook: Rulebook, number: int, holds: bool) -> None:
    assert bool(find({"count": 3, "of": XID}, rulebook, *(fact("xid") for _ in range(number)))) == holds


def test_count_of_different_values(rulebook: Rulebook) -> None:
    when = {"count": 3, "of": XID, "distinct": "pid"}
    assert find(when, rulebook, *(fact("xid", pid=pid) for pid in ("1", "1", "2", "2"))) == []
    assert len(find(when, rulebook, *(fact("xid", pid=pid) for pid in ("1", "2", "3")))) == 1
    assert find(when, rulebook, *(fact("xid") for _ in range(9))) == []


def test_count_on_the_same_gpu(rulebook: Rulebook) -> None:
    when = {"count": 2, "of": XID, "same": "gpu"}
    assert find(when, rulebook, fact("xid", entity="gpu:0"), fact("xid", entity="gpu:1")) == []
    facts = [
        fact("xid", line=601, entity="gpu:0"),
        fact("xid", line=602, entity="gpu:1"),
        fact("xid", line=603, entity="gpu:1"),
    ]
    assert find(when, rulebook, *facts) == [[602, 603]]


@pytest.mark.parametrize(
    ("times", "holds"),
    [
        ((0, 50, 100), False),
        ((0, 50, 60), True),
        ((0, 70, 75, 80), True),
        ((None, None, None), True),
        ((0, 1, None), True),
    ],
)
def test_count_within_a_time(rulebook: Rulebook, times: tuple[float | None, ...], holds: bool) -> None:
    facts = [fact("xid", time=None if moment is None else float(moment)) for moment in times]
    assert bool(find({"count": 3, "of": XID, "within": "1m"}, rulebook, *facts)) == holds


@pytest.mark.parametrize(
    ("gpus", "one", "many"), [([], 0, 0), (["0"], 1, 0), (["0", "0"], 1, 0), (["0", "1"], 0, 1), ([""], 0, 0)]
)
def test_spread(rulebook: Rulebook, gpus: list[str], one: int, many: int) -> None:
    facts = [fact("xid", entity=f"gpu:{gpu}" if gpu else "") for gpu in gpus]
    assert len(find({"spread": "one", "by": "gpu", "of": XID}, rulebook, *facts)) == one
    assert len(find({"spread": "many", "by": "gpu", "of": XID}, rulebook, *facts)) == many


def test_spread_on_each_node(rulebook: Rulebook) -> None:
    facts = [
        fact("xid", line=501, node="a", entity="gpu:0"),
        fact("xid", line=502, node="a", entity="gpu:1"),
        fact("xid", line=503, node="b", entity="gpu:0"),
    ]
    assert find({"spread": "many", "by": "gpu", "of": XID, "same": "node"}, rulebook, *facts) == [[501, 502]]


# --- one before the other


@pytest.mark.parametrize(
    ("first", "then", "holds"),
    [
        ((10.0, 1, "a"), (20.0, 2, "b"), True),
        ((20.0, 1, "a"), (10.0, 2, "a"), False),
        ((10.0, 1, "a"), (41.0, 2, "a"), False),  # too late
        ((10.0, 1, "a"), (10.0, 2, "a"), True),  # one second, two lines
        ((10.0, 2, "a"), (10.0, 1, "a"), False),
        ((10.0, 2, "a"), (10.0, 1, "b"), True),
        ((None, 1, "a"), (10.0, 2, "a"), True),
        ((None, 2, "a"), (None, 1, "a"), False),
        ((None, 1, "a"), (None, 2, "b"), False),
    ],
)
def test_order(
    rulebook: Rulebook, first: tuple[float | None, int, str], then: tuple[float | None, int, str], holds: bool
) -> None:
    facts = [fact(kind, time=one[0], line=one[1], input=one[2]) for kind, one in (("xid", first), ("ecc", then))]
    assert bool(find({"first": XID, "then": ECC, "within": "30s"}, rulebook, *facts)) == holds


@pytest.mark.parametrize(
    ("ages", "holds"), [(("540", "480"), True), (("480", "540"), False), (("480", "480"), False), (("480", ""), False)]
)
def test_events_follow_by_age_also_when_the_newest_stands_first(
    rulebook: Rulebook, ages: tuple[str, str], holds: bool
) -> None:
    facts = [
        fact("event", code, line=line, age=age) for code, line, age in (("Failed", 2, ages[0]), ("Started", 1, ages[1]))
    ]
    when = {"first": {"kind": "event", "code": "Failed"}, "then": {"kind": "event", "code": "Started"}}
    assert bool(find(when, rulebook, *facts)) == holds


def test_a_fact_does_not_follow_itself(rulebook: Rulebook) -> None:
    assert find({"first": XID, "then": XID}, rulebook, fact("xid", time=5.0)) == []
    assert find(
        {"first": XID, "then": XID}, rulebook, fact("xid", time=5.0, line=1), fact("xid", time=5.0, line=2)
    ) == [[1, 2]]


def test_order_on_each_gpu(rulebook: Rulebook) -> None:
    when = {"first": XID, "then": ECC, "same": "gpu"}
    assert find(when, rulebook, fact("xid", entity="gpu:0", time=1.0), fact("ecc", entity="gpu:1", time=2.0)) == []
    facts = [
        fact(kind, line=400 + number, entity=f"gpu:{gpu}", time=float(number))
        for number, (kind, gpu) in enumerate([("xid", 0), ("xid", 1), ("ecc", 1), ("ecc", 0), ("xid", 2)])
    ]
    assert find(when, rulebook, *facts) == [[400, 403], [401, 402]]


# --- metrics


@pytest.mark.parametrize(
    ("bound", "holds"),
    [
        ({"above": 89}, True), ({"above": 90}, False), ({"at_least": 90}, True), ({"below": 90}, False), ({"at_most": 90}, True),
        ({"above": 10, "below": 50}, False), ({"bits": 0x10}, True), ({"bits": 0x04}, False), ({"rises": 30}, True), ({"rises": 31}, False),
    ],
)  # fmt: skip
def test_a_metric(rulebook: Rulebook, bound: dict[str, float], holds: bool) -> None:
    samples = [sample("temp", 60, 0.0, gpu="0"), sample("temp", 90, 60.0, gpu="0")]
    assert bool(find({"metric": "temp", **bound}, rulebook, *samples)) == holds
    assert find({"metric": "other", **bound}, rulebook, *samples) == []


def test_one_reading_does_not_rise(rulebook: Rulebook) -> None:
    assert find({"metric": "temp", "rises": 0}, rulebook, sample("temp", 90, 0.0)) == []


def test_several_names_of_a_metric_and_its_labels(rulebook: Rulebook) -> None:
    when = {"metric": ["temp", "temperature"], "above": 80, "where": {"gpu": "1"}}
    assert find(when, rulebook, sample("temp", 90, gpu="0")) == []
    assert len(find(when, rulebook, sample("temperature", 90, gpu="1"))) == 1


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ([90] * 11, True),
        ([90] * 10 + [10], False),
        ([10] + [90] * 11, True),
        ([90, 10] + [90] * 9, False),
        ([90] * 5, False),
        ([90], False),
    ],
)
def test_a_metric_for_a_while(rulebook: Rulebook, values: list[float], holds: bool) -> None:
    samples = [sample("temp", value, 60.0 * number) for number, value in enumerate(values)]
    assert bool(find({"metric": "temp", "above": 80, "for": "10m"}, rulebook, *samples)) == holds


def test_for_a_while_needs_times(rulebook: Rulebook) -> None:
    assert find({"metric": "temp", "above": 80, "for": "10m"}, rulebook, sample("temp", 90), sample("temp", 90)) == []


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([100, 98, 102, 40], 1, 0),
        ([100, 98, 102, 210], 0, 1),
        ([100, 98, 102, 99], 0, 0),
        ([100, 10], 0, 0),
        ([0, 0, 0, 0], 0, 0),
        ([0, 0, 0, 5], 0, 1),
    ],
)
def test_an_outlier_among_peers(rulebook: Rulebook, values: list[float], low: int, high: int) -> None:
    samples = [sample("power", value, 0.0, node="a", entity=f"gpu:{number}") for number, value in enumerate(values)]
    assert len(find({"metric": "power", "outlier": "low", "factor": 2}, rulebook, *samples)) == low
    assert len(find({"metric": "power", "outlier": "high", "factor": 2}, rulebook, *samples)) == high


# --- derived facts and queries


def test_a_derived_fact_stands_for_its_proof(rulebook: Rulebook) -> None:
    proof = [fact("step", line=301, entity="rank:1"), fact("step", line=302, entity="rank:2")]
    facts = Facts(list(proof))
    facts.add(fact("slow", entity="rank:7"), proof)
    conditions = Conditions(facts, rulebook)
    for when in (
        {"kind": "slow"},
        {"all": [{"kind": "slow"}, {"kind": "step"}]},
        {"count": 1, "of": {"kind": "slow"}, "same": "rank"},
    ):
        (match,) = conditions.find(When.model_validate(when))
        assert [one.line for one in match.observations] == [301, 302]
        assert match.subject is not None and match.subject.entity == "rank:7"


def test_a_query(tmp_path: Path) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "mine.sql").write_text("SELECT input, line, kind FROM observations")
    rulebook = make_rulebook(tmp_path, cause("gpu.lost", {"query": "mine"}))
    facts = make_facts(fact("xid", "79", line=9))
    facts.queries["mine"] = list(facts.observations)
    conditions = Conditions(facts, rulebook)
    assert len(conditions.find(When.model_validate({"query": "mine"}))) == 1
    assert conditions.find(When.model_validate({"query": "mine", "where": {"pid": 1}})) == []


# --- much of everything


@pytest.mark.parametrize(
    ("when", "count"),
    [
        ({"all": [XID, ECC], "same": "gpu"}, 2000),
        ({"all": [XID, ECC], "same": "gpu", "within": "1s"}, 0),
        ({"all": [XID, ECC], "within": "1s"}, 0),
        ({"all": [XID, ECC], "within_lines": 0}, 0),
        ({"first": ECC, "then": XID, "within": "1s"}, 0),
        ({"first": ECC, "then": XID, "same": "gpu"}, 0),
        ({"count": 1999, "of": XID, "within": "1s", "same": "node"}, 0),
        ({"count": 3, "of": {"any": [XID, ECC]}, "distinct": "gpu", "within": "1h"}, 1),
        ({"spread": "many", "by": "gpu", "of": XID}, 1),
    ],
)
def test_thousands_of_facts_are_judged(rulebook: Rulebook, when: dict[str, Any], count: int) -> None:
    facts = [
        fact(kind, entity=f"gpu:{number}", node="a", time=start + number)
        for kind, start in (("xid", 0.0), ("ecc", 1e6))
        for number in range(2000)
    ]
    assert len(find(when, rulebook, *facts)) == count
