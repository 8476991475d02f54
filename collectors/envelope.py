"""Exports and copies that hold a log in another form, opened line for line: what comes out has as many lines as went in.

Forms: CSV with a message column (Kibana, Grafana, CloudWatch Insights, Splunk), the systemd journal's export format (docs/
JOURNAL_EXPORT_FORMATS), lines that a container runtime wrote in parts (CRI, tag `P`), lines that a terminal or tmux wrapped at
its width, carriage returns as only line ends. A line that continues another one is put behind it and leaves an empty line, so
that line numbers stay those of the input. Answers of HTTP APIs (Loki, Elasticsearch, CloudWatch: one JSON document)
become one line a message; there, lines count messages.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from collectors.clock import parse_epoch, parse_iso
from collectors.notes import Note
from collectors.prefix import peel
from collectors.transport import Carried, unwrap

# Colours and other commands to a terminal.
ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_SAMPLE = 400  # lines by which a form is told
_MESSAGES = ("message", "@message", "log", "line", "msg", "body", "textpayload", "_raw", "event.original")
_TIMES = ("@timestamp", "timestamp", "time", "date", "_time", "ts", "datetime", "@ingestiontime")
_HOSTS = (
    "host",
    "hostname",
    "host.name",
    "node",
    "node_name",
    "kubernetes.node.name",
    "kubernetes.host",
    "kubernetes.node_name",
)
_EXPORTED = re.compile(r"[A-Z_][A-Z0-9_]{0,63}(?:=|$)")
_CRI_PART = re.compile(rb"^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) P ", re.M)
_CRI = re.compile(rb"(\d{4}-\d\d-\d\dT\S+ (stdout|stderr) )([FP]) (.*)", re.S)
_STARTS = re.compile(r"[A-Za-z][\w.-]*:\d+:\d+ \[|[IWEF]\d{4} |\{|==> |\$ |[|+]|\[[\w-]+\]")
_NARROWEST, _WIDEST = 40, 400  # columns of a terminal


@dataclass(slots=True)
class Opened:
    """A block of plain lines, and what the envelope says of them, by place in the block."""

    data: bytes
    carried: dict[int, Carried] = field(default_factory=dict)


class Envelope(Protocol):
    """Opens the blocks of one input, in order. `cites_original`: a report cites the line of the input, not what it carries."""

    note: str
    cites_original: bool

    def open(self, data: bytes, last: bool) -> Opened:
        """Return the block's plain lines, as many as it has."""


def tell_envelope(head: bytes) -> Envelope | None:
    """Return how to open an input that begins like this, None for plain lines (the usual case, told fast)."""
    if _CRI_PART.search(head):
        return _Parts()
    lines = [line.rstrip("\r") for line in head.decode("utf-8", "replace").split("\n")[:_SAMPLE]]
    return _tell_csv(lines) or _tell_export(lines) or _tell_wrapped(lines)


def has_lone_returns(head: bytes) -> bool:
    """Tell whether carriage returns are an input's only line ends."""
    return head.count(b"\r") >= 2 and b"\n" not in head


# --- CSV


def _tell_csv(lines: Sequence[str]) -> Envelope | None:
    place = next((place for place, line in enumerate(lines) if line.strip()), -1)
    if place < 0 or not 1 <= lines[place].count(",") <= 200:
        return None
    heads = [cell.strip().lower() for cell in _split(lines[place])]
    message = next((heads.index(name) for name in _MESSAGES if name in heads), -1)
    time = next((heads.index(name) for name in _TIMES if name in heads), -1)
    if message < 0 or time < 0:
        return None
    host = next((heads.index(name) for name in _HOSTS if name in heads), -1)
    return _Csv(len(heads), message, time, host)


