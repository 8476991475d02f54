"""mcelog: decoded machine checks in `/var/log/mcelog`, on its standard output or in syslog, and the daemon's own verdicts.

Versions 0.8 to 199, documented at mcelog.org; used up to Linux 4.12 and in RHEL 7. A record runs to the next one. Sample::

    Hardware event. This is not a software error.
    MCE 0
    CPU 3 BANK 1
    MISC 86 ADDR 1424bd400
    TIME 1415556598 Sun Nov  9 19:09:58 2014
    MCi status:
    Uncorrected error
    MCA: Data CACHE Level-0 Write Error
    STATUS bf80000000000124 MCGSTATUS 0
    mcelog: Corrected memory errors on page 3e2c1b000 exceed threshold 10 in 24h: 10 in 24h
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_epoch
from collectors.observation import Observation, Record
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("hardware",)
SIGNATURES = (r"Hardware event\. This is not a software error", r"\bmcelog(?:\[\d+\])?: ")
HEADS = (
    r"Hardware event\. This is not a software error", r"(?:Corrected|Uncorrected) memory errors on page [0-9a-f]+ exceed",
    r"(?:Corrected|Uncorrected) DIMM memory error count exceeded threshold",
)  # fmt: skip
_MOST = 40
_PROCESSOR = compile_later(r"^CPU (?P<cpu>\d+) (?:BANK (?P<bank>\d+)|(?P<event>THERMAL EVENT))")
_STATUS = compile_later(r"^STATUS (?:0x)?(?P<status>[0-9a-f]{6,16})\b")
_TIME = compile_later(r"^TIME (\d{9,11})\b")
_CAUSE = compile_later(r"^(?:MCA: |Transaction: |Memory )(?P<what>.*)$")
_VERDICT = compile_later(
    r"(?P<severity>Corrected|Uncorrected) (?:memory errors on page (?P<page>[0-9a-f]+) exceed|DIMM memory error count exceeded)"
)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `mce` (code corrected or uncorrected, attributes cpu, bank, status, memory: yes or no) for each record, and
    `memory_threshold` when the daemon finds too many errors on a page or DIMM."""
    first = reader.number
    head = peel(reader.input, first, (reader.next() or "")[:2000])
    verdict = _VERDICT.search(head.text)
    if verdict:
        found = {"page": verdict["page"]} if verdict["page"] else {}
        yield Observation(
            SOURCE, "memory_threshold", reader.input, first, first, head.text, code=verdict["severity"].lower(), time=head.time,
            node=head.host, attributes=found,
        )  # fmt: skip
        return
    lines, last, time = [head.text], first, head.time
    found = dict[str, str]()
    for _ in range(_MOST):
        raw = reader.peek()
        text = peel(reader.input, reader.number, raw[:2000]).text if raw is not None else ""
        if raw is None or not text or "This is not a software error" in text:
            break
        for regex in (_PROCESSOR, _STATUS, _CAUSE):
            match = regex.match(text)
            if match:
                for name, value in match.groupdict().items():
                    found.setdefault(name, value or "")
        moment = _TIME.match(text)
        if moment:
            time = parse_epoch(moment[1])
        lines.append(text)
        last = reader.number
        reader.next()
        if text.startswith(("CPUID Vendor", "SOCKETID ", "SOCKET ")):
            break
    if "cpu" not in found:
        return
    status, whole = int(found.get("status") or "0", 16), " ".join(lines)
    uncorrected = bool(status >> 61 & 1) or "Uncorrected error" in whole
    memory = status & 0xEF80 == 0x0080 if status else "Memory" in found.get("what", "")
    found["memory"] = "yes" if memory or re.search(r"MEMORY CONTROLLER|DIMM", whole) else "no"
    code = "thermal" if found.get("event") else "uncorrected" if uncorrected else "corrected"
    yield Observation(
        SOURCE, "mce", reader.input, first, last, whole, code=code, time=time, node=head.host,
        attributes={name: value for name, value in found.items() if value},
    )  # fmt: skip
