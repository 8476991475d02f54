"""Which scheduling reason decides: the one that holds on the nodes that have what the pod asks for.

The scheduler counts nodes for each reason, CPU nodes among them, and reports the first filter that a node fails. Filters run in the
order cordon, taint, affinity, ports, resources, volumes, spread, affinity between pods (kube-scheduler's default plugins): a node
that fails one of the last three has the resources free. Node tables, where given, settle the rest.

Derived: `scheduling` (code = the reason's category; attributes of the reason, `decisive` yes, no or maybe), `capacity`
(code full, fragmented, oversized, other-name, none or free).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectors.observation import Observation
from collectors.orchestration.kube_resources import is_device, plain_number
from collectors.orchestration.scheduling_clauses import Clause
from diagnosis.analyses.derived import Derived
from diagnosis.analyses.waiting import Capacity, Waiting, find_capacity, find_waiting, pod_requests
from diagnosis.facts import Facts

_AFTER_RESOURCES = frozenset({"volume", "spread", "pod-affinity", "anti-affinity"})
_CONTROL = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
    "node-role.kubernetes.io/etcd",
    "CriticalAddonsOnly",
)
_CONDITIONS = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/",
)


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield the reasons of everything that still waits, and what the node tables say about them."""
    capacities = find_capacity(facts)
    everything = find_waiting(facts)
    for waiting in everything:
        request = next(iter(pod_requests(facts, waiting.entity)), None)
        resource = request[0] if request else _wanted(waiting.clauses)
        capacity = capacities.get(resource) if resource else None
        named = _named_by_scheduler(waiting, everything)
        for clause in waiting.clauses:
            if named and clause.code == "insufficient" and clause.details.get("resource", "") not in named:
                continue  # an autoscaler speaks of nodes that do not exist; the scheduler found this resource on those that do
            yield _reason(waiting, clause, resource, capacity)
        if any(clause.code in ("insufficient", "device-share") for clause in waiting.clauses):
            yield from _compare(
                waiting, resource, request[1] if request else 0.0, request[2] if request else None, capacities
            )


def _named_by_scheduler(waiting: Waiting, everything: Sequence[Waiting]) -> set[str]:
    """Return, for an autoscaler's message, the resources that the scheduler finds short for the same pod."""
    if waiting.clauses[0].details.get("origin") != "autoscaler":
        return set()
    return {
        clause.details.get("resource", "")
        for other in everything
        if other.entity == waiting.entity and (waiting.entity or other.observation.input == waiting.observation.input)
        for clause in other.clauses
        if clause.code == "insufficient" and not clause.details.get("origin")
    }


def _wanted(clauses: Sequence[Clause]) -> str:
    names = [one.details.get("resource", "") for one in clauses if one.code == "insufficient"]
    return next((name for name in names if is_device(name)), next((name for name in names if name), ""))


def _reason(waiting: Waiting, clause: Clause, resource: str, capacity: Capacity | None) -> Derived:
    decisive, because = _decide(waiting.clauses, clause, resource, capacity)
    attributes = {
        **clause.details,
        "count": str(clause.count),
        "total": str(clause.total),
        "decisive": decisive,
        "device": "true" if is_device(clause.details.get("resource", "")) else "",
        "class": _taint_class(clause),
        "only": "true" if all(one.code == clause.code for one in waiting.clauses) else "",
        "object_kind": waiting.observation.attributes.get("object_kind", ""),
        "message": waiting.observation.attributes.get("message", "")[:400],
    }
    derived = replace(
        waiting.observation,
        kind="scheduling",
        code=clause.code,
        text=clause.reason[:400],
        attributes={name: value for name, value in attributes.items() if value},
    )
    return derived, (waiting.observation, *because)


def _taint_class(clause: Clause) -> str:
    taint = clause.details.get("taint", "")
    if clause.code != "taint" or not taint:
        return ""
    if taint.startswith(_CONTROL):
        return "control-plane"
    if taint.startswith("node.kubernetes.io/unschedulable"):
        return "cordon"
    if taint.startswith(_CONDITIONS):
        return "condition"
    named = f"{taint}={clause.details.get('value', '')}".lower()
    return "gpu" if any(word in named for word in ("gpu", "nvidia", "accelerator")) else "other"


