"""Entities and their full identity."""

from __future__ import annotations

import pickle

import pytest

from collectors.observation import HOST_KINDS, Observation, Record, Relation, Sample, qualify


@pytest.mark.parametrize(
    ("entity", "node", "expected"),
    [
        ("gpu:0000:3b:00.0", "node-a", "gpu:node-a/0000:3b:00.0"),
        ("gpu:node-b/0", "node-a", "gpu:node-b/0"),
        ("gpu:0", "", "gpu:0"),
        ("pod:train/worker-0", "node-a", "pod:train/worker-0"),
        ("rank:11", "node-a", "rank:11"),
        ("", "node-a", ""),
    ],
)
def test_only_names_bound_to_a_host_are_qualified(entity: str, node: str, expected: str) -> None:
    assert qualify(entity, node) == expected


@pytest.mark.parametrize("kind", sorted(HOST_KINDS))
def test_qualifying_twice_changes_nothing(kind: str) -> None:
    once = qualify(f"{kind}:3", "node-a")
    assert qualify(once, "node-b") == once


def test_observations_with_different_attributes_are_different_but_hash_alike() -> None:
    one, other = (Observation("kernel", "xid", "a.log", 1, 1, "text", attributes={"pid": pid}) for pid in ("1", "2"))
    assert one != other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    "record",
    [
        Observation("kernel", "xid", "a", 3, 4, "text", "79", 1.5, "node-a", "gpu:0", {"pid": "7"}, "raw"),
        Sample("metrics", "up", 1.0, "a", 3, 1.5, "node-a", "gpu:0", {"gpu": "0"}, "raw"),
        Relation("rank:1", "gpu:0", "rests-on", "a", 3, "node-a"),
    ],
)
def test_a_record_arrives_whole_in_another_process(record: Record) -> None:
    assert pickle.loads(pickle.dumps(record)) == record
