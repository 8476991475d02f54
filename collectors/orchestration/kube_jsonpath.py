"""Answers of `kubectl get ... -o jsonpath=...`: the command line and the bare values below it.

Documented at kubernetes.io, JSONPath support. Samples::

    $ kubectl get node gpu-node-02 -o jsonpath='{.status.capacity.nvidia\\.com/gpu} {.status.allocatable.nvidia\\.com/gpu}'
    8 8
    $ kubectl get podgroup pg-big -n algo -o jsonpath='{.spec.minResources}'
    {"cpu":"70","memory":"128Gi"}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from collectors.block import Reader
from collectors.observation import Record
from collectors.orchestration.kube_command import parse_command
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_facts import fact, resource_facts
from collectors.regex import compile_later

SOURCE = "kube-objects"
LAYERS: tuple[str, ...] = ()
HEADS = (r"\b(?:kubectl|oc) .*\bget\b.*jsonpath=",)
_PATH = compile_later(r"\{\.((?:[^{}\\]|\\.)+)\}")
_RESOURCE = compile_later(r"^status\.(allocatable|capacity)\.(.+)$")
_PROMPT = compile_later(r"^(?:[#$] |==>|\[?[\w.-]+@[\w.-]+[: ]|[\w.-]*\d[\w.-]*[#$] |[\w.-]+:[~/]\S*[#$] )")
_HEAD = compile_later("|".join(f"(?:{one})" for one in HEADS))


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `object` for JSON values and `allocatable` for a node's resources."""
    head = reader.peek() or ""
    if not _HEAD.search(head):
        return
    reader.next()
    command = parse_command(head)
    paths = [path.replace("\\", "") for path in _PATH.findall(head)]
    if not command.kind or not paths:
        return
    about = Described(command.kind, command.name, command.namespace)
    values: list[tuple[str, int]] = []
    for _ in range(8):
        line = reader.peek()
        if line is None or not line.strip() or _PROMPT.match(line):
            break
        if line.lstrip().startswith(("{", "[")):
            values.append((line.strip(), reader.number))
        else:
            values.extend((cell, reader.number) for cell in line.split())
        reader.next()
    if len(values) != len(paths):
        return
    tables: dict[str, dict[str, tuple[str, int]]] = {"allocatable": {}, "capacity": {}}
    for path, (value, number) in zip(paths, values, strict=True):
        resource = _RESOURCE.match(path)
        if resource:
            tables[resource[1]][resource[2]] = (value, number)
            continue
        attributes = dict(_flatten(path, value))
        yield from fact(reader.input, number, number, about, "object", about.kind, value, attributes)
    if about.kind == "Node" and about.name:
        yield from resource_facts(reader.input, about, tables["capacity"], tables["allocatable"], {})


def _flatten(path: str, value: str) -> Iterator[tuple[str, str]]:
    try:
        read: Any = json.loads(value) if len(value) < 20_000 else value
    except (ValueError, RecursionError):
        read = value
    stack: list[tuple[str, Any]] = [(path, read)]
    count = 0
    while stack and count < 100:
        name, one = stack.pop()
        count += 1
        if isinstance(one, dict):
            stack.extend((f"{name}.{key}", inner) for key, inner in list(one.items())[:50])
        elif isinstance(one, str | int | float | bool):
            yield name, str(one)[:200]
