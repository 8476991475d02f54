"""Answers of HTTP APIs (Loki, Elasticsearch, CloudWatch): one JSON document that becomes one line a message."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collectors.clock import parse_epoch
from collectors.envelopes.form import Opened
from collectors.notes import Note
from collectors.transport import Carried, unwrap

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
