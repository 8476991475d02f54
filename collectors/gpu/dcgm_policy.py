"""`dcgmi policy --reg`: what violates the conditions that were set for a group of GPUs.

DCGM 1.x to 4.x; texts: NVIDIA/DCGM `dcgmi/Policy.cpp` (`ListenForViolations`). Sample::

    Listening for violations.
    Timestamp: Wed Jan 28 00:34:23 2026
    A PCIe replay event has violated policy manager values.
    PCIe replay count: 99999
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_syslog
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "dcgm"
LAYERS = ("hardware",)
SIGNATURES = (r"has violated policy manager values", r"^Listening for violations")
HEADS = (r"^Timestamp: \w{3} \w{3} +\d{1,2} \d\d:\d\d:\d\d \d{4}\s*$", r"has violated policy manager values")
_VIOLATION = compile_later(r"^(?:.{0,200}?\s)?(?:An?|The) (?P<what>[^.]{2,80}?) has violated policy manager values")
_TIME = compile_later(r"^Timestamp: \w{3} (\w{3} +\d{1,2} \d\d:\d\d:\d\d \d{4})")
_VALUE = compile_later(r"^\s*(?P<name>[A-Z][\w -]{2,40}?): (?P<value>\d+(?:\.\d+)?)\b")
_KINDS = (
    ("ecc", r"double.bit|ECC|DBE"), ("pcie", r"PCI"), ("retired-pages", r"retired|pages"), ("thermal", r"thermal|temperature"),
    ("power", r"power"), ("nvlink", r"NVLINK"), ("xid", r"XID"),
)  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `dcgm_policy` (code = ecc, pcie, retired-pages, thermal, power, nvlink or xid; attribute value)."""
    place, first = reader.place(), reader.number
    text = reader.next() or ""
    stamp = _TIME.match(text)
    if stamp:
        text = reader.next() or ""
    match = _VIOLATION.match(text[:400])
    if not match:
        reader.back(place)
        return
    last, value = reader.number - 1, ""
    after = reader.peek()
    counted = _VALUE.match(after) if after is not None else None
    if counted and not after.startswith("Timestamp"):  # type: ignore[union-attr]
        value, last = counted["value"], reader.number
        text = f"{text.strip()} {after.strip()}"  # type: ignore[union-attr]
        reader.next()
    code = next((name for name, regex in _KINDS if re.search(regex, match["what"], re.I)), "other")
    found = {
        "what": match["what"],
        **({"value": value} if value else {}),
        **({"xid": value} if value and code == "xid" else {}),
    }
    yield Observation(
        SOURCE, "dcgm_policy", reader.input, first, last, text.strip(), code=code, time=parse_syslog(stamp[1]) if stamp else None,
        node=reader.node, attributes=found,
    )  # fmt: skip
