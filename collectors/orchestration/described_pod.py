"""What `kubectl describe pod` says: the pod's state and wants, and how its containers are and ended."""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Record
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_facts import fact, pod_facts
from collectors.orchestration.kube_fields import Field
from collectors.orchestration.kube_resources import parse_quantity, plain_number


def read_pod(input_name: str, root: Field, about: Described, first: int) -> Iterator[Record]:
    """Yield `pod`, `container` and `container-end` facts; `first` is the line on which the description begins."""
    status, reason, message = root.get("Status"), root.get("Reason"), root.get("Message")
    requests: dict[str, float] = {}
    containers: list[Record] = []
    for group in ("Init Containers", "Containers", "Ephemeral Containers"):
        holder = root.get(group)
        for one in holder.fields if holder else ():
            containers.extend(_container(input_name, one, about))
            if group == "Containers":
                wanted = one.get("Requests") or one.get("Limits")
                for resource in wanted.fields if wanted else ():
                    requests[resource.key] = requests.get(resource.key, 0.0) + (parse_quantity(resource.value) or 0.0)
    loose = (
        root if "Limits" in (one.key for one in root.fields) or "Requests" in (one.key for one in root.fields) else None
    )
    if loose is not None and not requests:
        wanted = loose.get("Requests") or loose.get("Limits")
        requests = {one.key: parse_quantity(one.value) or 0.0 for one in wanted.fields} if wanted else {}
    tolerations = root.get("Tolerations")
    attributes = {
        "status": status.value.split(" ")[0] if status else "",
        "phase": status.value if status else "",
        "reason": reason.value if reason else "",
        "message": message.value if message else "",
        "owner": root.text("Controlled By"),
        "selector": "" if root.text("Node-Selectors").startswith("<") else root.text("Node-Selectors"),
        "scheduler": root.text("Scheduler Name"),
        "tolerations": "; ".join([tolerations.value, *(text for _, text in tolerations.rows)]) if tolerations else "",
    }
    place = message or reason or status or root.get("Node-Selectors")
    line = place.line if place else first
    end = message.last if message else line
    if status or reason or requests or attributes["selector"]:
        yield from pod_facts(
            input_name, line, end, about, attributes, {name: plain_number(value) for name, value in requests.items()}
        )
    yield from containers


def _container(input_name: str, one: Field, about: Described) -> Iterator[Record]:
    state, before = one.get("State"), one.get("Last State")
    if state is None and before is None:
        return
    now = state or Field("State", "", one.line, one.line, 0)
    earlier = before or Field("Last State", "", one.line, one.line, 0)
    reason, message = now.get("Reason"), now.get("Message")
    attributes = {
        "container": one.key,
        "state": now.value,
        "reason": now.text("Reason"),
        "message": now.text("Message"),
        "exit_code": now.text("Exit Code"),
        "last_state": earlier.value,
        "last_reason": earlier.text("Reason"),
        "last_exit_code": earlier.text("Exit Code"),
        "last_message": earlier.text("Message"),
        "restarts": one.text("Restart Count"),
        "ready": one.text("Ready"),
        "image": one.text("Image"),
    }
    line = (reason or now).line
    text = ": ".join(part for part in (now.value, attributes["reason"], attributes["message"]) if part)
    end = message.last if message and message.last >= line else line
    yield from fact(
        input_name, line, end, about, "container", attributes["reason"] or now.value, text, attributes, node=about.node
    )
    last_reason = earlier.get("Reason")
    if last_reason is not None:
        code = earlier.get("Exit Code") or last_reason
        text = f"{earlier.value}: {last_reason.value}: {attributes['last_message']}".rstrip(": ")
        yield from fact(
            input_name,
            last_reason.line,
            max(code.line, last_reason.line),
            about,
            "container-end",
            last_reason.value,
            text,
            {
                "container": one.key,
                "reason": last_reason.value,
                "exit_code": earlier.text("Exit Code"),
                "restarts": attributes["restarts"],
            },
            node=about.node,
        )
