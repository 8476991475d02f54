"""One identity for each thing."""

from __future__ import annotations

import itertools

import pytest

from collectors.observation import Relation
from diagnosis.entities import Resolver, kind_of, node_of
from tests.diagnosis.making import fact


def same(upper: str, lower: str, node: str = "node-a") -> Relation:
    return Relation(upper, lower, "same", "a.log", 1, node)


def test_names_of_one_gpu_are_joined_to_its_address() -> None:
    relations = [same("gpu:GPU-1", "gpu:3"), same("gpu:0000:3b:00.0", "gpu:GPU-1"), same("gpu:3", "gpu:nvidia3")]
    for order in itertools.permutations(relations):
        resolver = Resolver(order)
        for name in ("gpu:3", "gpu:GPU-1", "gpu:0000:3b:00.0", "gpu:nvidia3"):
            assert resolver.resolve(name, "node-a") == "gpu:node-a/0000:3b:00.0"


def test_the_same_name_on_another_host_is_another_thing() -> None:
    resolver = Resolver([same("gpu:0000:3b:00.0", "gpu:0", "node-a"), same("gpu:0000:5e:00.0", "gpu:0", "node-b")])
    assert resolver.resolve("gpu:0", "node-a") == "gpu:node-a/0000:3b:00.0"
    assert resolver.resolve("gpu:0", "node-b") == "gpu:node-b/0000:5e:00.0"
    assert resolver.resolve("gpu:0") == "gpu:0"
    assert resolver.resolve("", "node-a") == ""


def test_a_device_without_a_host_is_the_only_one_of_its_address() -> None:
    resolver = Resolver()
    resolver.join_bare([("gpu:0000:3b:00.0", "node-a"), ("gpu:0000:3b:00.0", ""), ("gpu:1", "node-a"), ("gpu:1", "")])
    assert resolver.resolve("gpu:0000:3b:00.0") == "gpu:node-a/0000:3b:00.0"
    assert resolver.resolve("gpu:1") == "gpu:1"  # an index says too little
    resolver = Resolver()
    resolver.join_bare([("gpu:0000:3b:00.0", host) for host in ("node-a", "node-b", "")])
    assert resolver.resolve("gpu:0000:3b:00.0") == "gpu:0000:3b:00.0"  # of either host


def test_what_rests_on_something_is_not_the_same() -> None:
    assert (
        Resolver([Relation("rank:3", "gpu:0", "rests", "a.log", 1, "node-a")]).resolve("gpu:0", "node-a")
        == "gpu:node-a/0"
    )


def test_a_long_chain_of_names_ends() -> None:
    resolver = Resolver([same(f"gpu:{number:05d}", f"gpu:{number + 1:05d}") for number in range(3000)])
    assert len({resolver.resolve(f"gpu:{number:05d}", "node-a") for number in range(3001)}) == 1


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("gpu", "gpu:node-a/0000:3b:00.0"),
        ("node", "node:node-a"),
        ("rank", "rank:11"),
        ("pod", ""),
        ("nic", "nic:node-a/mlx5_3"),
    ],
)
def test_an_observation_says_what_it_is_about(kind: str, expected: str) -> None:
    one = fact("xid", node="node-a", entity="gpu:0000:3b:00.0", rank="11", nic="mlx5_3")
    assert Resolver().entity_of(one, kind) == expected


@pytest.mark.parametrize(
    ("entity", "kind", "node"),
    [
        ("gpu:node-a/0000:3b:00.0", "gpu", "node-a"),
        ("gpu:0000:3b:00.0", "gpu", ""),
        ("node:node-a", "node", "node-a"),
        ("pod:train/worker-0", "pod", ""),
        ("rank:11", "rank", ""),
        ("", "", ""),
    ],
)
def test_parts_of_an_entity(entity: str, kind: str, node: str) -> None:
    assert (kind_of(entity), node_of(entity)) == (kind, node)
