"""Kubernetes objects in YAML or JSON: `kubectl get -o yaml|json`, one object, a List, several one after another, or a part of one.

Formats: Kubernetes API 1.9 to 1.36; Kueue (kueue.x-k8s.io), Volcano (scheduling.volcano.sh), Kubeflow and Ray jobs. Messages that
YAML folds over lines, or quotes, are given whole. Sample::

    status:
      conditions:
      - lastTransitionTime: "2025-04-17T20:45:33Z"
        message: 'couldn''t assign flavors to pod set main: no topology domains at level:
          topology.example.com/block'
        reason: Pending
        status: "False"
        type: QuotaReserved
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from collectors.block import Reader
from collectors.clock import parse_iso
from collectors.identity import normalise_node
from collectors.observation import Observation, Record
from collectors.orchestration.gpu_nodes import missing_devices
from collectors.orchestration.kube_command import command_above
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_facts import fact, make_event, resource_facts
from collectors.orchestration.kube_manifest import take_text
from collectors.orchestration.kube_pods import read_pod
from collectors.orchestration.kube_resources import parse_quantity, plain_number
from collectors.regex import compile_later
from collectors.tree import Tree, read_trees

SOURCE = "kube-objects"
LAYERS = ("scheduler", "platform")
HEADS = (
    r"^(?:apiVersion|items|metadata|spec|status|conditions|containerStatuses|initContainerStatuses): *(?:\S.*)?$",
    r"^\s+(?:status|conditions|containerStatuses|initContainerStatuses):$",
    r"^\{\s*$",
    r'^\{ ?"(?:apiVersion|kind|metadata|items|spec|status|type": ?"(?:ADDED|MODIFIED|DELETED|BOOKMARK))"',
    r'^\s*"(?:conditions|containerStatuses|status)": [\[{]$',
)
SIGNATURES = (
    r"^(?:apiVersion|kind|metadata|spec|status|items): ?",
    r"^ {2,}(?:- )?(?:lastTransitionTime|creationTimestamp|resourceVersion|observedGeneration|uid): ",
    r'^\s+"(?:apiVersion|kind|resourceVersion|lastTransitionTime|creationTimestamp|reason|namespace|uid)": ',
)
MOST_OBJECTS = 5_000

_KUBERNETES = compile_later(
    r'"?(?:apiVersion|kind|metadata|conditions|containerStatuses|lastTransitionTime|nodeName|queueName|podSets|resourceVersion|allocatable|phase|'
    r'schedulerName|minResources|containers|nvidia\.com/[\w.-]+|ephemeral-storage)"?:'
)
_HEAD = compile_later("|".join(f"(?:{one})" for one in HEADS))


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield the facts of the objects in one YAML or JSON text."""
    place, offset = reader.place(), reader.offset
    head = reader.peek() or ""
    if not _HEAD.search(head):
        return
    lines, first = take_text(reader), place[1]
    text = "\n".join(lines)
    if not lines or not _KUBERNETES.search(text[:200_000]):
        reader.back(place)
        return
    command = command_above(reader.data, offset)
    about = (
        Described(command.kind, command.name, command.namespace)
        if command.name
        else Described("", "", command.namespace)
    )
    for document in read_trees(text, first):
        yield from _document(reader, document, about)


def _document(reader: Reader, root: Tree, about: Described) -> Iterator[Record]:
    if root.text("type") in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK") and root.at("object").fields:
        root = root.at("object")
    if {"cpu", "memory"} <= root.fields.keys() and not root.at("metadata").fields:
        # what `jq .items[].status.allocatable` leaves of a node
        table = {name: (one.value, one.line) for name, one in root.fields.items()}
        for record in resource_facts(reader.input, Described("Node"), {}, table, {}):
            yield (
                replace(record, attributes={**record.attributes, "place": str(root.line)})
                if isinstance(record, Observation)
                else record
            )
        return
    items = root.at("items").items
    if items:
        kind = root.text("kind").removesuffix("List")
        for item in items[:MOST_OBJECTS]:
            yield from _object(reader.input, item, Described(kind, "", about.namespace))
        return
    if root.items:
        for item in root.items[:MOST_OBJECTS]:
            yield from (
                _object(reader.input, item, about)
                if item.at("metadata").fields
                else _conditions(reader.input, Tree(items=[item]), about, "")
            )
        return
    yield from _object(reader.input, root, about)


