"""One identity for each thing: joins the names that different programs give to one GPU, NIC, host or pod."""

from __future__ import annotations

from collections.abc import Iterable

from collectors.observation import HOST_KINDS, Observation, Relation, qualify

WIDE_KINDS = frozenset({"job", "rank", "process", "pod", "container", "queue", "namespace", "cluster"})


class Resolver:
    """Maps an entity's spelling to its canonical one, by the `same` relations that the inputs state."""

    def __init__(self, relations: Iterable[Relation] = ()) -> None:
        self._parent: dict[str, str] = {}
        for relation in sorted(relations, key=lambda one: (one.upper, one.lower, one.input, one.line)):
            if relation.how == "same":
                self._join(qualify(relation.upper, relation.node), qualify(relation.lower, relation.node))

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
        return self._find(qualify(entity, node)) if entity else ""

    def entity_of(self, observation: Observation, kind: str) -> str:
        """Return which entity of a kind an observation is about, "" when it does not say."""
        if kind == "node":
            return f"node:{observation.node}" if observation.node else ""
        if observation.entity.startswith(f"{kind}:"):
            return self.resolve(observation.entity, observation.node)
        value = observation.attributes.get(kind)
        if value:
            return self.resolve(f"{kind}:{value}", observation.node)
        return ""


def _plainness(name: str) -> tuple[int, str]:
    """PCI addresses first, then UUIDs, then indices: the order in which an engineer trusts them."""
    tail = name.rpartition("/")[2].partition(":")[2] if "/" not in name else name.rpartition("/")[2]
    return (0 if tail.count(":") >= 2 else 1 if tail.startswith("GPU-") else 2, name)


def kind_of(entity: str) -> str:
    """Return the kind in `kind:name`."""
    return entity.partition(":")[0]


def node_of(entity: str) -> str:
    """Return the host in `kind:node/name` or `node:name`, "" when there is none."""
    kind, _, name = entity.partition(":")
    if kind == "node":
        return name
    return name.partition("/")[0] if kind in HOST_KINDS and "/" in name else ""
