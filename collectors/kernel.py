"""The kernel's log: dmesg (raw, -T, -H, --decode), journalctl, syslog; NVIDIA's NVRM lines among it.

Formats: util-linux dmesg, systemd journalctl; NVRM Xid lines as printed by open-gpu-kernel-modules (drivers 450 to 595).
Sample::

    [449410.332316] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.identity import normalise_pci
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line

SOURCE = "kernel"
LAYERS = ("node", "hardware", "fabric", "storage")
SIGNATURES = (r"\bkernel: ", r"^\[ *\d+\.\d{6}\] ", r"NVRM: ", r"^kern +:")
ANCHORS = (r"NVRM: Xid \(", r"NVRM: GPU at PCI:")
_XID = re.compile(
    r"NVRM: Xid \((?P<pci>[^)]+)\): (?P<code>\d{1,3}), ?(?:pid='?(?P<pid>\d+|<unknown>)'?,? ?)?(?:name=(?P<process>[^,]*), ?)?"
    r"(?P<text>.*)$"
)
_CAUSED_BY = re.compile(r"caused by previous Xid (\d+)")
_GPU_AT = re.compile(r"NVRM: GPU at PCI:(?P<pci>[0-9a-fA-F:.]+): (?P<uuid>GPU-[0-9a-f-]+)")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `xid` observations (code = the number) and the relation between a GPU's address and UUID."""
    match = _XID.search(line.text)
    if match:
        pci = normalise_pci(re.sub(r" .*", "", match["pci"])) or match["pci"]
        attributes = {name: value for name, value in match.groupdict().items() if value and name in ("pid", "process", "text")}
        attributes["pci"] = pci
        caused = _CAUSED_BY.search(match["text"])
        if caused:
            attributes["previous"] = caused[1]
        if line.uptime is not None:
            attributes["uptime"] = f"{line.uptime:.6f}"
        yield Observation(
            SOURCE, "xid", line.input, line.number, line.number, line.text, code=match["code"], time=line.time, node=line.host,
            entity=f"gpu:{pci}", attributes=attributes,
        )  # fmt: skip
        return
    match = _GPU_AT.search(line.text)
    if match:
        pci = normalise_pci(match["pci"]) or match["pci"]
        yield Relation(f"gpu:{pci}", f"gpu:{match['uuid']}", "same", line.input, line.number)
