"""The NVIDIA driver's lines in the kernel log: Xid, SXid, initialisation and probe messages, version mismatches.

Drivers 310 (2014) to 595, closed and open kernel modules. Format strings: NVIDIA/open-gpu-kernel-modules (`nv.c`, `osapi.c`,
`rmapi`, `nvswitch`); the Xid catalog names the codes. Several messages run over lines; each line starts with `NVRM: `, and
syslog may write the newline as `#012`. Samples::

    NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.
    NVRM: Xid (0000:03:00): 14, Ch 00000020, engmask 00000101
    NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No
    nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 63 LTSSM Fault Up
    NVRM: The NVIDIA GPU 0000:b3:00.0
    NVRM: (PCI ID: 10de:26b5) installed in this system has
    NVRM: fallen off the bus and is not responding to commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.block import Reader
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("node", "hardware")
SIGNATURES = (r"NVRM: ", r"nvidia-nvswitch\d+: ")
ANCHORS = (
    r"NVRM: Xid \(", r"NVRM: GPU at (?:PCI:)?[0-9a-f]{4}:", r": SXid \(", r"RmInitAdapter failed", r"rm_init_adapter failed",
    r"NVRM: GPU [0-9a-fA-F:.]+: GPU has fallen off the bus", r"NVRM: GPU at [0-9a-fA-F:.]+ has fallen off the bus",
    r"nvidia(?: [0-9a-f:.]+)?: probe (?:of|with driver)",
    r"NVRM: The NVIDIA probe routine", r"NVRM: API mismatch:.*#012",
)  # fmt: skip
HEADS = (
    r"NVRM: The NVIDIA GPU [0-9a-fA-F:.]+", r"NVRM: API mismatch: the client[^#]*$", r"NVRM: This PCI I/O region assigned",
)  # fmt: skip

_XID = compile_later(
    r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9a-fA-F:.]+)(?: GPU-I:(?P<mig>\d+))?(?: GPU-CI:(?P<compute>\d+))?\): (?P<code>\d{1,3}), ?"
    r"(?:pid='?(?P<pid>\d+|<unknown>)'?,? ?)?(?:name=(?P<process>[^,]*), ?)?(?P<text>.*)$"
)
_DETAILS = {  # what the text of some Xids tells beyond its number
    "previous": compile_later(r"caused by previous Xid (\d+)"),
    "place": compile_later(r"\(GPC (\d+, TPC \d+, SM \d+)\)"),
    "fault": compile_later(r"Fault is of type (\w+)|\): ([A-Z][A-Za-z ]+)$"),
    "engine": compile_later(r"MMU Fault: ENGINE (\S+)"),
    "client": compile_later(r"MMU Fault: ENGINE \S+ (?:GPC\d+ )?(\w+) faulted"),
    "link": compile_later(r"[Ll]ink (-?\d+)"),
    "severity": compile_later(r"\b(Fatal|Nonfatal)\b"),
    "unit": compile_later(r"^([A-Z]{2,}_[A-Z_]+)\s"),
    "action": compile_later(r"recovery action changed from .* to 0x\w+ \(([^)]+)\)"),
    "function": compile_later(r"Expected function (\d+ \(\w+\)|\w+)"),
}
_LINK_REGISTERS = compile_later(r"\blink -?\d+ ?\((0x[0-9a-fA-F]+(?:(?:, ?| )0x[0-9a-fA-F]+){4,6})\)")
_GPU_AT = compile_later(r"NVRM: GPU at (?:PCI:)?(?P<pci>[0-9a-fA-F:.]+): (?P<uuid>GPU-[0-9a-f-]+)")
_SXID = compile_later(
    r"(?P<switch>nvidia-nvswitch\d+): SXid \((?:PCI:)?(?P<pci>[0-9a-fA-F:.]+)\): (?P<code>\d{5}), (?P<text>.*)$"
)
_RM_INIT = compile_later(r"NVRM: (?:GPU (?P<pci>[0-9a-fA-F:.]+): )?RmInitAdapter failed! \((?P<status>[^)]*)\)")
_RM_OLD = compile_later(
    r"NVRM: (?:GPU (?P<pci>[0-9a-fA-F:.]+): )?rm_init_adapter failed"
    r"(?:, device minor number (?P<minor>\d+)|(?:\(\d+\))? for device bearing minor number (?P<minor2>\d+))?"
)
_FALLEN = compile_later(r"NVRM: GPU (?:at )?(?P<pci>[0-9a-fA-F:.]+?):?(?: GPU)? has fallen off the bus")
_PROBE = compile_later(
    r"nvidia(?:: probe of (?P<pci>[0-9a-f:.]+)| (?P<pci2>[0-9a-f:.]+): probe with driver nvidia) failed with error "
    r"(?P<status>-?\d+)"
)
_ROUTINE = compile_later(r"NVRM: The NVIDIA probe routine (?P<what>was not called|failed) for (?P<count>\d+) device")
_VERSION = compile_later(r"(?<![\d.])(\d{3}\.\d{1,3}(?:\.\d{1,2})?)(?![\d.]*\d)")
_MOST_LINES = 8


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `xid`, `sxid` (code = number), `gpu_init`, `gpu_fallen`, `gpu_probe` and `driver_mismatch` observations."""
    text = line.text
    if "SXid (" in text:
        yield from _parse_sxid(line)
        return
    match = _XID.search(text)
    if match:
        yield _make_xid(line, match)
        return
    match = _GPU_AT.search(text)
    if match:
        yield Relation(f"gpu:{_pci(match['pci'])}", f"gpu:{match['uuid']}", "same", line.input, line.number, line.host)
        return
    for kind, regex in (("gpu_init", _RM_INIT), ("gpu_init", _RM_OLD), ("gpu_fallen", _FALLEN), ("gpu_probe", _PROBE)):
        match = regex.search(text)
        if match:
            found = {name.rstrip("2"): value for name, value in match.groupdict().items() if value}
            yield _observe(line, kind, "failed", found)
            return
    match = _ROUTINE.search(text)
    if match:
        yield _observe(
            line, "driver_probe", "not-called" if "not" in match["what"] else "failed", {"count": match["count"]}
        )
    elif "API mismatch" in text:
        yield from _make_mismatch(line, text.replace("#012", " "), line.number)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield the one observation of a message that runs over several `NVRM: ` lines, and nothing when it is cut short."""
    begin, first, raw = reader.place(), reader.number, reader.next() or ""
    line = peel(reader.input, first, raw[:2000])
    if "#012" in raw:  # the whole message in one line of syslog: `parse_line` reads it
        reader.back(begin)
        return
    parts = [line.text]
    for _ in range(_MOST_LINES):
        following = reader.peek()
        if (
            following is None
            or "NVRM: " not in following
            or any(re.search(head, following) for head in HEADS)
            or "Xid" in following
        ):
            break
        parts.append(peel(reader.input, reader.number, following[:2000]).text)
        reader.next()
        if parts[-1].endswith((".", ")")) and not parts[-1].startswith("NVRM: (PCI ID"):
            break
    whole = " ".join(part.removeprefix("NVRM: ") if index else part for index, part in enumerate(parts))
    last = reader.number - 1
    if "API mismatch" in whole:
        yield from _make_mismatch(line, whole, last)
    elif "is invalid" in whole:
        match = re.search(r"(BAR\d+) is 0M @ 0x0 \(PCI:([0-9a-fA-F:.]+)\)", whole)
        if match:
            said = next(place for place, part in enumerate(parts) if match[1] in part)
            found = _observe(line, "bar_invalid", match[1], {"pci": match[2]}, whole, last)
            yield replace(found, line=line.number + said)  # cited is the line that names the region
    else:
        match = re.search(r"The NVIDIA GPU ([0-9a-fA-F:.]+)", whole)
        for words, kind in (("fallen off the bus", "gpu_fallen"), ("is not supported", "gpu_unsupported")):
            if match and words in whole:
                yield _observe(
                    line,
                    kind,
                    "not-responding" if kind == "gpu_fallen" else "unsupported",
                    {"pci": match[1]},
                    whole,
                    last,
                )
                return
        reader.back(begin)


def _pci(text: str) -> str:
    return normalise_pci(text) or text


def _observe(
    line: Line, kind: str, code: str, attributes: dict[str, str], text: str = "", last: int = 0
) -> Observation:
    if "pci" in attributes:
        attributes["pci"] = _pci(attributes["pci"])
    if line.uptime is not None:
        attributes["uptime"] = f"{line.uptime:.6f}"
    return Observation(
        SOURCE, kind, line.input, line.number, last or line.number, text or line.text, code=code, time=line.time, node=line.host,
        entity=f"gpu:{attributes['pci']}" if "pci" in attributes else f"gpu:minor-{attributes['minor']}" if "minor" in attributes else "",
        attributes=attributes,
    )  # fmt: skip


def _make_xid(line: Line, match: re.Match[str]) -> Observation:
    attributes = {
        name: value
        for name, value in match.groupdict().items()
        if value and name != "code" and "<unknown>" not in value
    }
    for name, regex in _DETAILS.items():
        found = regex.search(match["text"])
        if found:
            attributes[name] = next((group for group in found.groups() if group), "")
    registers = _LINK_REGISTERS.search(match["text"]) if match["code"] == "74" else None
    if registers:
        for place, value in enumerate(re.findall(r"0x[0-9a-fA-F]+", registers[1]), 1):
            attributes[f"register{place}"] = value.lower()
    return _observe(line, "xid", match["code"], attributes)


def _parse_sxid(line: Line) -> Iterator[Record]:
    match = _SXID.search(line.text)
    if not match:
        return
    text = match["text"]
    if text.startswith(("Severity", "Data")):  # the second and third line of the same error
        return
    attributes = {"pci": _pci(match["pci"]), "nvswitch": match["switch"].removeprefix("nvidia-")}
    severity = re.match(r"(Fatal|Non-fatal|Non-Fatal)\b", text)
    link = re.search(r"Link (\d+)", text)
    if severity:
        attributes["severity"] = "fatal" if severity[1] == "Fatal" else "non-fatal"
    if link:
        attributes["link"] = link[1]
    if line.uptime is not None:
        attributes["uptime"] = f"{line.uptime:.6f}"
    switch, address = f"nvswitch:{attributes['nvswitch']}", f"nvswitch:{attributes['pci']}"
    yield Relation(switch, address, "same", line.input, line.number, line.host)
    yield Observation(
        SOURCE, "sxid", line.input, line.number, line.number, line.text, code=match["code"].lstrip("0"), time=line.time,
        node=line.host, entity=switch, attributes=attributes,
    )  # fmt: skip


def _make_mismatch(line: Line, whole: str, last: int) -> Iterator[Observation]:
    versions = _VERSION.findall(whole)
    if len(versions) >= 2 and versions[0] != versions[1]:
        yield _observe(line, "driver_mismatch", "api", {"client": versions[0], "module": versions[1]}, whole, last)
