"""The dependency graph: what rests on what, built from the relations and the entities that the inputs show.

Edges run from what is affected to what it rests on: job → rank → GPU → node, rank → NIC → link, pod → node, GPU → node.
Everything that lives on a host rests on its node.
"""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

from diagnosis.entities import WIDE_KINDS, kind_of, node_of
from diagnosis.facts import Facts

JOB = "job:this job"


def build_graph(facts: Facts, extra: Iterable[str] = ()) -> nx.DiGraph:
    """Return the graph of all entities that the facts name, and of `extra` ones (of hypotheses)."""
    graph: nx.DiGraph = nx.DiGraph()
    resolver = facts.resolver
    for relation in facts.relations:
        if relation.how == "same":
            continue
        upper, lower = resolver.resolve(relation.upper, relation.node), resolver.resolve(relation.lower, relation.node)
        if upper != lower:
            graph.add_edge(upper, lower)
    placed: set[tuple[str, str]] = set()
    for one in facts.observations:
        if one.entity and one.kind != "unexplained" and (one.entity, one.node) not in placed:
            placed.add((one.entity, one.node))
            _add(graph, resolver.resolve(one.entity, one.node), one.node)
        rank = one.attributes.get("rank", "")
        if rank.isdigit() and one.entity.startswith("gpu:"):  # what a rank says about a GPU is about its own
            graph.add_edge(f"rank:{rank}", resolver.resolve(one.entity, one.node))
        elif rank.isdigit() and one.kind == "init" and one.node and one.attributes.get("pid"):
            _add(graph, process := resolver.resolve(f"process:{one.attributes['pid']}", one.node), one.node)
            graph.add_edge(f"rank:{rank}", process)
    for entity in extra:
        _add(graph, entity, node_of(entity))
    for rank in sorted(name for name in graph if kind_of(name) == "rank"):
        graph.add_edge(JOB, rank)  # one paste, one job: a job among the Kubernetes objects may be any other
    return graph


def _add(graph: nx.DiGraph, entity: str, node: str) -> None:
    if not entity:
        return
    graph.add_node(entity)
    host = node_of(entity) or node
    if host and kind_of(entity) not in ("node", "link", "switch", "filesystem", "job", "queue", "cluster", "namespace"):
        graph.add_edge(entity, f"node:{host}")


def rests_on(graph: nx.DiGraph, upper: str, lower: str, *, wide: bool = True) -> bool:
    """Tell whether `upper` is affected when `lower` fails.

    An unknown entity ("") may rest on anything. With `wide`, a rank, job or pod rests on whatever its job uses, on any host:
    one failing member stops a collective everywhere.
    """
    if not upper or not lower or upper == lower:
        return True
    if wide and kind_of(upper) in WIDE_KINDS:
        return True
    upper_node, lower_node = node_of(upper), node_of(lower)
    if upper_node and lower_node and upper_node != lower_node:
        return False
    if lower in _below(graph, upper):
        return True
    if upper_node and upper_node == lower_node:
        return kind_of(upper) != kind_of(lower) and (
            kind_of(lower) in ("node", "nvswitch", "pcie_device") or kind_of(upper) == "node"
        )
    return not upper_node or not lower_node


def _below(graph: nx.DiGraph, upper: str) -> set[str]:
    """Return all that an entity rests on; kept with the graph, which does not change once it is built."""
    known: dict[str, set[str]] = graph.graph.setdefault("below", {})
    if upper not in known:
        known[upper] = nx.descendants(graph, upper) if upper in graph else set()
    return known[upper]


def _both_ways(graph: nx.DiGraph) -> nx.Graph:
    """Return the graph with edges that lead both ways; kept with it."""
    if "both ways" not in graph.graph:
        graph.graph["both ways"] = graph.to_undirected(as_view=True)
    view: nx.Graph = graph.graph["both ways"]
    return view


def find_path(graph: nx.DiGraph, upper: str, lower: str, *, by_way_of: Iterable[str] = ()) -> list[str]:
    """Return the entities on the way from what hurts to the culprit, a short list even when no edge is known.

    Where the two meet only through a shared job or host, the way runs up to the job and down to the culprit's host.
    """
    stops = [name for name in by_way_of if name and name not in (upper, lower)]
    if not lower or upper == lower or not upper:
        return (
            [name for name in (upper, *stops, lower) if name][:1]
            if upper == lower
            else [name for name in (upper, *stops, lower) if name]
        )
    if upper in graph and lower in graph:
        if nx.has_path(graph, upper, lower):
            return _with_hosts(str(name) for name in nx.shortest_path(graph, upper, lower))
        both_ways = _both_ways(graph)
        if nx.has_path(both_ways, upper, lower):
            return _with_hosts(str(name) for name in nx.shortest_path(both_ways, upper, lower))
    host = node_of(lower)
    middle = [f"node:{host}"] if host and lower != f"node:{host}" else []
    return [upper, *(name for name in (*stops, *middle) if name not in (upper, lower)), lower]


def _with_hosts(path: Iterable[str]) -> list[str]:
    """Name the host before the first of its devices on a way."""
    found: list[str] = []
    for name in path:
        host = f"node:{node_of(name)}" if node_of(name) else ""
        if host and name != host and found and host not in found and not node_of(found[-1]):
            found.append(host)
        found.append(name)
    return list(dict.fromkeys(found))
