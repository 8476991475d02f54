"""The systemd journal's export format (systemd, docs/JOURNAL_EXPORT_FORMATS): `journalctl -o export`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collectors.clock import parse_epoch
from collectors.envelopes.form import Envelope, Opened
from collectors.notes import Note
from collectors.transport import Carried

_EXPORTED = re.compile(r"[A-Z_][A-Z0-9_]{0,63}(?:=|$)")


def tell_export(lines: Sequence[str]) -> Envelope | None:
    """Return how to open lines that are fields of journal entries, None when they are not."""
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
