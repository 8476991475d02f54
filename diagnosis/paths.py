"""The way from what hurts to the culprit, entity by entity, as a report shows it."""

from __future__ import annotations

import networkx as nx

from diagnosis.entities import kind_of
from diagnosis.graph import find_path
from diagnosis.model import Hypothesis


def trace_path(one: Hypothesis, graph: nx.DiGraph) -> list[str]:
    """Return the entities from what hurts most visibly to the culprit."""
    if one.because_of is not None:
        return find_path(graph, one.place, one.because_of.place)
    hurt = sorted(
        (s for s in one.explains if not s.layer and s.entity), key=lambda s: (s.entity.split(":")[0] != "job", s.key)
    )
    start = hurt[0].entity if hurt else ""
    if not start:
        start = next((other.entity for other in one.explains if other.entity and other.entity != one.entity), "")
    end = one.place
    known = kind_of(end) != "node" and start in graph and end in graph and nx.has_path(graph, start, end)
    ranks = [] if known else _ranks_named(one, graph) or _ranks_hit(one, graph)
    if len(ranks) == 1 and start not in ("", ranks[0], end):  # of the many that may be on a host, the one that was hit
        return list(
            dict.fromkeys([*find_path(graph, start, ranks[0]), ranks[0], *find_path(graph, one.host, end), end])
        )
    return find_path(graph, start, end)


def _ranks_named(one: Hypothesis, graph: nx.DiGraph) -> list[str]:
    """Return the ranks whose processes the evidence names, or that say it themselves."""
    found: dict[str, None] = {}
    for fact in one.observations():
        process = f"process:{fact.node}/{fact.attributes.get('pid', '')}"
        if process in graph:
            found |= dict.fromkeys(name for name in sorted(graph.predecessors(process)) if kind_of(name) == "rank")
        if fact.entity.startswith("rank:") and fact.node == one.node:
            found[fact.entity] = None
    return list(found)


def _ranks_hit(one: Hypothesis, graph: nx.DiGraph) -> list[str]:
    """Return the ranks of which what a cause brought about is told, unless they are known to run on another host."""
    ranks = {other.entity for other in one.explains if other.layer and kind_of(other.entity) == "rank"}
    hosts = {
        rank: {name for name in graph.successors(rank) if kind_of(name) == "node"} if rank in graph else set()
        for rank in ranks
    }
    return sorted(rank for rank, names in hosts.items() if not names or one.host in names)
