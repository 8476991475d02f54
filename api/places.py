"""Who owns what a store keeps of a sweep: hosts, and jobs for lines that name no host; and what ties them together."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from collectors.observation import Observation, Relation
from collectors.store import Store
from diagnosis.entities import Resolver, kind_of
from diagnosis.facts import OWNED_KINDS

_MEMBER = re.compile(r"(.+-)\d+")


class Places:
    """The hosts and jobs of a batch.

    An owner is a host's name, a job (`job:train/llm`, or the pods of one set: `pod:train/llm-worker-`) for lines that name
    no host, or the input (`input watchdog.log`) of lines that name neither.
    """

    def __init__(
        self,
        relations: Sequence[Relation],
        nodes: Iterable[str],
        owned: Iterable[tuple[str, str, str]],
        communicators: Iterable[tuple[str, str]],
    ) -> None:
        """`owned` are (input, entity, node) of rows about pods, jobs and containers; `communicators` (node, identity)."""
        self._resolver = Resolver(relations)
        spellings: dict[str, set[str]] = defaultdict(set)
        for node in nodes:
            spellings[self.host(node)].add(node)
        self._spellings = {host: sorted(found) for host, found in spellings.items()}
        self.hosts = tuple(sorted(self._spellings))
        self._jobs: dict[str, str] = {}  # pod -> job
        for one in relations:
            ends = (kind_of(one.upper), kind_of(one.lower))
            if ends == ("job", "pod"):
                self._jobs[self._resolver.resolve(one.lower)] = one.upper
            elif ends == ("pod", "job"):
                self._jobs[self._resolver.resolve(one.upper)] = one.lower
        ties: dict[str, set[str]] = defaultdict(set)
        entities: dict[str, set[str]] = defaultdict(set)  # by owner
        homeless: set[str] = set()
        for name, entity, node in owned:
            key = self._key(entity)
            entities[key].add(entity)
            if node:
                entities[self.host(node)].add(entity)
                ties[self.host(node)].add(key)
            else:
                homeless.add(entity)
                entities[f"input {name}"].add(entity)
        for one in relations:
            kind, place = kind_of(one.upper), kind_of(one.lower)
            host = self.host(one.lower.partition(":")[2]) if place == "node" else self.host(one.node)
            if not host:
                continue
            if kind in OWNED_KINDS and (place == "node" or (place in ("gpu", "nic") and one.node)):
                entities[host].add(one.upper)
                ties[host].add(self._key(one.upper))
            elif kind == "rank" and place == "node":
                ties[host].add(f"input {one.input}")
        for node, identity in communicators:
            ties[self.host(node)].add(f"communicator {identity}")
        for owner in [*entities, *(f"input {one.input}" for one in relations)]:
            if owner not in self._spellings:
                ties[owner].add(owner)
        self.ties: Mapping[str, set[str]] = ties
        self.homeless = sorted(homeless)
        self._entities = entities

    @classmethod
    def read(cls, store: Store, batch: str) -> Places:
        """Read what a batch says."""
        names = "SELECT DISTINCT upper, lower, how, input, line, node FROM relations WHERE batch = ? ORDER BY ALL"
        relations = [Relation(*row) for row in store.query(names, [batch])]
        nodes = store.query(
            "SELECT DISTINCT node FROM observations WHERE batch = ? AND node <> '' "
            "UNION SELECT DISTINCT node FROM samples WHERE batch = ? AND node <> '' ORDER BY 1",
            [batch, batch],
        )
        owned = store.query(
            "SELECT DISTINCT input, entity, node FROM observations WHERE batch = ? "
            "AND split_part(entity, ':', 1) IN (?, ?, ?) ORDER BY ALL",
            [batch, *OWNED_KINDS],
        )
        starts = store.query(
            "SELECT DISTINCT node, attributes FROM observations WHERE batch = ? AND kind = 'init' AND node <> '' ORDER BY ALL",
            [batch],
        )
        known = [(row[0], json.loads(row[1]).get("communicator_id", "")) for row in starts]
        return cls(
            relations,
            [row[0] for row in nodes],
            [(row[0], row[1], row[2]) for row in owned],
            [(node, identity) for node, identity in known if identity],
        )

    def host(self, node: str) -> str:
        """Return the name of a host, whichever of its names is given."""
        return self._resolver.host(node)

    def spellings(self, host: str) -> list[str]:
        """Return how the store spells a host."""
        return self._spellings.get(host, [host])

    def entities_of(self, owners: Iterable[str]) -> list[str]:
        """Return the pods, jobs and containers that belong to owners."""
        return sorted({entity for owner in owners for entity in self._entities.get(owner, ())})

    def owner_of(self, one: Observation) -> str:
        """Return who owns an observation."""
        if one.node:
            return self.host(one.node)
        return self._key(one.entity) if kind_of(one.entity) in ("job", "pod") else f"input {one.input}"

    def _key(self, entity: str) -> str:
        """Return the job of a pod, else the set of pods that differ in their number only, else the thing itself."""
        name = self._resolver.resolve(entity)
        if name in self._jobs:
            return self._jobs[name]
        match = _MEMBER.fullmatch(name) if name.startswith("pod:") else None
        return match[1] if match else name
