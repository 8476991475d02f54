"""Jobs of many pods: partly placed, waiting for each other, held by a pod group that can't be placed or by groups without pods.

Derived: `gang` (code deadlock, partial, missing-tasks, waiting), `podgroup` (code orphaned, blocking).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from collectors.observation import Observation
from collectors.orchestration.kube_resources import parse_quantity
from diagnosis.analyses.derived import Derived
from diagnosis.analyses.waiting import Waiting, find_capacity, find_waiting
from diagnosis.facts import Facts
from diagnosis.figures import parse_whole, read_number, read_whole

_MEMBER = re.compile(
    r"^(?P<job>[a-z0-9][\w.-]*?)-(?P<role>workers?|master|launcher|chief|ps|head|leader|evaluator|actor|learner|node|rank|trainer|task|pod)(?:-\d+){1,3}(?:-[a-z0-9]{5})?$"
)
_OLD = 3600.0  # seconds after which a pod group without pods is no longer just starting
_PLACED = frozenset({"Running", "Completed", "Error", "CrashLoopBackOff", "OOMKilled", "Terminating"})


@dataclass(slots=True)
class _Gang:
    running: int = 0
    minimum: int = 0
    tasks: int = 0
    lines: list[Observation] = field(default_factory=list)


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield what the gangs' messages, the pod groups and the pods of a job say together."""
    waits = find_waiting(facts)
    yield from _gangs(facts, waits)
    yield from _partial_jobs(facts, waits)
    yield from _pod_groups(facts, waits)


def _filled(**attributes: str) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if value}


def _gangs(facts: Facts, waits: Sequence[Waiting]) -> Iterator[Derived]:
    gangs: dict[str, _Gang] = defaultdict(_Gang)
    for waiting in waits:
        for clause in waiting.clauses:
            if clause.code != "gang":
                continue
            tasks, minimum, running = (
                parse_whole(clause.details.get(name, "")) or 0 for name in ("tasks", "minimum", "running")
            )
            gang = gangs[waiting.entity or f"{waiting.observation.input}:{waiting.observation.line}"]
            gang.running, gang.minimum, gang.tasks = running, minimum, tasks
            gang.lines.append(waiting.observation)
            code = (
                "missing-tasks"
                if 0 < tasks < minimum
                else "no-tasks"
                if tasks == 0 and "tasks" in clause.details
                else "waiting"
            )
            attributes = _filled(**clause.details, gang="true" if minimum > 1 else "")
            yield (
                replace(waiting.observation, kind="gang", code=code, text=clause.reason[:400], attributes=attributes),
                (waiting.observation,),
            )
    rows: dict[str, _Gang] = {}
    for one in facts.by_kind.get("row", ()):
        if one.code in ("PodGroup", "VolcanoJob"):
            minimum = read_whole(one, "minmember") or read_whole(one, "minavailable") or 0
            running = read_whole(one, "runnings") or 0
            if 0 < running < minimum:
                rows.setdefault(facts.resolver.resolve(one.entity, one.node), _Gang(running, minimum, 0, [one]))
    halves = [gang for _, gang in sorted(gangs.items()) if 0 < gang.running < gang.minimum]
    chosen = halves if len(halves) > 1 else [gang for _, gang in sorted(rows.items())]
    if len(chosen) > 1:
        lines = [gang.lines[-1] for gang in chosen]
        yield (
            replace(
                lines[0],
                kind="gang",
                code="deadlock",
                text=f"{len(chosen)} gangs hold part of what they need",
                attributes={"gangs": str(len(chosen))},
            ),
            lines,
        )


