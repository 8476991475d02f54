"""What goes into the intake and what comes out of it: one text handed over, and what was read of it."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field
from typing import BinaryIO

from collectors.observation import Record


@dataclass(slots=True)
class Input:
    """One text handed over: a name that citations use, and its bytes."""

    name: str
    stream: BinaryIO


@dataclass(slots=True)
class Intake:
    """What was read from one input."""

    name: str
    kind: str = "unknown"
    kinds: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    bytes: int = 0
    recognised: int = 0
    unexplained: int = 0
    notes: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)


def text_input(name: str, text: str | bytes) -> Input:
    """Make an input of a text in memory."""
    return Input(name, io.BytesIO(text.encode("utf-8", "replace") if isinstance(text, str) else text))
