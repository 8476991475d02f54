"""Kubernetes events as text: `kubectl get events`, `kubectl events`, and the Events section of `kubectl describe`.

Formats: kubectl 1.5 to 1.36 (pkg/printers/internalversion, kubectl/pkg/cmd/events, kubectl/pkg/describe). Samples::

    LAST SEEN   TYPE      REASON             OBJECT     MESSAGE
    2m10s       Warning   FailedScheduling   pod/x-1    0/3 nodes are available: 3 Insufficient nvidia.com/gpu.

      Type     Reason            Age                 From               Message
      ----     ------            ----                ----               -------
      Warning  FailedScheduling  40s (x2 over 9m)    default-scheduler  0/2 nodes are available: 2 Insufficient cpu.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Observation, Record
from collectors.orchestration.kube_command import command_above
from collectors.orchestration.kube_context import Described, described_above
from collectors.orchestration.kube_facts import make_event
from collectors.orchestration.kube_fields import RULER
from collectors.orchestration.kube_names import AGE, kind_named, parse_age
from collectors.regex import compile_later
from collectors.table import Columns, read_columns

SOURCE = "kube-events"
LAYERS = ("scheduler", "platform")
_AGED = r"^(?:[a-z][\w-]* +)?(?:\d+(?:ms|[ydhms])\d*[dhms]?|<unknown>|<invalid>)(?: \(x\d+ over \S+\))? +"
HEADS = (
    r"^(?:[A-Z]+ +)*LAST SEEN .*\bREASON .*\bMESSAGE",
    r"^[A-Z][A-Z_ ]*\bREASON +(?:[A-Z][A-Z_]* +)*MESSAGE",
    r"^Events: +<none>",
    r"^\s+(?:FirstSeen\s+LastSeen\s.*)?Type\s+Reason\s+(?:Age\s+From\s+)?Message",
    r"^\s*(?:Normal|Warning) {2,}[A-Z]\w+ {2,}(?:\d+(?:ms|[ydhms])|<unknown>|<invalid>)",
    _AGED + r"Warning +[A-Z]\w+ +[a-z][\w.-]*/\S+ ",
    _AGED + r"Normal +[A-Z]\w+ +[a-z][\w.-]*/\S+ ",
)
ROUTINE = (HEADS[-1],)  # rows below a head that was cut off: what goes well by the thousand
SIGNATURES = (
    r"^(?:[a-z][\w-]* +)?(?:\d+(?:ms|[ydhms])\d*[dhms]?|<unknown>|<invalid>)(?: \(x\d+ over \S+\))? +(?:Normal|Warning) +[A-Z]\w+ +\S+",
    r"^\s*(?:Normal|Warning) {2,}[A-Z]\w+ {2,}(?:\d+(?:ms|[ydhms])|<unknown>|<invalid>)",
)
MOST_WRAPPED = 40  # lines of one message

_TABLE_HEAD = compile_later(r"^[A-Z][A-Z_ ]*\bREASON .*\bMESSAGE")
_DESCRIBE_HEAD = compile_later(r"^\s+(?:FirstSeen\s+LastSeen\s.*)?Type\s+Reason\s+(?:Age\s+From\s+)?.*Message")
_AGE_CELL = compile_later(rf"{AGE}(?: \(x(?P<count>\d+) over (?P<span>\S+)\))?|\d{{4}}-\d\d-\d\dT\S+")
_BARE = compile_later(
    rf"^\s*(?P<type>Normal|Warning) {{2,}}(?P<reason>\w+) {{2,}}(?P<age>{AGE}(?: \(x\d+ over \S+\))?)"
    r"(?: {2,}(?P<from>\S+(?:, \S+)?) {2,}(?P<message>.*))?$"
)
_BARE_TABLE = compile_later(
    rf"^(?:(?P<namespace>[a-z][\w-]*) +)?(?P<last_seen>{AGE}(?: \(x\d+ over \S+\))?) +(?P<type>Normal|Warning) +(?P<reason>\w+) +"
    r"(?P<object>[a-z][\w.-]*/\S+) +(?P<message>.*)$"
)
_STOP = compile_later(
    r"^(?:==>|---$|\{$|[#$] |\[?[\w.-]+@[\w.-]+[: ]|[\w.-]*\d[\w.-]*[#$] |[A-Z]{2}[A-Z /_-]*(?: {2,}|$)|[A-Z][\w -]*: {2,}|"
    r"[IWEF]\d{4} \d\d:|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |apiVersion:|Name: )"
)
_OBJECT_REFERENCE = compile_later(r"^(?P<kind>[A-Za-z][\w.]*)/(?P<name>\S+)$")
_HEAD = compile_later("|".join(f"(?:{one})" for one in HEADS))


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield one `event` (code = its reason) for each row, wrapped messages joined; a pod's assignment also ties it to its node."""
    head = reader.peek() or ""
    offset = reader.offset
    if not _HEAD.search(head):
        return
    if _TABLE_HEAD.match(head):
        reader.next()
        namespace = command_above(reader.data, offset).namespace
        yield from _read_table(reader, read_columns(head), namespace)
    elif _DESCRIBE_HEAD.match(head):
        reader.next()
        yield from _read_described(
            reader, read_columns(head), described_above(reader.data, _section_start(reader.data, offset))
        )
    elif head.startswith("Events:"):
        about, number = described_above(reader.data, offset), reader.number
        reader.next()
        attributes = {"object_kind": about.kind, "object": about.name, "namespace": about.namespace}
        yield Observation(
            SOURCE,
            "no-events",
            reader.input,
            number,
            number,
            head,
            node=about.node,
            entity=about.entity,
            attributes={name: value for name, value in attributes.items() if value},
        )
    elif _BARE.match(head):
        yield from _read_described(reader, None, described_above(reader.data, offset))
    elif _BARE_TABLE.match(head):
        yield from _read_table(reader, None, command_above(reader.data, offset).namespace)


