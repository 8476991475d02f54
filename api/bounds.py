"""How much the commands open: settings of the environment, as a machine of any size reads the same archives."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace

from collectors.archives import Limits

_SIZE = re.compile(r"(\d{1,15})([KMGT]?)(?:i?B)?", re.I)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
# Variable -> the limit that it sets.
VARIABLES = {
    "FAULTWALK_MOST_TOTAL": "total",
    "FAULTWALK_MOST_INPUT": "member",
    "FAULTWALK_MOST_MEMBERS": "members",
    "FAULTWALK_MOST_DEPTH": "depth",
}


class BoundsError(Exception):
    """A variable does not say how much; the message names it."""


def read_limits(environment: Mapping[str, str] = os.environ) -> Limits:
    """Return the limits that the environment sets, the usual ones where it is silent. Raises BoundsError.

    >>> read_limits({"FAULTWALK_MOST_INPUT": "2G"}).member
    2147483648
    """
    chosen: dict[str, int] = {}
    for variable, name in VARIABLES.items():
        text = environment.get(variable, "").strip()
        if not text:
            continue
        match = _SIZE.fullmatch(text)
        if match is None or int(match[1]) == 0:
            raise BoundsError(f"{variable}={text[:40]}: expected a number above 0, such as 500 or 2G")
        chosen[name] = int(match[1]) << _UNITS[match[2].upper()]
    return replace(Limits(), **chosen)