def _decide(
    clauses: Sequence[Clause], clause: Clause, resource: str, capacity: Capacity | None
) -> tuple[str, Sequence[Observation]]:
    """Return whether the clause holds on the nodes that matter, and the table lines that show it."""
    nodes = [one for one in clauses if one.count and one.details.get("origin") != "autoscaler"]
    if len({one.code for one in clauses}) == 1 and len(clauses) == 1:
        return "yes", ()
    kind = _taint_class(clause)
    total = max((one.total for one in nodes), default=0)
    if kind == "control-plane":
        return "no", ()
    short = next((one for one in nodes if one.code == "insufficient" and one.details.get("resource") == resource), None)
    others = [one for one in nodes if one is not short and _taint_class(one) != "control-plane"]
    if all(one.code == "insufficient" for one in clauses) and total == 0:
        return ("yes" if clause.details.get("resource") == resource else "maybe"), ()
    if short is None or total == 0:
        plain = clause.code == "insufficient" and all(one.code in ("selector", "insufficient") for one in others)
        return (
            "yes"
            if kind == "gpu"
            or (plain and total)
            or len([one for one in clauses if _taint_class(one) != "control-plane"]) == 1
            else "maybe"
        ), ()
    one_each = sum(one.count for one in nodes) == total
    table = _table_verdict(clause, short, total, one_each, capacity)
    if table is not None:
        return table
    if clause is short:
        passed = any(one.code in _AFTER_RESOURCES for one in others) and one_each
        gated = any(_taint_class(one) == "gpu" for one in others) and one_each
        unlike = any(
            one.code == "insufficient" and one.count > short.count for one in others
        )  # nodes with the device lack something else
        most = not is_device(resource) and short.count >= 2 * sum(one.count for one in others)
        alone = all(one.code in ("selector", "insufficient") for one in others)
        return "no" if passed or gated or unlike else "yes" if alone or most else "maybe", ()
    if clause.code in _AFTER_RESOURCES:
        return ("yes" if one_each else "maybe"), ()
    if kind == "gpu":
        return "yes", ()
    if clause.code == "selector":
        return "no", ()
    if clause.code == "insufficient":
        if not is_device(resource) and all(one.code in ("selector", "insufficient") for one in others):
            return "yes", ()  # no device is short: each of these keeps its nodes out
        return ("yes" if is_device(resource) and clause.count > short.count else "maybe"), ()
    return "maybe", ()


def _table_verdict(
    clause: Clause, short: Clause, total: int, one_each: bool, capacity: Capacity | None
) -> tuple[str, Sequence[Observation]] | None:
    """Settle by the node tables: with as many nodes without the resource as are short of it, the others decide."""
    if capacity is None or not one_each or len(capacity.allocatable) != total:
        return None
    having = [node for node, value in capacity.allocatable.items() if value > 0]
    if not having or short.count > total - len(having):
        return None
    lines = [capacity.lines[node] for node in sorted(having)][:3]
    return ("no", ()) if clause is short else ("yes", lines)


def _compare(
    waiting: Waiting, resource: str, amount: float, request: Observation | None, capacities: dict[str, Capacity]
) -> Iterator[Derived]:
    capacity = capacities.get(resource)
    here = waiting.observation
    having = {node: value for node, value in capacity.allocatable.items() if value > 0} if capacity else {}
    asked = [request] if request is not None else []
    if not having:
        others = {
            name: one
            for name, one in capacities.items()
            if name != resource
            and is_device(name)
            and is_device(resource)
            and any(value > 0 for value in one.allocatable.values())
        }
        for name, one in sorted(others.items()):
            node = next(node for node, value in sorted(one.allocatable.items()) if value > 0)
            yield _state(here, "other-name", {"resource": resource, "offered": name}), (here, one.lines[node])
        if capacity is not None and capacity.allocatable and not others:
            yield (
                _state(here, "none", {"resource": resource}),
                (here, *[capacity.lines[node] for node in sorted(capacity.allocatable)][:4]),
            )
        return
    assert capacity is not None
    device = "true" if is_device(resource) else ""
    facts = {
        "resource": resource,
        "request": plain_number(amount),
        "largest": plain_number(max(having.values())),
        "device": device,
    }
    if amount > max(having.values()):
        node = max(sorted(having), key=lambda name: having[name])
        yield _state(here, "oversized", facts), (here, *asked, capacity.lines[node])
        return
    free = {node: value for node, value in capacity.free().items() if node in having}
    if not free:
        return
    rows = [capacity.request_lines[node] for node in sorted(free)]
    most, total = max(free.values()), sum(free.values())
    facts.update({"free": plain_number(total), "most_free": plain_number(most)})
    if most <= 0:
        yield _state(here, "full", facts), (here, *rows[:8])
    elif amount > 1 and most < amount <= total:
        yield _state(here, "fragmented", facts), (here, *asked, *rows[:8])
    elif amount and most >= amount:
        yield _state(here, "free", facts), (here, *asked, *rows[:4])


def _state(here: Observation, code: str, attributes: dict[str, str]) -> Observation:
    text = ", ".join(f"{name} {value}" for name, value in attributes.items() if value)
    return replace(
        here,
        kind="capacity",
        code=code,
        text=text,
        attributes={name: value for name, value in attributes.items() if value},
    )
