"""Tables of `kubectl get` and `kubectl top`: pods, nodes, jobs, queues, quotas, `-o wide`, `-L` and custom columns.

Formats: kubectl 1.5 to 1.36, Volcano's and Kueue's printer columns. A row has the kind `row`, its code is the object's kind, and its
attributes are the columns in lower case (`nominated_node`). Samples::

    NAME                READY   STATUS    RESTARTS       AGE   IP          NODE
    mpi-demo-worker-0   0/1     Pending   0              69s   <none>      <none>

    $ kubectl get node -o custom-columns=NAME:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu
    NAME     GPU
    node-a   4
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Observation, Record
from collectors.orchestration.kube_command import Command, command_above
from collectors.orchestration.kube_context import Described, described_above
from collectors.orchestration.kube_facts import object_relations
from collectors.orchestration.kube_names import kind_named, parse_age
from collectors.orchestration.kube_resources import is_device, parse_quantity, plain_number
from collectors.regex import compile_later
from collectors.table import Columns, read_columns

SOURCE = "kube-objects"
LAYERS = ("scheduler", "platform")
HEADS = (
    r"^(?:NAMESPACE +)?NAME {2,}[A-Z]",
    r"^NODE(?:NAME)? {2,}[A-Z]",
    r"^Resource +Used +Hard$",
    r"^(?:[a-z0-9][\w.-]* +)?[a-z0-9][a-z0-9./-]* +\d+/\d+ {2,}(?:[A-Z][A-Za-z:]+|Init:\d+/\d+) {2,}\d+ ",
)
SIGNATURES = HEADS
MOST_ROWS = 50_000

_STOP = compile_later(
    r"^(?:[#$] |==>|\[?[\w.-]+@[\w.-]+[: ]|[\w.-]*\d[\w.-]*[#$] |[\w.-]+:[~/]\S*[#$] |---|"
    r"\d+[smhdy]\S* +(?:Normal|Warning) )"  # a prompt, a heading, an event right below the table
)
_ROW = compile_later(
    r"^(?:(?P<namespace>[a-z0-9][\w.-]*) {2,})?(?P<name>[a-z0-9][a-z0-9./-]*) +(?P<ready>\d+/\d+) {2,}"
    r"(?P<status>[A-Z][A-Za-z:]+|Init:\d+/\d+) {2,}"
    r"(?P<restarts>\d+(?: \(\S+ ago\))?) {2,}(?P<age>\S+)(?: {2,}(?P<ip>\S+) {2,}(?P<node>\S+).*)?\s*$"
)
_CUSTOM = compile_later(r"custom-columns=(\S+)")
_KIND_BY_COLUMNS = (
    ("Pod", {"ready", "status", "restarts"}),
    ("Node", {"status", "roles"}),
    ("Node", {"status", "version"}),
    ("Node", {"cpu(cores)", "cpu%", "memory%"}),  # of pods, `kubectl top` tells no shares
    ("PodGroup", {"minmember"}),
    ("VolcanoJob", {"minavailable"}),
    ("Job", {"completions"}),
    ("Deployment", {"up-to-date", "available"}),
    ("ReplicaSet", {"desired", "current"}),
    ("ClusterQueue", {"cohort", "pending_workloads"}),
    ("LocalQueue", {"clusterqueue", "pending_workloads"}),
    ("Workload", {"queue", "reserved_in"}),
    ("Workload", {"queue", "admitted"}),
    ("PersistentVolumeClaim", {"volume", "storageclass"}),
    ("PersistentVolume", {"reclaim_policy"}),
    ("Node", {"gpu", "unsched"}),
)
_HEAD = compile_later("|".join(f"(?:{one})" for one in HEADS))


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield one `row` for each line of the table, and `allocatable` for columns that show it."""
    offset, head = reader.offset, reader.peek() or ""
    if not _HEAD.search(head):
        return
    if head.startswith("Resource "):
        yield from _read_quota(reader, described_above(reader.data, offset))
        return
    command = command_above(reader.data, offset, most=2)
    columns: Columns | None = None
    if not _ROW.match(head):
        columns = read_columns(head)
        if len(columns.names) < 2:
            return
        reader.next()
    kind = _kind(columns, command)
    paths = _custom_paths(command)
    for _ in range(MOST_ROWS):
        line = reader.peek()
        if line is None or not line.strip() or _STOP.match(line):
            return
        row = _read_row(line, columns)
        if row is None:
            return
        number = reader.number
        reader.next()
        yield from _emit(reader.input, number, line, row, kind, command, paths)


