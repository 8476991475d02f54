"""Structured log lines of Kubernetes components: klog's `"message" key="value"`, and events that controllers log.

Documented in kubernetes/klog (`InfoS`, `ErrorS`) and client-go `tools/record` (Kubernetes 1.9 to 1.36). Samples, prefixes taken off::

    "Error scheduling pod; retrying" err="binding rejected: node a has been locked within 5 minutes" pod="ns/x-1"
    "Event occurred" object="default/x-1" fieldPath="" kind="Pod" apiVersion="v1" type="Warning" reason="FilteringFailed" message="..."
    Event(v1.ObjectReference{Kind:"Pod", Namespace:"ns", Name:"x-1", ...}): type: 'Warning' reason: 'FailedScheduling' 0/3 nodes ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.identity import normalise_node
from collectors.observation import Observation, Record
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_facts import make_event
from collectors.prefix import Line
from collectors.regex import compile_later

_FIELD = compile_later(
    r'(?P<key>[A-Za-z][\w.]*(?: [a-z]\w*){0,3})=(?P<value>"(?:[^"\\]|\\.)*"|\{[^}]*\}|\[[^\]]*\]|[^\s"]+)'
)
_MESSAGE = compile_later(r'^"(?P<message>(?:[^"\\]|\\.)*)"')
_REFERENCE = compile_later(
    r"Event\((?:v1\.)?ObjectReference\{Kind:\"(?P<kind>\w*)\", Namespace:\"(?P<namespace>[\w.-]*)\", Name:\"(?P<name>[\w.-]*)\"[^)]*\): "
    r"type: '(?P<type>\w+)' reason: '(?P<reason>\w+)' ?(?P<message>.*)$"
)


def read_fields(text: str) -> dict[str, str]:
    """Return the key and value pairs of a structured line, quotes and escapes taken off.

    >>> read_fields('"Failed" err="x \\\\"y\\\\"" pod="ns/a" request devices nums=16')
    {'err': 'x "y"', 'pod': 'ns/a', 'request devices nums': '16'}
    """
    message = _MESSAGE.match(text)
    found: dict[str, str] = {}
    for match in _FIELD.finditer(text, message.end() if message else 0):
        value = match["value"]
        if value.startswith('"'):
            value = re.sub(r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], value[1:-1])
        found.setdefault(match["key"], value)
        if len(found) >= 30:
            break
    return found


def read_structured(line: Line, source: str) -> Iterator[Record]:
    """Yield an `event` for a logged event, else a `klog` with the line's fields and the pod or node that it names."""
    reference = _REFERENCE.search(line.text)
    if reference:
        yield from _event(
            line,
            source,
            reference["kind"],
            reference["name"],
            reference["namespace"],
            reference["reason"],
            reference["type"],
            reference["message"],
        )
        return
    fields = read_fields(line.text)
    match = _MESSAGE.match(line.text)
    message = match["message"] if match else line.text
    if message == "Event occurred" and "reason" in fields:
        namespace, _, name = fields.get("object", "").rpartition("/")
        text = fields.get("message") or fields.get("note", "")
        yield from _event(
            line, source, fields.get("kind", ""), name, namespace, fields["reason"], fields.get("type", ""), text
        )
        return
    namespace, _, pod = (fields.get("pod") or fields.get("podName") or "").rpartition("/")
    node = normalise_node(fields.get("node") or fields.get("nodeName") or "") or line.host
    about = Described("Pod", pod, namespace) if pod else Described("Node", node) if node else Described()
    yield Observation(
        source,
        "klog",
        line.input,
        line.number,
        line.number,
        line.text,
        code=message[:120],
        time=line.time,
        node=node,
        entity=about.entity,
        attributes={
            **fields,
            "message": message,
            "level": line.level,
            **({"pod": about.entity.partition(":")[2]} if pod else {}),
        },
    )


def _event(
    line: Line, source: str, kind: str, name: str, namespace: str, reason: str, type_: str, message: str
) -> Iterator[Record]:
    for record in make_event(
        line.input,
        line.number,
        line.number,
        Described(kind, name, namespace),
        reason=reason,
        type_=type_,
        message=message,
        time=line.time,
    ):
        yield replace(record, source=source) if isinstance(record, Observation) else record
