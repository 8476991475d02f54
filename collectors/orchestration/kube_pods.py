"""What a pod in YAML or JSON says of itself and of its containers."""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import parse_iso
from collectors.observation import Record
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_facts import fact, pod_facts
from collectors.orchestration.kube_resources import parse_quantity, plain_number
from collectors.tree import Tree


def read_pod(input_name: str, root: Tree, status: Tree, about: Described) -> Iterator[Record]:
    """Yield the `pod`, its relations, and a `container` (and `container-end`) for each status of a container."""
    owner = next(iter(root.at("metadata", "ownerReferences").items), Tree())
    message, reason, phase = status.at("message"), status.at("reason"), status.at("phase")
    place = next((one for one in (message, reason, phase) if one.line), root.at("metadata", "name"))
    line = place.line or root.line
    terminating = bool(root.text("metadata", "deletionTimestamp"))
    selector = root.pairs("spec", "nodeSelector")
    attributes = {
        "status": "Terminating" if terminating else phase.value,
        "phase": phase.value,
        "reason": reason.value,
        "message": message.value,
        "owner": f"{owner.text('kind')}/{owner.text('name')}" if owner.fields else "",
        "scheduler": root.text("spec", "schedulerName"),
        "priority": root.text("spec", "priority"),
        "nominated": status.text("nominatedNodeName"),
        "selector": ",".join(f"{name}={value}" for name, value in sorted(selector.items())),
        "queue": root.text("metadata", "labels", "kueue.x-k8s.io/queue-name")
        or root.text("metadata", "annotations", "scheduling.volcano.sh/queue-name"),
        "tolerations": ";".join(":".join(one.pairs().values()) for one in root.at("spec", "tolerations").items),
    }
    yield from pod_facts(
        input_name,
        line,
        max(place.last, line),
        about,
        attributes,
        _requests(root.at("spec", "containers").items),
        time=parse_iso(status.text("startTime")),
    )
    for group in ("initContainerStatuses", "containerStatuses"):
        for one in status.at(group).items:
            yield from _container(input_name, one, about)


def _requests(containers: list[Tree]) -> dict[str, str]:
    total: dict[str, float] = {}
    for one in containers:
        wanted = {**one.pairs("resources", "limits"), **one.pairs("resources", "requests")}
        for name, text in wanted.items():
            total[name] = total.get(name, 0.0) + (parse_quantity(text) or 0.0)
    return {name: plain_number(value) for name, value in total.items()}


def _container(input_name: str, one: Tree, about: Described) -> Iterator[Record]:
    state, kind = _state(one.at("state"))
    before, before_kind = _state(one.at("lastState"))
    reason, message = state.at("reason"), state.at("message")
    place = message if message.line else reason if reason.line else state if state.line else one
    attributes = {
        "container": one.text("name"),
        "state": kind.capitalize(),
        "reason": reason.value,
        "message": message.value,
        "exit_code": state.text("exitCode"),
        "last_state": before_kind.capitalize(),
        "last_reason": before.text("reason"),
        "last_exit_code": before.text("exitCode"),
        "last_message": before.text("message"),
        "restarts": one.text("restartCount"),
        "ready": one.text("ready"),
        "image": one.text("image"),
    }
    text = ": ".join(part for part in (attributes["state"], reason.value, message.value) if part)
    yield from fact(
        input_name,
        place.line,
        max(place.last, place.line),
        about,
        "container",
        reason.value or attributes["state"],
        text,
        attributes,
        node=about.node,
        time=parse_iso(state.text("finishedAt") or state.text("startedAt")),
    )
    if before.fields:
        end = (
            before.at("message")
            if before.text("message")
            else before.at("reason")
            if before.at("reason").line
            else before
        )
        yield from fact(
            input_name,
            end.line,
            max(end.last if end is not before else end.line, end.line),
            about,
            "container-end",
            before.text("reason"),
            f"{before_kind.capitalize()}: {before.text('reason')}: {before.text('message')}".rstrip(": "),
            {
                "container": one.text("name"),
                "reason": before.text("reason"),
                "exit_code": before.text("exitCode"),
                "restarts": one.text("restartCount"),
            },
            node=about.node,
            time=parse_iso(before.text("finishedAt")),
        )


def _state(tree: Tree) -> tuple[Tree, str]:
    for kind in ("waiting", "terminated", "running"):
        if kind in tree.fields:
            return tree.fields[kind], kind
    return Tree(), ""
