"""Which kept evidence concerns an alert: the hosts that its labels lead to, by the names and relations that inputs state."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from api.alert_labels import Victim
from collectors.identity import normalise_node
from collectors.observation import Relation
from collectors.store import Store
from diagnosis.entities import Resolver, kind_of
from diagnosis.model import CausePart

MOST_NODES = 512
_UNIQUE = ("gpu:GPU-", "gpu:MIG-")  # a UUID is one card's, on whatever host
_MEMBER = re.compile(r"(.+-)(\d+)")


@dataclass(frozen=True, slots=True)
class Scope:
    """The hosts (None: all of them) and entities to look at, and remarks on how they were found."""

    nodes: tuple[str, ...] | None
    entities: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """Return what alerts about the same things share: their hosts, else their entities."""
        return self.nodes or self.entities or ("",)

    def joined(self, other: Scope) -> Scope:
        """Return the scope with the other's entities and remarks too."""
        return replace(
            self,
            entities=tuple(sorted({*self.entities, *other.entities})),
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
        )


class Index:
    """The names and relations of what the store keeps, read once for a notification."""

    def __init__(self, hosts: Sequence[str], places: Sequence[tuple[str, str]], relations: Sequence[Relation]) -> None:
        self.resolver = Resolver(relations)
        self._hosts: Mapping[str, set[str]] = defaultdict(set)
        for host in hosts:
            for name in (normalise_node(host), self._canonical(host)):
                self._hosts[name].add(host)
        self._places: Mapping[str, set[str]] = defaultdict(set)  # pod, job or GPU with a UUID -> hosts
        for entity, host in places:
            self._places[entity].add(host)
        self._pods: Mapping[str, set[str]] = defaultdict(set)  # job -> pods
        for one in relations:
            ends = (kind_of(one.upper), kind_of(one.lower))
            for name in (one.upper, one.lower):
                if name.startswith(_UNIQUE) and one.node:
                    self._places[name].add(one.node)
            if ends[0] in ("pod", "job") and ends[1] == "node":
                self._places[one.upper].add(one.lower.partition(":")[2])
            elif ends[0] in ("pod", "job") and one.node and ends[1] in ("gpu", "nic"):
                self._places[one.upper].add(one.node)
            elif ends == ("job", "pod"):
                self._pods[one.upper].add(one.lower)
            elif ends == ("pod", "job"):
                self._pods[one.lower].add(one.upper)
        self._sets: Mapping[str, set[str]] = defaultdict(set)  # what a set of pods is called -> its pods
        for name in {*self._places, *(pod for pods in self._pods.values() for pod in pods)}:
            if name.startswith("pod:") and (match := _MEMBER.fullmatch(name)) is not None:
                self._sets[match[1]].add(name)
        self._scopes: dict[Victim, Scope] = {}

    @classmethod
    def read(cls, store: Store) -> Index:
        """Read the names that the store knows."""
        hosts = store.query(
            "SELECT DISTINCT node FROM observations WHERE node <> '' UNION SELECT DISTINCT node FROM samples WHERE node <> '' ORDER BY 1"
        )
        places = store.query(
            "SELECT DISTINCT entity, node FROM observations WHERE node <> '' AND (entity LIKE 'pod:%' OR entity LIKE 'job:%' "
            "OR entity LIKE 'gpu:GPU-%') UNION SELECT DISTINCT entity, node FROM samples WHERE node <> '' "
            "AND entity LIKE 'gpu:GPU-%' ORDER BY ALL"
        )
        rows = store.query("SELECT DISTINCT upper, lower, how, input, line, node FROM relations ORDER BY ALL")
        return cls([row[0] for row in hosts], [(row[0], row[1]) for row in places], [Relation(*row) for row in rows])

    def scope_of(self, victim: Victim) -> Scope:
        """Return what to look at for an alert about `victim`."""
        if victim not in self._scopes:
            self._scopes[victim] = self._find_scope(victim)
        return self._scopes[victim]

    def scope_of_namespace(self, namespace: str) -> Scope:
        """Return the pods and jobs of a Kubernetes namespace and the hosts that they run on."""
        heads = (f"pod:{namespace}/", f"job:{namespace}/")
        names = {*self._places, *self._pods, *(pod for pods in self._pods.values() for pod in pods)}
        entities = {name for name in names if name.startswith(heads)}
        places = {host for name in entities for host in self._places.get(name, ())}
        hosts = {spelling for host in places for spelling in self._spellings(host)}
        return Scope(tuple(sorted(hosts)[:MOST_NODES]), tuple(sorted(entities)))

    def _find_scope(self, victim: Victim) -> Scope:
        notes: list[str] = []
        entities = [*victim.pod_entities, *([f"job:{victim.job}"] if victim.job else [])]
        if victim.gpu.startswith(("GPU-", "MIG-")) and not victim.nodes:
            entities.append(f"gpu:{victim.gpu}")
        named = {host for node in victim.nodes for host in self._spellings(node)}
        pods = {*victim.pod_entities, *(pod for name in entities for pod in self._pods.get(name, ()))}
        mates = {mate for pod in pods for mate in self._mates(pod)} - pods
        places = {host for name in (*entities, *pods) for host in self._places.get(name, ())}
        others = {host for mate in mates for host in self._places.get(mate, ())} - places - named
        if others:
            notes.append(f"looked at {len(others)} more host(s), of pods that belong to the same set")
        hosts = {spelling for host in (*named, *places, *others) for spelling in self._spellings(host)}
        entities = sorted({*entities, *pods, *mates})
        if not hosts and not entities:
            notes.append("the labels name no node, GPU, pod or job: looked at all evidence of the window")
            return Scope(None, (), tuple(notes))
        known = {host for spellings in self._hosts.values() for host in spellings}
        if not hosts & known:
            notes.append("no evidence is kept of what the labels name; send some to /v1/ingest/auto")
        return Scope(tuple(sorted(hosts)[:MOST_NODES]), tuple(entities), tuple(notes))

    def find_concerned(self, cause: CausePart, victims: Sequence[Victim]) -> str:
        """Return the very GPU or NIC that an alert names and a cause is about, "" when there is none."""
        found = {self.resolver.resolve(name): name for name in (*cause.also_on, cause.entity)}
        for victim in victims:
            for host in {spelling for node in victim.nodes for spelling in self._spellings(node)} | {""}:
                names = [f"gpu:{victim.gpu}" if victim.gpu else "", f"nic:{victim.nic}" if victim.nic else ""]
                for name in filter(None, names):
                    if (known := self.resolver.resolve(name, host)) in found:
                        return found[known]
        return ""

    def _canonical(self, host: str) -> str:
        return self.resolver.resolve(f"node:{host}").partition(":")[2]

    def _spellings(self, host: str) -> set[str]:
        """Return how the store spells a host, or the name itself when it has not seen it."""
        return (
            self._hosts.get(host)
            or self._hosts.get(normalise_node(host))
            or self._hosts.get(self._canonical(host))
            or {host}
        )

    def _mates(self, pod: str) -> set[str]:
        """Return the pods that differ from this one only in their number: a job hangs everywhere when one member fails."""
        match = _MEMBER.fullmatch(pod)
        return self._sets[match[1]] if match is not None and match[1] in self._sets else set()
