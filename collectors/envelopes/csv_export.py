"""CSV with a message column: exports of Kibana, Grafana, CloudWatch Logs Insights and Splunk."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from collectors.clock import parse_epoch, parse_iso
from collectors.envelopes.form import Envelope, Opened
from collectors.notes import Note
from collectors.transport import Carried

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


def tell_csv(lines: Sequence[str]) -> Envelope | None:
    """Return how to open lines whose first names columns with a message and a time, None when it does not."""
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