def _split(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


class _Csv:
    """A message a row; a row whose quoted message spans several lines keeps them."""

    note: str = Note.of("csv")
    cites_original = True

    def __init__(self, columns: int, message: int, time: int, host: int) -> None:
        self._columns, self._message, self._time, self._host = columns, message, time, host
        self._open: str | None = None  # a row that is not closed yet
        self._first = True

    def open(self, data: bytes, last: bool) -> Opened:
        opened = Opened(b"")
        out: list[str] = []
        for place, line in enumerate(data.decode("utf-8", "replace").split("\n")):
            line = line.rstrip("\r")
            if self._first and line.strip():
                self._first = False
                out.append("")
                continue
            text = self._take(line, place, opened)
            out.append(text)
        opened.data = "\n".join(out).encode()
        return opened

    def _take(self, line: str, place: int, opened: Opened) -> str:
        if self._open is not None:
            whole = f"{self._open}\n{line}"
            if whole.count('"') % 2 and len(whole) < 1 << 20:
                self._open = whole
            else:
                self._open = None
            return line.replace('""', '"').rstrip('"') if self._open is None else line.replace('""', '"')
        if line.count('"') % 2:
            self._open = line
            line += '"'
        cells = _split(line)
        if len(cells) <= max(self._message, self._time):
            return line
        if len(cells) > self._columns and self._message == self._columns - 1:  # an unquoted message with commas
            cells[self._message] = ",".join(cells[self._message :])
        host = cells[self._host] if 0 <= self._host < len(cells) else ""
        text = cells[self._message].rstrip("\n")
        opened.carried[place] = Carried(text, read_time(cells[self._time]), host)
        return text.split("\n")[0] if "\n" in text else text


def read_time(text: str) -> float | None:
    """Return the time that an export gives: ISO 8601, or a number of seconds or a part of one since the epoch."""
    text = text.strip()
    return parse_iso(text) if "-" in text[1:] or "/" in text else parse_epoch(text)


# --- the journal's export format


def _tell_export(lines: Sequence[str]) -> Envelope | None:
    filled = [line for line in lines[:200] if line]
    if len(filled) < 3 or not any(line.startswith(("__REALTIME_TIMESTAMP=", "__CURSOR=")) for line in filled[:40]):
        return None
    return _Export() if sum(bool(_EXPORTED.match(line)) for line in filled) >= 0.8 * len(filled) else None


class _Export:
    """Fields of one entry a line each, a blank line between entries."""

    note: str = Note.of("journal-export")
    cites_original = True

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def open(self, data: bytes, last: bool) -> Opened:
        opened = Opened(b"")
        lines = data.decode("utf-8", "replace").split("\n")
        out = [""] * len(lines)
        message = -1
        for place, line in enumerate(lines):
            name, sign, value = line.partition("=")
            if not line:
                self._close(out, message, opened)
                message = -1
                self._fields = {}
            elif sign and name in ("__REALTIME_TIMESTAMP", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_TRANSPORT"):
                self._fields[name] = value
            elif sign and name == "MESSAGE":
                out[place], message = value, place
        self._close(out, message, opened)
        opened.data = "\n".join(out).encode()
        return opened

    def _close(self, out: Sequence[str], place: int, opened: Opened) -> None:
        if place < 0:
            return
        fields = self._fields
        program = "kernel" if fields.get("_TRANSPORT") == "kernel" else fields.get("SYSLOG_IDENTIFIER", "")
        time = parse_epoch(fields.get("__REALTIME_TIMESTAMP", ""))
        opened.carried[place] = Carried(out[place], time, fields.get("_HOSTNAME", ""), program)


# --- lines in parts


class _Parts:
    """CRI lines: the runtime cuts long ones, marks all parts but the last with P, and each has the head of a line."""

    note = ""
    cites_original = False

    def __init__(self) -> None:
        self._open: dict[bytes, tuple[int, bytes]] = {}  # by stream: place of the first part and the text so far

    def open(self, data: bytes, last: bool) -> Opened:
        if not self._open and not _CRI_PART.search(data):
            return Opened(data)
        lines = data.split(b"\n")
        heads: dict[bytes, tuple[int, list[bytes]]] = {}
        for place, line in enumerate(lines):
            match = _CRI.match(line)
            if match is None:
                continue
            head, stream, tag, text = match.groups()
            begun = heads.get(stream)
            if begun is None and tag == b"F":
                continue
            if begun is None:
                heads[stream] = (place, [head + b"F ", text])
            else:
                begun[1].append(text)
                lines[place] = b""
            if tag == b"F":
                at, parts = heads.pop(stream)
                lines[at] = b"".join(parts)
        for at, parts in heads.values():
            lines[at] = b"".join(parts)
        return Opened(b"\n".join(lines))


# --- wrapped lines


def _tell_wrapped(lines: Sequence[str]) -> Envelope | None:
    """Tell lines that a terminal cut at its width: many are exactly so wide, and what follows those begins like no line."""
    filled = [line for line in lines[:-1] if line.strip()]
    if len(filled) < 4:
        return None
    widths = Counter(map(len, filled))
    width = max(widths)
    if not _NARROWEST <= width <= _WIDEST or widths[width] < 3 or widths[width] < 0.08 * len(filled):
        return None
    after_full: list[bool] = []
    after_other: list[bool] = []
    for line, following in pairwise(lines[:-1]):
        if following.strip():
            (after_full if len(line) == width else after_other).append(_is_start(following))
    if not after_full or sum(after_full) > 0.15 * len(after_full):
        return None
    return _Wrapped(width) if after_other and sum(after_other) >= 0.5 * len(after_other) else None


def _is_start(line: str) -> bool:
    """Tell whether a line begins as a program's line does: with a time, a rank or the like."""
    if _STARTS.match(line):
        return True
    peeled = peel("", 0, line)
    return peeled.time is not None or peeled.uptime is not None or bool(peeled.rank or peeled.labels or peeled.host)


class _Wrapped:
    """Puts the pieces of a line together again."""

    cites_original = False

    def __init__(self, width: int) -> None:
        self._width = width
        self.note: str = Note.of("wrapped", width=width)

    def open(self, data: bytes, last: bool) -> Opened:
        lines = data.decode("utf-8", "replace").split("\n")
        out = list(lines)
        begun = -1  # where the line stands that the pieces belong to
        for place in range(1, len(lines)):
            if len(lines[place - 1].rstrip("\r")) == self._width and lines[place] and not _is_start(lines[place]):
                begun = begun if begun >= 0 else place - 1
                out[begun] = out[begun].rstrip("\r") + lines[place]
                out[place] = ""
            else:
                begun = -1
        return Opened("\n".join(out).encode())


# --- answers of an API


_ANSWER = re.compile(rb'\s*[\[{].*"(?:resultType|hits|events|_source|message|MESSAGE)"', re.S)


def is_answer(head: bytes) -> bool:
    """Tell whether an input may be one JSON answer that holds messages: it begins as one, and no line of it is a whole object."""
    if head.lstrip()[:1] not in (b"{", b"[") or not _ANSWER.match(head[:8192]):
        return False
    first = head.lstrip().split(b"\n", 1)[0].rstrip()
    return not (first.startswith(b"{") and first.endswith(b"}") and b"\n" in head.strip())


class Answer:
    """The messages of an answer as lines, with what the answer says of them."""

    note: str = Note.of("answer")
    cites_original = False

    def __init__(self, messages: Sequence[Carried]) -> None:
        self._said: dict[int, Carried] = {}
        lines: list[str] = []
        for message in messages:
            for text in message.text.split("\n"):
                self._said[len(lines)] = message
                lines.append(text)
        self.text = "\n".join(lines).encode("utf-8", "replace") + b"\n"
        self._begun = 0

    def open(self, data: bytes, last: bool) -> Opened:
        count = data.count(b"\n") + 1
        said = {place: self._said[self._begun + place] for place in range(count) if self._begun + place in self._said}
        self._begun += data.count(b"\n")
        return Opened(data, said)


def read_answer(data: bytes) -> list[Carried] | None:
    """Return the messages of a JSON answer, None when it is none of a known form.

    >>> answer = b'{"data": {"result": [{"stream": {"node": "a"}, "values": [["1737434504000000000", "hello"]]}]}}'
    >>> read_answer(answer)
    [Carried(text='hello', time=1737434504.0, host='a', program='')]
    """
    if data.lstrip()[:1] not in (b"{", b"[") or not any(
        mark in data for mark in (b'"values"', b'"message"', b'"_source"', b'"MESSAGE"', b'"line"')
    ):
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    found = list(_messages(value))
    return found or None


def _messages(value: Any) -> Iterator[Carried]:
    if isinstance(value, list):
        yield from _each(value)
    elif isinstance(value, dict):
        data, hits = value.get("data"), value.get("hits")
        if isinstance(data, dict) and isinstance(data.get("result"), list):
            yield from _loki(data["result"])
        elif isinstance(hits, dict) and isinstance(hits.get("hits"), list):
            yield from _each(hits["hits"])
        elif isinstance(value.get("events"), list):
            yield from _each(value["events"])


def _each(items: Sequence[Any]) -> Iterator[Carried]:
    for item in items:
        carried = unwrap(json.dumps(item, ensure_ascii=False)) if isinstance(item, dict) else None
        if carried is not None:
            yield carried


def _loki(streams: Sequence[Any]) -> Iterator[Carried]:
    found: list[tuple[float, int, Carried]] = []
    for stream in streams:
        labels = stream.get("stream") if isinstance(stream, dict) else None
        values = stream.get("values") if isinstance(stream, dict) else None
        host = _host_of(labels) if isinstance(labels, dict) else ""
        for value in values if isinstance(values, list) else ():
            if isinstance(value, list) and len(value) >= 2 and isinstance(value[0], str) and isinstance(value[1], str):
                time = parse_epoch(value[0])
                found.append((time or 0.0, len(found), Carried(value[1].rstrip("\n"), time, host)))
    yield from (carried for _, _, carried in sorted(found, key=lambda one: one[:2]))


def _host_of(labels: Mapping[str, Any]) -> str:
    name = next((labels[key] for key in ("node", "node_name", "host", "hostname") if key in labels), "")
    return name if isinstance(name, str) else ""
