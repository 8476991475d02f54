"""Sizes as programs print them, and numbers as attributes hold them."""

from __future__ import annotations

import re

_UNITS = {"": 1.0, "k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40, "p": 2.0**50, "e": 2.0**60}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGTPEkmgtpe]?)i?[Bb]?")


def parse_size(text: str) -> float | None:
    """Return bytes for `64M`, `1.8T`, `9.1g`, `252G`, `6.2MiB` or a plain number, None for anything else.

    >>> parse_size("1.5K"), parse_size("-")
    (1536.0, None)
    """
    match = _SIZE.fullmatch(text.strip())
    return float(match[1]) * _UNITS[match[2].lower()] if match else None


def plain(value: float) -> str:
    """Return a number without needless digits."""
    return f"{value:.10g}"