def _object(input_name: str, root: Tree, about: Described) -> Iterator[Record]:
    kind = root.text("kind") or about.kind
    if kind == "Job" and "volcano" in root.text("apiVersion"):
        kind = "VolcanoJob"
    name = root.text("metadata", "name") or about.name
    namespace = root.text("metadata", "namespace") or about.namespace
    if not kind:
        kind = "Pod" if root.at("status", "containerStatuses").items or root.at("spec", "containers").items else ""
        kind = kind or ("Node" if root.at("status", "allocatable").fields else "")
    node = normalise_node(root.text("spec", "nodeName")) if kind == "Pod" and root.text("spec", "nodeName") else ""
    about = Described(kind, name, namespace, node)
    if kind == "Event" or root.at("involvedObject").fields or root.at("regarding").fields:
        yield from _event(input_name, root)
        return
    status = root.at("status") if "status" in root.fields else root
    if kind == "Pod":
        yield from read_pod(input_name, root, status, about)
    elif kind == "Node":
        yield from _node(input_name, root, status, about)
    else:
        yield from _other(input_name, root, about)
    for name in ("conditions", "schedulingConditions"):  # the latter: PodGroups of KAI
        yield from _conditions(
            input_name, status.at(name), about, root.text("metadata", "labels", "kueue.x-k8s.io/queue-name")
        )


def _event(input_name: str, root: Tree) -> Iterator[Record]:
    target = root.at("involvedObject") if root.at("involvedObject").fields else root.at("regarding")
    message = root.at("message") if root.at("message").value else root.at("note")
    about = Described(target.text("kind"), target.text("name"), target.text("namespace"))
    when = next(
        (
            value
            for path in (
                ("lastTimestamp",),
                ("series", "lastObservedTime"),
                ("eventTime",),
                ("deprecatedLastTimestamp",),
                ("firstTimestamp",),
                ("metadata", "creationTimestamp"),
            )
            if (value := root.text(*path)) not in ("", "null")
        ),
        "",
    )
    component = root.text("source", "component") or root.text("reportingComponent") or root.text("reportingController")
    host = root.text("source", "host")
    line = message.line or root.line
    yield from make_event(
        input_name,
        line,
        max(message.last, line),
        about,
        reason=root.text("reason"),
        type_=root.text("type"),
        message=message.value,
        component=component,
        node=normalise_node(host) if host and component == "kubelet" else "",
        time=parse_iso(when),
        extra={"count": root.text("count") or root.text("series", "count")},
    )


def _node(input_name: str, root: Tree, status: Tree, about: Described) -> Iterator[Record]:
    cordoned = root.at("spec", "unschedulable")
    if cordoned.value == "true":
        yield from fact(
            input_name,
            cordoned.line,
            cordoned.line,
            about,
            "node",
            "",
            "unschedulable: true",
            {"unschedulable": "true"},
        )
    for one in root.at("spec", "taints").items:
        key = one.at("key")
        text = f"{key.value}={one.text('value')}:{one.text('effect')}"
        yield from fact(
            input_name,
            key.line,
            key.line,
            about,
            "taint",
            key.value,
            text,
            {"value": one.text("value"), "effect": one.text("effect")},
            time=parse_iso(one.text("timeAdded")),
        )
    tables = {
        name: {resource: (one.value, one.line) for resource, one in status.at(name).fields.items()}
        for name in ("capacity", "allocatable")
    }
    yield from resource_facts(input_name, about, tables["capacity"], tables["allocatable"], {})
    labels = root.at("metadata", "labels").fields
    yield from missing_devices(
        input_name, about, [(one.line, f"{key}={one.value}") for key, one in labels.items()], tables["capacity"]
    )


