"""Lines that a terminal or tmux wrapped at its width."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from collectors.envelopes.form import Envelope, Opened
from collectors.notes import Note
from collectors.prefix import peel

_STARTS = re.compile(r"[A-Za-z][\w.-]*:\d+:\d+ \[|[IWEF]\d{4} |\{|==> |\$ |[|+]|\[[\w-]+\]")
_NARROWEST, _WIDEST = 40, 400  # columns of a terminal


def tell_wrapped(lines: Sequence[str]) -> Envelope | None:
    """Return how to join lines that a terminal cut at its width, None when none did.

    Many are exactly so wide, and what follows those begins like no line.
    """
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
