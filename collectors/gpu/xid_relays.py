"""Xids of the device's own faults as other programs pass them on, where the kernel's log itself is not at hand.

NVIDIA's device plugin (`health.go`), gpud (leptonai/gpud issues 604 and 1072), NVSentinel (`SysLogsXIDError` events), DCGM
(`DCGM_FR_XID_ERROR`), the node monitoring agent of EKS (condition `AcceleratedHardwareReady`). Xids of programs (13, 31, 43,
45, ...) are left to the kernel's line, which alone tells where they struck. Samples::

    XidCriticalError: Xid=79 on Device=GPU-11111111-2222-3333-4444-555555555506; marking device as unhealthy.
    XID 48 (Double Bit ECC Error) detected on GPU PCI:0000:6b:00 UUID:GPU-11111111-2222-3333-4444-555555555506
    Detected XID 95 for GPU 3 Please consult the documentation for details of this XID.
    AcceleratedHardwareReady False ... NvidiaXID79Error detected XID-79 on the instance, review kernel logs for ...
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.identity import normalise_pci
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("hardware",)
SIGNATURES: tuple[str, ...] = ()
ANCHORS = (
    r"XidCriticalError: Xid=\d+ on Device=", r"(?i)\bXID \d+(?:\.\d+)? ?\([^)]*\)[^\n]{0,120}detected on (?:GPU )?PCI:",
    r"Detected XID \d+ for GPU \d", r"detected XID-\d+ on the instance|\bNvidiaXID\d+Error\b",
    r'"checkName":"SysLogsXIDError".{0,200}"errorCode":\["\d',
)  # fmt: skip
_FORMS = tuple(
    compile_later(regex)
    for regex in (
        r"XidCriticalError: Xid=(?P<code>\d{1,3}) on Device=(?P<uuid>GPU-[0-9a-f-]+)",
        (
            r"(?i:\bXID) (?P<code>\d{1,3})(?:\.\d+)? ?\([^)]*\)[^\n]{0,120}?detected on (?:GPU )?PCI:(?P<pci>[0-9a-fA-F:.]+)"
            r"(?: UUID:(?P<uuid>GPU-[0-9a-f-]+))?"
        ),
        r"Detected XID (?P<code>\d{1,3}) for GPU (?P<gpu>\d+)",
        r"detected XID-(?P<code>\d{1,3}) on the instance",
        r"\bNvidiaXID(?P<code>\d{1,3})Error\b",
        r'"checkName":"SysLogsXIDError".{0,200}?"errorCode":\["(?P<code>\d{1,3})"\].{0,200}?"entityType":"PCI","entityValue":"(?P<pci>[0-9a-fA-F:.]+)"',
    )
)
_DEVICES = (
    48, 61, 62, 63, 64, 74, 79, 92, 94, 95, 109, 119, 120, 121, 136, 140, 143, 144, 146, 147, 148, 149, 150, 155, 156, 157, 158, 167,
    169, 171, 172, 173,
)  # fmt: skip
_DEVICE = frozenset(map(str, _DEVICES))


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `xid` as the kernel's line would have given it, with attribute `relayed`."""
    if "NVRM: Xid (" in line.text:
        return
    for regex in _FORMS:
        match = regex.search(line.text)
        if match and match["code"] in _DEVICE:
            found = {name: value for name, value in match.groupdict().items() if value and name != "code"}
            if "pci" in found:
                found["pci"] = normalise_pci(found["pci"]) or found["pci"]
            gpu = found.get("pci") or found.get("uuid") or (f"dcgm-{found['gpu']}" if "gpu" in found else "")
            if gpu:
                found["gpu"] = gpu
            yield Observation(
                SOURCE, "xid", line.input, line.number, line.number, line.text, code=match["code"], time=line.time,
                node=line.host, entity=f"gpu:{gpu}" if gpu else "", attributes={**found, "relayed": "yes"},
            )  # fmt: skip
            return
