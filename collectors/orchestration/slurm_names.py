"""Slurm's bracket notation for lists of hosts: `gpu-st-[1-3,7],login` (docs: slurm.conf, NodeName)."""

from __future__ import annotations

import re

MOST_NODES = 512
_SPLIT = re.compile(r",(?![^\[]*\])")
_BRACKET = re.compile(r"^([^\[\]]*)\[([\d,-]+)\]([^\[\]]*)$")


def expand_nodes(text: str) -> list[str]:
    """Return the hosts of a list, at most `MOST_NODES`; an odd list yields its parts as they stand.

    >>> expand_nodes("gpu-[08-10],login")
    ['gpu-08', 'gpu-09', 'gpu-10', 'login']
    """
    found: list[str] = []
    for part in _SPLIT.split(text):
        match = _BRACKET.match(part)
        if not match:
            if part:
                found.append(part)
            continue
        for item in match[2].split(","):
            low, dash, high = item.partition("-")
            if not low.isdecimal() or (dash and not high.isdecimal()) or len(item) > 20:
                continue
            last = int(high) if dash else int(low)
            for number in range(int(low), min(last, int(low) + MOST_NODES) + 1):
                found.append(f"{match[1]}{number:0{len(low)}d}{match[3]}")
                if len(found) >= MOST_NODES:
                    return found
    return found
