"""One identity for each thing: joins the names that different programs give to one GPU, NIC, host or pod."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from collectors.observation import HOST_KINDS, Observation, Relation, qualify

WIDE_KINDS = frozenset({"job", "rank", "process", "pod", "container", "queue", "namespace", "cluster"})


class Resolver:
    """Maps an entity's spelling to its canonical one, by the `same` relations that the inputs state.

    `hosts` maps other names of a host (its address, the name of a pod that a program took for its host's) to its name.
    """

    def __init__(self, relations: Iterable[Relation] = ()) -> None:
        self._parent: dict[str, str] = {}
        self._known: dict[tuple[str, str], str] = {}
        ordered = sorted(relations, key=lambda one: (one.upper, one.lower, one.input, one.line))
        self.hosts = _name_hosts(ordered)
        for relation in ordered:
            if relation.how == "same" and kind_of(relation.upper) != "node":
                host = self.host(relation.node)
                self._join(qualify(relation.upper, host), qualify(relation.lower, host))

    def join_bare(self, named: Iterable[tuple[str, str]]) -> None:
        """Join a device that is named without a host with the only one on a host that has its address; `named` are (entity, host)."""
        bare: set[str] = set()
        placed: dict[str, set[str]] = defaultdict(set)
        for entity, node in named:
            kind, _, name = entity.partition(":")
            if kind in HOST_KINDS and "/" not in name and (name.count(":") >= 2 or name.startswith("GPU-")):
                if node:
                    placed[entity].add(qualify(entity, self.host(node)))
                else:
                    bare.add(entity)
        for entity in sorted(bare & placed.keys()):
            if len(placed[entity]) == 1:
                self._join(entity, next(iter(placed[entity])))

    def host(self, node: str) -> str:
        """Return the name of a host, whichever of its names is given."""
        return self.hosts.get(node, node)

    def _find(self, name: str) -> str:
        while self._parent.get(name, name) != name:
            name = self._parent[name]
        return name

    def _join(self, one: str, other: str) -> None:
        first, second = self._find(one), self._find(other)
        if first != second:
            best, worse = sorted((first, second), key=_plainness)
            self._parent[worse] = best
            self._parent.setdefault(best, best)

    def resolve(self, entity: str, node: str = "") -> str:
        """Return the canonical identity of an entity on a node (both as an observation states them)."""
        known = self._known.get((entity, node))
        if known is None:
            if entity.startswith("node:"):
                known = f"node:{self.host(entity[5:])}"
            else:
                known = self._find(qualify(entity, self.host(node))) if entity else ""
            self._known[entity, node] = known
        return known

    def entity_of(self, observation: Observation, kind: str) -> str:
        """Return which entity of a kind an observation is about, "" when it does not say."""
        if kind == "node":
            return f"node:{self.host(observation.node)}" if observation.node else ""
        if observation.entity.startswith(f"{kind}:"):
            return self.resolve(observation.entity, observation.node)
        value = observation.attributes.get(kind)
        if value:
            return self.resolve(f"{kind}:{value}", observation.node)
        return ""


def _name_hosts(relations: Iterable[Relation]) -> dict[str, str]:
    """Return address -> host for addresses that only one host claims, and pod -> host for pods whose host is stated."""
    names: dict[str, set[str]] = defaultdict(set)
    hosts: set[str] = set()
    pods: dict[str, set[str]] = defaultdict(set)
    for one in relations:
        if kind_of(one.upper) == kind_of(one.lower) == "node" and one.how == "same":
            first, second = sorted((one.upper[5:], one.lower[5:]), key=lambda name: (not _is_address(name), name))
            if _is_address(first) and not _is_address(second):
                names[first].add(second)
        elif kind_of(one.upper) == "pod" and kind_of(one.lower) == "node":
            pods[one.upper.partition(":")[2].rpartition("/")[2]].add(one.lower[5:])
            hosts.add(one.lower[5:])
    found = {name: next(iter(where)) for name, where in pods.items() if len(where) == 1 and name not in hosts}
    for address, named in names.items():
        whole = {found.get(name, name) for name in named}
        if len(whole) == 1:
            found[address] = next(iter(whole))
    return {name: host for name, host in found.items() if name != host}


def _is_address(name: str) -> bool:
    return bool(re.fullmatch(r"\d+\.\d+\.\d+\.\d+|[0-9a-f]*:[0-9a-f:.]+(?:%\w+)?", name))


def _plainness(name: str) -> tuple[int, bool, str]:
    """PCI addresses first, then UUIDs, then indices: the order in which an engineer trusts them. For a NIC, its names first."""
    tail = name.rpartition("/")[2].partition(":")[2] if "/" not in name else name.rpartition("/")[2]
    if name.startswith(("nic:", "link:")):
        numbered = tail.startswith("ib-") or (tail[:4].isalnum() and tail.count(":") >= 2)
        return (
            2 if numbered else 0 if re.match(r"(?:mlx\d|bnxt_re|irdma|efa|hfi|rocep|ibp)", tail) else 1,
            False,
            name,
        )
    return (0 if tail.count(":") >= 2 else 1 if tail.startswith("GPU-") else 2, "/" not in name, name)


def kind_of(entity: str) -> str:
    """Return the kind in `kind:name`."""
    return entity.partition(":")[0]


def node_of(entity: str) -> str:
    """Return the host in `kind:node/name` or `node:name`, "" when there is none."""
    kind, _, name = entity.partition(":")
    if kind == "node":
        return name
    return name.partition("/")[0] if kind in HOST_KINDS and "/" in name else ""
