"""Log lines that travel as JSON, one object a line: what the machine printed, when and where.

Forms: systemd journal (`journalctl -o json`, docs/JOURNAL_EXPORT_FORMATS; MESSAGE may be an array of byte numbers), Docker's
json-file driver (`log`, `stream`, `time`), Elasticsearch and Kibana exports (`message`, `@timestamp`, also below `_source`),
CloudWatch (`message`, `timestamp`), Loki (`line`, `timestamp`, `labels`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from collectors.clock import parse_epoch, parse_iso

_MARKS = ('"MESSAGE"', '"log"', '"message"', '"line"')


@dataclass(frozen=True, slots=True)
class Carried:
    """What a transport carried: the text as it was printed, and what the envelope says of it."""

    text: str
    time: float | None = None
    host: str = ""
    program: str = ""


def unwrap(raw: str) -> Carried | None:
    """Return what a line carries, None when it is no envelope of a known form.

    >>> unwrap('{"log":"hello\\\\n","stream":"stdout","time":"2025-01-21T04:41:44.5Z"}')
    Carried(text='hello', time=1737434504.5, host='', program='')
    >>> unwrap('{"level":"warn","msg":"slow fdatasync"}') is None
    True
    """
    if not raw.startswith("{") or not any(mark in raw for mark in _MARKS):
        return None
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    source = value.get("_source")
    fields: Mapping[str, Any] = source if isinstance(source, dict) else value
    if "MESSAGE" in fields:
        return _from_journal(fields)
    if isinstance(fields.get("log"), str) and "stream" in fields:
        return Carried(fields["log"].rstrip("\n"), _time(fields.get("time")))
    if isinstance(fields.get("message"), str) and ("@timestamp" in fields or "timestamp" in fields):
        host = fields.get("host")
        name = host.get("name") if isinstance(host, dict) else host
        time = _time(fields.get("@timestamp", fields.get("timestamp")))
        return Carried(fields["message"].rstrip("\n"), time, name if isinstance(name, str) else "")
    if isinstance(fields.get("line"), str) and "timestamp" in fields:
        labels = fields.get("labels")
        host = (
            next((labels[key] for key in ("node", "host", "hostname") if key in labels), "")
            if isinstance(labels, dict)
            else ""
        )
        return Carried(fields["line"].rstrip("\n"), _time(fields["timestamp"]), host if isinstance(host, str) else "")
    return None


def _from_journal(fields: Mapping[str, Any]) -> Carried | None:
    message = fields["MESSAGE"]
    if isinstance(message, list):
        try:
            message = bytes(message).decode("utf-8", "replace")
        except (TypeError, ValueError):
            return None
    if not isinstance(message, str):
        return None
    host, program = fields.get("_HOSTNAME"), fields.get("SYSLOG_IDENTIFIER")
    if fields.get("_TRANSPORT") == "kernel":
        program = "kernel"
    return Carried(
        message,
        _time(fields.get("__REALTIME_TIMESTAMP")),
        host if isinstance(host, str) else "",
        program if isinstance(program, str) else "",
    )


def _time(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    return parse_iso(text) if "-" in text[1:] else parse_epoch(text)
