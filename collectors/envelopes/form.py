"""What an envelope is: it opens the blocks of one input, in order, line for line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from collectors.transport import Carried


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