def _section_start(data: bytes, offset: int) -> int:
    """Return the offset of the `Events:` line above a head, so that the object's own fields come next above."""
    previous = data.rfind(b"\n", 0, max(0, offset - 1)) + 1
    return previous if data[previous:offset].startswith(b"Events:") else offset


def _read_table(reader: Reader, columns: Columns | None, namespace: str) -> Iterator[Record]:
    while True:
        line = reader.peek()
        if line is None or not line.strip() or _STOP.match(line):
            return
        row = _table_row(line, columns)
        if row is None:
            return
        number = reader.number
        reader.next()
        row["message"], last = _join_wrapped(reader, row.get("message", ""), number, columns, described=False)
        kind, name = _object(row)
        place = row.get("namespace", "") or namespace
        yield from _event(reader, number, last, row, Described(kind, name, place))


def _table_row(line: str, columns: Columns | None) -> dict[str, str] | None:
    bare = _BARE_TABLE.match(line)
    if columns is None:
        return {key: value for key, value in bare.groupdict().items() if value} if bare else None
    row = columns.row(line)
    seen = (
        row.get("last_seen") or row.get("lastseen") or row.get("first_seen") or row.get("time") or row.get("age") or ""
    )
    kind = row.get("type", "")
    if kind in ("Normal", "Warning") or (seen and _AGE_CELL.fullmatch(seen)):
        return row
    if bare:
        return {key: value for key, value in bare.groupdict().items() if value}
    return None if "last_seen" in columns.names or "type" in columns.names or not row.get("reason") else row


def _object(row: dict[str, str]) -> tuple[str, str]:
    match = _OBJECT_REFERENCE.match(row.get("object", ""))
    if match:
        return kind_named(match["kind"]), match["name"]
    if row.get("kind"):
        name = row.get("name") or row.get("object", "")
        return kind_named(row["kind"]), re.sub(r"\.[0-9a-f]{14,18}$", "", name)
    return "", row.get("object", "")


def _read_described(reader: Reader, columns: Columns | None, about: Described) -> Iterator[Record]:
    while True:
        line = reader.peek()
        if line is None or not line.strip() or (_STOP.match(line) and not line.startswith("  ")):
            return
        if RULER.match(line):
            reader.next()
            continue
        row = _described_row(line, columns)
        if row is None:
            return
        number = reader.number
        reader.next()
        row["message"], last = _join_wrapped(reader, row.get("message", ""), number, columns, described=True)
        yield from _event(reader, number, last, row, about)


def _described_row(line: str, columns: Columns | None) -> dict[str, str] | None:
    bare = _BARE.match(line)
    if bare and (columns is None or "firstseen" not in columns.names):
        return {key: value for key, value in bare.groupdict().items() if value}
    if columns is None:
        return None
    row = columns.row(line)
    return row if row.get("type") in ("Normal", "Warning") else None


def _join_wrapped(
    reader: Reader, message: str, number: int, columns: Columns | None, *, described: bool
) -> tuple[str, int]:
    """Take the lines that go on with a message; return the joined message and the number of its last line."""
    parts, last = [message], number
    for _ in range(MOST_WRAPPED):
        line = reader.peek()
        if line is None or not line.strip() or _STOP.match(line) or RULER.match(line):
            break
        if (_described_row(line, columns) if described else _table_row(line, columns)) is not None:
            break
        if _TABLE_HEAD.match(line) or _DESCRIBE_HEAD.match(line) or _BARE.match(line) or _BARE_TABLE.match(line):
            break
        parts.append(line.strip())
        last = reader.number
        reader.next()
    return " ".join(part for part in parts if part), last


def _event(reader: Reader, number: int, last: int, row: dict[str, str], about: Described) -> Iterator[Record]:
    origin = row.get("from") or row.get("source") or ""
    component, _, host = origin.partition(", ")
    seen = row.get("last_seen") or row.get("lastseen") or row.get("age") or row.get("time") or ""
    age = _AGE_CELL.match(seen)
    seconds = parse_age(seen)
    yield from make_event(
        reader.input,
        number,
        last,
        about,
        reason=row.get("reason", ""),
        type_=row.get("type", ""),
        message=row.get("message", ""),
        component=component,
        node=normalise_node(host) if host else about.node,
        extra={
            "age": "" if seconds is None else f"{seconds:g}",
            "count": (age["count"] if age and age["count"] else "") or row.get("count", ""),
        },
    )
