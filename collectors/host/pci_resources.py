"""Address space that the kernel finds, or does not find, for the memory of PCI devices as it starts.

Program: Linux 3.10 to 6.17, `drivers/pci/setup-res.c` and `setup-bus.c`; 6.9 turned the order of the words around. It tries several
times, so that a failure counts only where no success for the same BAR follows. Samples::

    pci 0000:14:00.0: BAR 1: no space for [mem size 0x2000000000 64bit pref]
    pci 0000:14:00.0: BAR 1: failed to assign [mem size 0x2000000000 64bit pref]
    pci 0000:14:00.0: BAR 1 [mem size 0x2000000000 64bit pref]: can't assign; no space
    pci 0000:14:00.0: BAR 1 [mem 0x380000000000-0x381fffffffff 64bit pref]: assigned
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.block import Reader
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("node", "hardware")
HEADS = (
    r"BAR [0-5]: (?:no space for|failed to assign|can't assign) ",
    r"BAR [0-5] \[mem size 0x[0-9a-f]+[^\]]*\]: (?:failed to assign|can't assign)",
)
_FAILED = compile_later(
    r"(?P<pci>[0-9a-f]{4,6}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): BAR (?P<bar>[0-5]):? "
    r"(?:(?:no space for|failed to assign|can't assign) )?\[mem size 0x(?P<size>[0-9a-f]{1,16})"
)
_ASSIGNED = compile_later(
    r"(?P<pci>[0-9a-f]{4,6}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): BAR (?P<bar>[0-5])(?:: assigned \[mem 0x| \[mem 0x[^\]]*\]: assigned)"
)
_PASS = 3000  # lines that the kernel's attempts may take
_QUIET = 400  # lines without a BAR after which they are over


@dataclass(slots=True)
class _Failure:
    line: Line
    last: int
    size: int


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `pci-resource` with code unassigned for each BAR that is left without address space; attributes pci, bar and size (bytes)."""
    failures: dict[tuple[str, str], _Failure] = {}
    place, quiet = reader.place(), 0
    for number, raw in reader.lines(_PASS):
        if "BAR " not in raw:
            quiet += 1
            if quiet > _QUIET:
                break
            continue
        quiet, place = 0, reader.place()
        assigned, failed = _ASSIGNED.search(raw[:2000]), _FAILED.search(raw[:2000])
        if assigned:
            failures.pop((assigned["pci"], assigned["bar"]), None)
        elif failed:
            key = (failed["pci"], failed["bar"])
            if key in failures:
                failures[key].last = number
            else:
                failures[key] = _Failure(peel(reader.input, number, raw[:2000]), number, int(failed["size"], 16))
    reader.back(place)
    for (address, bar), failure in failures.items():
        pci, line = normalise_pci(address) or address, failure.line
        last = failure.last if failure.last == line.number + 1 else line.number  # the kernel says it twice
        attributes = {"pci": pci, "bar": bar, "size": str(failure.size)}
        if line.uptime is not None:
            attributes["uptime"] = f"{line.uptime:.6f}"
        yield Observation(
            SOURCE, "pci-resource", reader.input, line.number, last, line.text, code="unassigned", time=line.time,
            node=line.host or reader.node, entity=f"gpu:{pci}", attributes=attributes,
        )  # fmt: skip