def _partial_jobs(facts: Facts, waits: Sequence[Waiting]) -> Iterator[Derived]:
    """A job (named by its pods' roles) of which some pods run and others wait for a node."""
    members: dict[str, dict[str, Observation]] = defaultdict(dict)
    for one in facts.by_kind.get("row", ()):
        match = _MEMBER.match(one.attributes.get("object", "")) if one.code == "Pod" else None
        if match:
            members[match["job"]][one.attributes["object"]] = one
    waiting = {one.entity: one.observation for one in waits}
    halves = []
    for job, pods in sorted(members.items()):
        placed = [one for _, one in sorted(pods.items()) if one.attributes.get("status") in _PLACED]
        pending = [one for _, one in sorted(pods.items()) if one.attributes.get("status") == "Pending"]
        reasons = [
            waiting[entity] for one in pending if (entity := facts.resolver.resolve(one.entity, one.node)) in waiting
        ]
        if placed and pending:
            attributes = _filled(
                job=job, placed=str(len(placed)), pending=str(len(pending)), reason="true" if reasons else ""
            )
            text = f"{len(placed)} of {len(placed) + len(pending)} pods of {job} are placed"
            lines = (*pending[:2], *placed[:2], *reasons[:2])
            derived = replace(
                pending[0], kind="gang", code="partial", text=text, entity=f"job:{job}", attributes=attributes
            )
            halves.append(pending[0])
            yield derived, lines
    if len(halves) > 1:
        yield (
            replace(
                halves[0],
                kind="gang",
                code="deadlock-suspect",
                text=f"{len(halves)} jobs are partly placed",
                attributes={},
            ),
            halves,
        )


def _pod_groups(facts: Facts, waits: Sequence[Waiting]) -> Iterator[Derived]:
    """Volcano: groups that are let in (Inqueue) and have no running pod, while others of their namespace stay out."""
    groups: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("row", ()):
        if one.code == "PodGroup":
            groups[one.attributes.get("namespace", "")].append(one)
    refused = [
        one.observation for one in waits if any(clause.code in ("queue-quota", "overused") for clause in one.clauses)
    ]
    stuck = {
        one.entity: one.observation
        for one in waits
        if any(clause.code in ("gang", "insufficient", "selector", "taint") for clause in one.clauses)
    }
    for namespace, rows in sorted(groups.items()):
        held = [
            one
            for one in rows
            if one.attributes.get("status") in ("Inqueue", "Running")
            and not one.attributes.get("runnings", "0").strip("0")
        ]
        out = [one for one in rows if one.attributes.get("status") == "Pending"]
        if not held or not (out or refused):
            continue
        blocking = [
            one for one in held if facts.resolver.resolve(one.entity, one.node) in stuck or _too_large(facts, one)
        ]
        if blocking:
            lines = [*blocking[:2], *out[:1], *refused[:2]]
            for one in blocking[:2]:
                lines.extend(_too_large(facts, one))
                waiting = stuck.get(facts.resolver.resolve(one.entity, one.node))
                lines.extend([waiting] if waiting is not None else [])
            size = "true" if any(_too_large(facts, one) for one in blocking) else ""
            yield (
                replace(
                    blocking[0],
                    kind="podgroup",
                    code="blocking",
                    attributes=_filled(namespace=namespace, oversized=size),
                ),
                lines,
            )
            continue
        pods = [
            one
            for one in facts.by_kind.get("row", ())
            if one.code == "Pod" and one.attributes.get("namespace", "") in (namespace, "")
        ]
        old = [one for one in held if (read_number(one, "age_seconds") or 0.0) >= _OLD]
        if pods and len(pods) < len(held) + len(out) and old:
            yield (
                replace(
                    old[0],
                    kind="podgroup",
                    code="orphaned",
                    attributes={"groups": str(len(old)), "pods": str(len(pods)), "namespace": namespace},
                ),
                [*old[:3], *out[:1], *refused[:2]],
            )


def _too_large(facts: Facts, row: Observation) -> list[Observation]:
    """Return the fact that shows what a one-pod group asks for, when no node of the tables has that much."""
    if row.attributes.get("minmember") not in ("1", None):
        return []
    entity = facts.resolver.resolve(row.entity, row.node)
    capacities = find_capacity(facts)
    for one in facts.by_kind.get("object", ()):
        if facts.resolver.resolve(one.entity, one.node) != entity:
            continue
        for name, text in one.attributes.items():
            wanted, capacity = parse_quantity(text), capacities.get(name.partition("minResources.")[2])
            if (
                wanted is not None
                and capacity is not None
                and capacity.allocatable
                and wanted > max(capacity.allocatable.values())
            ):
                return [one]
    return []
