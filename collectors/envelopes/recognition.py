"""Tell in which envelope an input comes, from its beginning."""

from __future__ import annotations

import re

from collectors.envelopes.cri_parts import tell_parts
from collectors.envelopes.csv_export import tell_csv
from collectors.envelopes.form import Envelope
from collectors.envelopes.journal_export import tell_export
from collectors.envelopes.wrapped_lines import tell_wrapped

# Colours and other commands to a terminal.
ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_SAMPLE = 400  # lines by which a form is told


def tell_envelope(head: bytes) -> Envelope | None:
    """Return how to open an input that begins like this, None for plain lines (the usual case, told fast)."""
    parts = tell_parts(head)
    if parts is not None:
        return parts
    lines = [line.rstrip("\r") for line in head.decode("utf-8", "replace").split("\n")[:_SAMPLE]]
    return tell_csv(lines) or tell_export(lines) or tell_wrapped(lines)


def has_lone_returns(head: bytes) -> bool:
    """Tell whether carriage returns are an input's only line ends."""
    return head.count(b"\r") >= 2 and b"\n" not in head