_OTHER = (
    ("spec", "queueName"),
    ("spec", "queue"),
    ("spec", "minMember"),
    ("spec", "minAvailable"),
    ("spec", "schedulerName"),
    ("spec", "clusterQueue"),
    ("spec", "suspend"),
    ("spec", "active"),
    ("spec", "stopPolicy"),
    ("spec", "cohort"),
    ("spec", "priorityClassName"),
    ("spec", "weight"),
    ("spec", "reclaimable"),
    ("spec", "completions"),
    ("spec", "parallelism"),
    ("spec", "queueingStrategy"),
    ("status", "state"),
    ("status", "phase"),
    ("status", "running"),
    ("status", "pending"),
    ("status", "inqueue"),
    ("status", "pendingWorkloads"),
    ("status", "admission", "clusterQueue"),
    ("status", "succeeded"),
    ("status", "failed"),
    ("status", "active"),
)
_AMOUNTS = (
    ("spec", "minResources"),
    ("spec", "capability"),
    ("spec", "deserved"),
    ("spec", "guarantee"),
    ("spec", "hard"),
    ("spec", "limits"),
    ("spec", "limits", "resources"),
    ("status", "resources"),
    ("status", "hard"),
    ("status", "used"),
    ("status", "allocated"),
)


def _other(input_name: str, root: Tree, about: Described) -> Iterator[Record]:
    attributes = {".".join(path): value for path in _OTHER if (value := root.text(*path))}
    line = root.at("metadata", "name").line or root.line
    for path in _AMOUNTS:
        attributes.update({f"{'.'.join(path)}.{name}": value for name, value in root.pairs(*path).items()})
    state = root.text("status", "state", "phase")
    if state:
        attributes["status.state"] = state
    if attributes:
        yield from fact(input_name, line, line, about, "object", about.kind, about.name, attributes)
    used, hard = root.at("status", "allocated"), root.pairs("spec", "capability")
    if about.kind == "ResourceQuota":
        used, hard = root.at("status", "used"), root.pairs("status", "hard")
    elif about.kind in ("NodePool", "Provisioner"):  # Karpenter: what the pool's nodes have, and may have together
        used = root.at("status", "resources")
        hard = {**root.pairs("spec", "limits"), **root.pairs("spec", "limits", "resources")}
    for name, one in used.fields.items():
        yield from fact(
            input_name,
            one.line,
            one.line,
            about,
            "quota",
            name,
            f"{name}: {one.value} of {hard.get(name, '?')}",
            {
                "used": _plain(one.value),
                "hard": _plain(hard.get(name, "")),
                "resource": name,
                "pool": "true" if about.kind in ("NodePool", "Provisioner") else "",
            },
        )


def _plain(text: str) -> str:
    value = parse_quantity(text)
    return "" if value is None else plain_number(value)


def _conditions(input_name: str, conditions: Tree, about: Described, queue: str) -> Iterator[Record]:
    for one in conditions.items:
        kind, message = one.text("type"), one.at("message")
        if not kind and not one.text("status"):
            continue
        place = message if message.line and message.value else one.at("type") if one.at("type").line else one
        since = one.text("lastTransitionTime")
        text = message.value or f"{kind}={one.text('status')} {one.text('reason')}".strip()
        yield from fact(
            input_name,
            place.line,
            max(place.last, place.line),
            about,
            "node-condition" if about.kind == "Node" else "condition",
            kind,
            text,
            {
                "status": one.text("status"),
                "reason": one.text("reason"),
                "message": message.value,
                "since": since,
                "queue": queue,
            },
            node=about.node,
            time=parse_iso(since),
        )
