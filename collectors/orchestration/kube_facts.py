"""Observations about Kubernetes objects, the same whether they were read from `kubectl describe`, YAML or JSON.

| kind | code | attributes |
|---|---|---|
| `event` | reason | type, object_kind, object, namespace, from, message, age (seconds), count, node |
| `pod` | status shown or phase | pod, status, phase, reason, message, node, scheduler, queue, owner, device, devices, nominated |
| `container` | reason of its state, or state | container, state, reason, message, exit_code, last_reason, restarts, ready, image |
| `container-end` | reason of its last end | container, reason, exit_code, restarts |
| `node-condition` | type | status, reason, message |
| `condition` | type | status, reason, message, object_kind, object |
| `allocatable` | resource | allocatable, capacity (base units) |
| `allocated` | resource | requests, limits, allocatable |
| `taint` | key | value, effect |
| `node` | Ready, NotReady, Unknown | unschedulable |
| `object` | kind | the fields of queues, pod groups and workloads that say how much they may have, have and want |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collectors.identity import normalise_node
from collectors.observation import Observation, Record, Relation
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_resources import is_device, parse_quantity, plain_number
from collectors.regex import compile_later

SOURCE = "kube-objects"
EVENTS = "kube-events"

_ASSIGNED = compile_later(r"Successfully assigned (?:(?P<namespace>[\w.-]+)/)?(?P<pod>[\w.-]+) to (?P<node>[\w.-]+)")
_POD_REASONS = frozenset(
    {
        "FailedScheduling",
        "Scheduled",
        "Pulling",
        "Pulled",
        "BackOff",
        "FailedMount",
        "FailedAttachVolume",
        "FailedCreatePodSandBox",
        "UnexpectedAdmissionError",
        "TopologyAffinityError",
        "NotTriggerScaleUp",
        "TriggeredScaleUp",
        "FilteringFailed",
        "FilteringSucceed",
    }
)


def fact(
    input_name: str,
    line: int,
    last: int,
    about: Described,
    kind: str,
    code: str,
    text: str,
    attributes: Mapping[str, str],
    *,
    node: str = "",
    time: float | None = None,
) -> Iterator[Record]:
    """Yield one observation about an object; empty attributes are left out."""
    entity = about.entity
    if about.kind == "Node" and about.name:
        node = entity.partition(":")[2]
    known = {"object_kind": about.kind, "object": about.name, "namespace": about.namespace, "node": node, **attributes}
    if about.kind == "Pod" and about.name:
        known["pod"] = entity.partition(":")[2]
    yield Observation(
        SOURCE,
        kind,
        input_name,
        line,
        last,
        text,
        code=code,
        time=time,
        node=node,
        entity=entity,
        attributes={name: value for name, value in known.items() if value},
    )
    if kind in ("pod", "object"):
        yield from object_relations(input_name, line, about, about.node)


def pod_facts(
    input_name: str,
    line: int,
    last: int,
    about: Described,
    attributes: Mapping[str, str],
    requests: Mapping[str, str],
    *,
    time: float | None = None,
) -> Iterator[Record]:
    """Yield the `pod` and its relations; `requests` are summed over its containers."""
    known = dict(attributes)
    for name, text in sorted(requests.items()):
        value = parse_quantity(text)
        if value is not None and is_device(name) and value > 0:
            known["device"], known["devices"] = name, plain_number(value)
    status = known.get("status", "")
    text = ": ".join(
        part for part in (status or known.get("phase", ""), known.get("reason", ""), known.get("message", "")) if part
    )
    yield from fact(
        input_name, line, last, about, "pod", status or known.get("phase", ""), text, known, node=about.node, time=time
    )


def resource_facts(
    input_name: str,
    about: Described,
    capacity: Mapping[str, tuple[str, int]],
    allocatable: Mapping[str, tuple[str, int]],
    requested: Mapping[str, tuple[str, str, int]],
    *,
    node: str = "",
) -> Iterator[Record]:
    """Yield `allocatable` and `allocated` for every resource of a node; the tables map a resource to its cells and line."""
    for name in dict.fromkeys((*capacity, *allocatable)):
        value = parse_quantity(allocatable[name][0]) if name in allocatable else None
        whole = parse_quantity(capacity[name][0]) if name in capacity else None
        line = allocatable[name][1] if name in allocatable else capacity[name][1]
        attributes = {
            "resource": name,
            "allocatable": "" if value is None else plain_number(value),
            "capacity": "" if whole is None else plain_number(whole),
            "device": "true" if is_device(name) else "",
        }
        if value is not None or whole is not None:
            yield from fact(
                input_name,
                line,
                line,
                about,
                "allocatable",
                name,
                f"{name}: {attributes['allocatable']}",
                attributes,
                node=node,
            )
    for name, (wanted, limit, line) in requested.items():
        used, most = parse_quantity(wanted), parse_quantity(limit)
        if used is None:
            continue
        total = parse_quantity(allocatable[name][0]) if name in allocatable else None
        attributes = {
            "resource": name,
            "requests": plain_number(used),
            "limits": "" if most is None else plain_number(most),
            "allocatable": "" if total is None else plain_number(total),
            "device": "true" if is_device(name) else "",
            "free": "" if total is None else plain_number(total - used),
        }
        yield from fact(
            input_name, line, line, about, "allocated", name, f"{name} {wanted} {limit}", attributes, node=node
        )


def make_event(
    input_name: str,
    number: int,
    last: int,
    about: Described,
    *,
    reason: str,
    type_: str,
    message: str,
    component: str = "",
    node: str = "",
    time: float | None = None,
    extra: dict[str, str] | None = None,
) -> Iterator[Record]:
    """Yield the `event` and what it tells about where a pod runs."""
    if not about.kind and about.name and reason in _POD_REASONS:
        about = Described("Pod", about.name, about.namespace, about.node)
    attributes = {
        "type": type_,
        "reason": reason,
        "object_kind": about.kind,
        "object": about.name,
        "namespace": about.namespace,
        "from": component,
        "message": message,
        "node": node,
        **(extra or {}),
    }
    if about.kind == "Pod":
        attributes["pod"] = about.entity.partition(":")[2]
    assigned = _ASSIGNED.match(message) if reason == "Scheduled" else None
    if assigned:
        node = attributes["node"] = normalise_node(assigned["node"])
        if not about.name:
            about = Described("Pod", assigned["pod"], assigned["namespace"] or "")
        elif not about.namespace and assigned["namespace"]:
            about = Described(about.kind, about.name, assigned["namespace"])
        attributes["namespace"] = about.namespace
        attributes["pod"] = about.entity.partition(":")[2]
    if about.kind == "Node" and not node:
        node = about.entity.partition(":")[2]
    yield Observation(
        EVENTS,
        "event",
        input_name,
        number,
        last,
        message,
        code=reason,
        time=time,
        node=node,
        entity=about.entity,
        attributes={name: value for name, value in attributes.items() if value},
    )
    yield from object_relations(input_name, number, about, node)


def object_relations(input_name: str, number: int, about: Described, node: str) -> Iterator[Relation]:
    """Yield that a pod rests on its node, and that a name with and without its namespace is one thing."""
    kind, _, name = about.entity.partition(":")
    if kind not in ("pod", "job"):
        return
    if kind == "pod" and node:
        yield Relation(about.entity, f"node:{node}", "runs on", input_name, number)
    if "/" in name:
        yield Relation(about.entity, f"{kind}:{name.partition('/')[2]}", "same", input_name, number)
