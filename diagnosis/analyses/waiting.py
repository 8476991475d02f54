"""What still waits, and why: the schedulers' messages that nothing later has settled, and the capacity that the inputs show."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.observation import Observation
from collectors.orchestration.kube_resources import is_device, parse_quantity
from collectors.orchestration.scheduling_clauses import Clause
from collectors.orchestration.scheduling_messages import read_reasons
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_TRUE_IS_GOOD = frozenset(
    {"QuotaReserved", "Admitted", "PodScheduled", "Scheduled", "Ready", "PodsReady", "Initialized", "Active"}
)
_TRUE_IS_BAD = frozenset(
    {"Unschedulable", "UnschedulableOnNodePool", "Evicted", "Preempted", "DisruptionTarget", "Failed"}
)
_SETTLING_EVENTS = frozenset({"Scheduled", "Admitted", "QuotaReserved", "Started"})
_REQUEST_PATH = re.compile(r"resources\.(?:requests|limits)\.([\w./-]+)$")
_SETTLING_CONDITIONS = frozenset({"PodScheduled", "QuotaReserved", "Admitted", "Scheduled"})


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message about something that still waits."""

    entity: str
    observation: Observation
    clauses: tuple[Clause, ...]


@dataclass(slots=True)
class Capacity:
    """What the node tables show of one resource: by node, how much there is, how much is requested, and the lines that say so."""

    allocatable: dict[str, float] = field(default_factory=dict)
    requested: dict[str, float] = field(default_factory=dict)
    lines: dict[str, Observation] = field(default_factory=dict)
    request_lines: dict[str, Observation] = field(default_factory=dict)

    def free(self) -> dict[str, float]:
        """Return what is free on each node for which both numbers are known."""
        return {
            node: value - self.requested[node] for node, value in self.allocatable.items() if node in self.requested
        }


def find_waiting(facts: Facts) -> list[Waiting]:
    """Return the latest message of each kind about each thing that still waits, in a stable order."""
    settled = _find_settled(facts)
    found: dict[tuple[str, str, str], Waiting] = {}
    covered: set[tuple[str, int]] = set()
    for kind in ("event", "condition", "pod", "klog", "scheduling-message"):
        for one in facts.by_kind.get(kind, ()):
            message = one.attributes.get("message", "")
            if not message or message.startswith("Previously:"):
                continue
            if kind == "scheduling-message" and (one.input, one.line) in covered:
                continue
            covered.update((one.input, number) for number in range(one.line, min(one.line_end, one.line + 60) + 1))
            if kind == "condition" and _is_past(one):
                continue
            clauses = tuple(read_reasons(message))
            if not clauses:
                continue
            entity = (
                facts.resolver.resolve(one.entity, one.node)
                if one.entity and not one.entity.startswith("node:")
                else ""
            )
            if any(
                _is_later(later, one)
                for later in settled.get(entity or f"?{one.input}", ())
                if entity or _is_near(later, one)
            ):
                continue
            key = (entity or f"{one.input}:{one.line}", clauses[0].code, clauses[0].details.get("origin", ""))
            known = found.get(key)
            if known is None or _is_later(one, known.observation):
                found[key] = Waiting(entity, one, clauses)
    return [found[key] for key in sorted(found)]


def _is_past(one: Observation) -> bool:
    status = one.attributes.get("status", "")
    return (one.code in _TRUE_IS_GOOD and status == "True") or (one.code in _TRUE_IS_BAD and status == "False")


def _find_settled(facts: Facts) -> dict[str, list[Observation]]:
    """Return, by entity, the facts that say it was placed or admitted."""
    settled: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("event", ()):
        if one.code in _SETTLING_EVENTS:
            settled[facts.resolver.resolve(one.entity, one.node) if one.entity else f"?{one.input}"].append(one)
    for one in facts.by_kind.get("condition", ()):
        if one.code in _SETTLING_CONDITIONS and one.attributes.get("status") == "True" and one.entity:
            settled[facts.resolver.resolve(one.entity, one.node)].append(one)
    last: dict[str, Observation] = {}
    for kind in ("row", "pod"):
        for one in facts.by_kind.get(kind, ()):
            if one.entity.startswith("pod:"):
                entity = facts.resolver.resolve(one.entity, one.node)
                known = last.get(entity)
                if known is None or known.input != one.input or known.line <= one.line:
                    last[entity] = one
    for entity, one in last.items():
        status = one.attributes.get("status", "")
        if status and status != "Pending" and not (status == "Terminating" and not one.node):
            settled[entity].append(one)
    return settled


def _is_near(one: Observation, other: Observation) -> bool:
    """Tell whether two facts that name no object stand in one section: a cut description."""
    return one.kind == other.kind and not other.entity and abs(one.line - other.line) <= 40


def _is_later(later: Observation, earlier: Observation) -> bool:
    """Tell whether one fact is at least as new as another: by time, by age, else taken as a newer state."""
    if later.time is not None and earlier.time is not None:
        return later.time >= earlier.time
    young, old = read_number(later, "age"), read_number(earlier, "age")
    if later.kind == "event" and earlier.kind == "event" and young is not None and old is not None:
        return young <= old
    if later.kind == earlier.kind and later.input == earlier.input:
        return later.line >= earlier.line
    return True


def find_capacity(facts: Facts) -> dict[str, Capacity]:
    """Return, by resource, what the nodes offer and what is requested of it."""
    found: dict[str, Capacity] = defaultdict(Capacity)
    for one in facts.by_kind.get("allocatable", ()):
        value = parse_quantity(one.attributes.get("allocatable", ""))
        if value is not None:
            capacity = found[one.code]
            capacity.allocatable[_node(one)] = value
            capacity.lines[_node(one)] = one
    for one in facts.by_kind.get("allocated", ()):
        value = parse_quantity(one.attributes.get("requests", ""))
        if value is not None:
            capacity = found[one.code]
            capacity.requested[_node(one)] = value
            capacity.request_lines[_node(one)] = one
    return dict(found)


def _node(one: Observation) -> str:
    return one.attributes.get("node") or one.node or f"?{one.input}:{one.attributes.get('place', '')}"


def pod_requests(facts: Facts, entity: str) -> Iterator[tuple[str, float, Observation]]:
    """Yield (resource, amount, fact) for the devices that a pod asks for; of a pod without a name when only one is described."""
    pods = [
        one for one in facts.by_kind.get("pod", ()) if one.attributes.get("device") and one.attributes.get("devices")
    ]
    named = [one for one in pods if one.entity and facts.resolver.resolve(one.entity, one.node) == entity]
    chosen = named or ([one for one in pods if not one.entity] if len(pods) == 1 else [])
    for one in chosen[:1]:
        yield one.attributes["device"], read_number(one, "devices") or 0.0, one
    if not chosen:
        yield from _requests_by_path(facts, entity)


def _requests_by_path(facts: Facts, entity: str) -> Iterator[tuple[str, float, Observation]]:
    """Yield what a jsonpath answer shows of a pod's requests: `spec.containers[*].resources.requests.nvidia.com/gpu`."""
    for one in facts.by_kind.get("object", ()):
        if one.code != "Pod" or facts.resolver.resolve(one.entity, one.node) != entity:
            continue
        for path, text in one.attributes.items():
            match = _REQUEST_PATH.search(path)
            amount = parse_quantity(text) if match and is_device(match[1]) else None
            if match and amount is not None:
                yield match[1], amount, one
