"""Repeats are thinned out only when an input says the same thing very often, and the thinning is told."""

from __future__ import annotations

from collectors.observation import Observation, Record, Relation, Sample
from collectors.thinning import Thinner


def observe(line: int, code: str = "79", entity: str = "") -> Observation:
    return Observation("kernel", "xid", "a", line, line, "text", code=code, entity=entity)


def thin(records: list[Record]) -> Thinner:
    thinner = Thinner()
    thinner.add(records)
    return thinner


def test_a_few_hundred_repeats_are_all_kept() -> None:
    records: list[Record] = [observe(line) for line in range(500)]
    thinner = thin(records)
    assert thinner.records() == records and thinner.note() == ""


def test_the_first_and_the_last_of_many_are_kept() -> None:
    thinner = thin([observe(line) for line in range(5000)])
    assert [one.line for one in thinner.records()] == [*range(500), *range(4500, 5000)]
    assert thinner.note() == "4000 repeats left out, the first and last of each kept; most often xid 79: 5000 lines"


def test_what_is_rare_among_repeats_is_kept() -> None:
    records: list[Record] = [observe(line) for line in range(5000)]
    records[2500] = observe(2500, "48", "gpu:0000:3b:00.0")
    assert [one.line for one in thin(records).records() if isinstance(one, Observation) and one.code == "48"] == [2500]


def test_series_are_counted_apart_and_a_relation_is_kept_once() -> None:
    records: list[Record] = []
    for line in range(600):
        records.append(Sample("dcgm-metrics", "temperature", float(line), "a", line, labels={"gpu": "0"}))
        records.append(Sample("dcgm-metrics", "temperature", float(line), "a", line, labels={"gpu": "1"}))
        records.append(Relation("rank:1", "gpu:0", "on", "a", line))
    assert len(thin(records).records()) == 1201 and thin(records).note() == ""


def test_many_different_things_leave_memory_flat() -> None:
    thinner = Thinner()
    for start in range(0, 400_000, 10_000):
        thinner.add(observe(line, str(line % 20_000), f"gpu:{line}") for line in range(start, start + 10_000))
    assert len(thinner.records()) < 220_000 and thinner.note()