def _kind(columns: Columns | None, command: Command) -> str:
    if columns is None:
        return "Pod"
    names = set(columns.names)
    found = next((kind for kind, wanted in _KIND_BY_COLUMNS if wanted <= names), "")
    if (
        command.kind
        and command.verb in ("get", "top")
        and (not found or found == command.kind or "custom-columns" in command.text)
    ):
        return command.kind
    return found or (command.kind if command.verb in ("get", "top") else "")


def _custom_paths(command: Command) -> dict[str, str]:
    match = _CUSTOM.search(command.text.replace("'", "").replace('"', ""))
    if not match:
        return {}
    paths: dict[str, str] = {}
    for part in match[1].split(","):
        name, _, path = part.partition(":")
        paths[name.lower()] = path.replace("\\", "")
    return paths


def _read_row(line: str, columns: Columns | None) -> dict[str, str] | None:
    if columns is None:
        match = _ROW.match(line)
        return {name: value for name, value in match.groupdict().items() if value} if match else None
    if (
        len(columns.names) > 1
        and re.match(r"(?:[A-Z][A-Z_() /%.-]+ {2,}){1,}[A-Z]", line)
        and read_columns(line).names != columns.names
    ):
        return None
    row = columns.row(line)
    filled = sum(1 for name in columns.names if name in row)
    return (
        row
        if filled >= 2
        and (row.get("name") or row.get("node") or row.get("nodename"))
        and " " not in row.get("name", "")
        else None
    )


def _emit(
    input_name: str, number: int, line: str, row: dict[str, str], kind: str, command: Command, paths: dict[str, str]
) -> Iterator[Record]:
    name = row.get("name") or row.get("node") or row.get("nodename") or ""
    head, slash, tail = name.partition("/")
    if slash:
        kind, name = kind_named(head), tail
    namespace = row.get("namespace", "") or command.namespace
    host = row.get("node", "")
    node = normalise_node(host) if kind == "Pod" and host and not host.startswith("<") else ""
    about = Described(kind, name, namespace, node)
    attributes = {key: value for key, value in row.items() if value != "<none>"}
    attributes.update({"object_kind": kind, "object": name, "node": node, "namespace": namespace})
    age = parse_age(row.get("age", ""))
    if age is not None:
        attributes["age_seconds"] = f"{age:g}"
    if kind == "Pod":
        attributes["pod"] = about.entity.partition(":")[2]
    if kind == "Node":
        node = attributes["node"] = normalise_node(name)
        if "SchedulingDisabled" in row.get("status", "") or row.get("unsched", row.get("unschedulable", "")) == "true":
            attributes["unschedulable"] = "true"
    yield Observation(
        SOURCE,
        "row",
        input_name,
        number,
        number,
        line.strip(),
        code=kind,
        node=node,
        entity=about.entity,
        attributes={key: value for key, value in attributes.items() if value},
    )
    yield from object_relations(input_name, number, about, node)
    if kind == "Node" and name:
        yield from _allocatable(input_name, number, line, row, node, paths)


def _allocatable(
    input_name: str, number: int, line: str, row: dict[str, str], node: str, paths: dict[str, str]
) -> Iterator[Record]:
    for column, cell in row.items():
        path = paths.get(column, "")
        resource = path.partition(".allocatable.")[2]
        if not resource and not path and column in ("gpu", "gpus", "nvidia.com/gpu", "allocatable_gpu"):
            resource = "nvidia.com/gpu"
        if not resource:
            continue
        value = 0.0 if cell in ("<none>", "") else parse_quantity(cell)
        if value is not None:
            yield Observation(
                SOURCE,
                "allocatable",
                input_name,
                number,
                number,
                line.strip(),
                code=resource,
                node=node,
                entity=f"node:{node}",
                attributes={
                    "resource": resource,
                    "allocatable": plain_number(value),
                    "node": node,
                    "object_kind": "Node",
                    "object": node,
                    "device": "true" if is_device(resource) else "",
                },
            )


def _read_quota(reader: Reader, about: Described) -> Iterator[Record]:
    reader.next()
    for _ in range(500):
        line = reader.peek()
        if line is not None and line.strip() and set(line.strip()) <= {"-", " "}:
            reader.next()
            continue
        if line is None or not line.strip() or _STOP.match(line):
            return
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) != 3:
            return
        used, hard = parse_quantity(cells[1]), parse_quantity(cells[2])
        if used is not None and hard is not None:
            attributes = {
                "resource": cells[0],
                "used": plain_number(used),
                "hard": plain_number(hard),
                "object": about.name,
                "object_kind": "ResourceQuota",
                "namespace": about.namespace,
            }
            yield Observation(
                SOURCE,
                "quota",
                reader.input,
                reader.number,
                reader.number,
                line.strip(),
                code=cells[0],
                entity=f"namespace:{about.namespace}" if about.namespace else "",
                attributes={key: one for key, one in attributes.items() if one},
            )
        reader.next()
