"""The dependency graph: what rests on what, and the way from what hurts to the culprit."""

from __future__ import annotations

import networkx as nx
import pytest

from collectors.observation import Record, Relation
from diagnosis.graph import JOB, build_graph, find_path, rests_on
from tests.diagnosis.making import fact, make_facts

GPU_A, GPU_B = "gpu:node-a/0000:3b:00.0", "gpu:node-b/0000:3b:00.0"


def rests(upper: str, lower: str, node: str = "") -> Relation:
    return Relation(upper, lower, "rests", "a.log", 1, node)


@pytest.fixture
def graph() -> nx.DiGraph:
    records: list[Record] = [
        fact("xid", entity="gpu:0000:3b:00.0", node="node-a"),
        fact("xid", entity="gpu:0000:3b:00.0", node="node-b"),
        fact("port", entity="nic:mlx5_3", node="node-b"),
        rests("rank:0", "gpu:0000:3b:00.0", "node-a"),
        rests("rank:11", "gpu:0000:3b:00.0", "node-b"),
        rests("rank:11", "nic:mlx5_3", "node-b"),
        rests("nic:mlx5_3", "switch:leaf-1", "node-b"),
        Relation("gpu:0000:3b:00.0", "gpu:0", "same", "a.log", 1, "node-a"),
        rests("pod:train/worker-0", "node:node-a"),
    ]
    return build_graph(make_facts(*records), ["gpu:node-c/0000:5e:00.0"])


def test_edges_run_down(graph: nx.DiGraph) -> None:
    assert list(graph.successors(GPU_A)) == ["node:node-a"]
    assert nx.has_path(graph, "rank:11", "switch:leaf-1")
    assert nx.has_path(graph, JOB, GPU_B)
    assert list(graph.successors("gpu:node-c/0000:5e:00.0")) == ["node:node-c"]
    assert "gpu:node-a/0" not in graph


def test_unexplained_lines_add_nothing() -> None:
    graph = build_graph(make_facts(fact("unexplained", entity="gpu:0", node="node-a")))
    assert not graph


def test_ranks_belong_to_this_job_and_not_to_any_job_that_is_named() -> None:
    graph = build_graph(make_facts(fact("x", entity="rank:3"), fact("x", entity="job:nightly-backup")))
    assert list(graph.edges) == [(JOB, "rank:3")]


@pytest.mark.parametrize(
    ("upper", "lower", "expected"),
    [
        (GPU_A, GPU_A, True),
        ("", GPU_A, True),
        (GPU_A, "", True),
        ("rank:0", GPU_B, True),  # one member stops all
        (GPU_A, "node:node-a", True),
        (GPU_A, "node:node-b", False),
        (GPU_A, GPU_B, False),
        ("nic:node-b/mlx5_3", "switch:leaf-1", True),
        ("nic:node-b/mlx5_3", GPU_B, False),  # neighbours
        (GPU_B, "nvswitch:node-b/nvswitch0", True),
        ("node:node-b", GPU_B, True),
        ("gpu:node-z/0", "gpu:node-z/1", False),
        ("node:node-b", "filesystem:/data", True),  # which may well be mounted there
    ],
)
def test_what_rests_on_what(graph: nx.DiGraph, upper: str, lower: str, expected: bool) -> None:
    assert rests_on(graph, upper, lower) == expected


def test_a_rank_alone_rests_on_its_own_gpu_when_asked_narrowly(graph: nx.DiGraph) -> None:
    assert rests_on(graph, "rank:11", GPU_B, wide=False)
    assert rests_on(graph, "rank:11", "switch:leaf-1", wide=False)


@pytest.mark.parametrize(
    ("upper", "lower", "expected"),
    [
        (JOB, "switch:leaf-1", [JOB, "rank:11", "node:node-b", "nic:node-b/mlx5_3", "switch:leaf-1"]),
        (GPU_A, GPU_A, [GPU_A]),
        ("", GPU_A, [GPU_A]),
        (GPU_A, "", [GPU_A]),
        ("", "", []),
        ("rank:0", "switch:leaf-1", ["rank:0", JOB, "rank:11", "node:node-b", "nic:node-b/mlx5_3", "switch:leaf-1"]),
        ("rank:99", "gpu:node-z/0", ["rank:99", "node:node-z", "gpu:node-z/0"]),
        ("rank:99", "node:node-z", ["rank:99", "node:node-z"]),
    ],
)
def test_the_way_to_the_culprit(graph: nx.DiGraph, upper: str, lower: str, expected: list[str]) -> None:
    assert find_path(graph, upper, lower) == expected


def test_a_large_cluster_is_asked_often() -> None:
    records: list[Record] = []
    for rank in range(2000):
        records += [
            rests(f"rank:{rank}", f"gpu:{rank % 8}", f"node-{rank // 8}"),
            rests(f"nic:mlx5_{rank % 8}", f"switch:{rank // 64}", f"node-{rank // 8}"),
        ]
    graph = build_graph(make_facts(*records))
    uppers = [f"nic:node-{node}/mlx5_{port}" for node in range(250) for port in range(8)]
    assert (
        sum(rests_on(graph, upper, f"switch:{switch}") for upper in uppers for switch in range(32)) == len(uppers) * 32
    )


def test_a_rank_rests_on_the_gpu_that_it_speaks_of_and_on_its_process() -> None:
    found = build_graph(
        make_facts(
            fact("cuda-oom", entity="gpu:3", node="node-a", rank="11"),
            fact("init", "COMPLETE", entity="rank:11", node="node-a", rank="11", pid="4242"),
        )
    )
    assert {"gpu:node-a/3", "process:node-a/4242"} <= set(found.successors("rank:11"))
