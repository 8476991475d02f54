"""Hardware errors that the firmware reports through ACPI (APEI, GHES, BERT): one record over many lines of the kernel log.

Linux 3.10 to 6.14, `drivers/acpi/apei/ghes.c`, `bert.c` and `drivers/firmware/efi/cper*.c`. All lines of a record bear its number
in braces (records of the boot before, `BERT`, have none), and lines of other writers may stand between. Sample::

    {1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 5
    {1}[Hardware Error]: event severity: fatal
    {1}[Hardware Error]:  Error 0, type: fatal
    {1}[Hardware Error]:   section_type: PCIe error
    {1}[Hardware Error]:   device_id: 0000:05:00.1
    {1}[Hardware Error]:   aer_uncor_status: 0x00100000, aer_uncor_mask: 0x00018000
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.block import Reader
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("hardware", "node")
SIGNATURES = (r"\{\d+\}\[Hardware Error\]: ",)
HEADS = (
    r"\{\d+\}\[Hardware Error\]: (?:Hardware error from APEI|event severity)",
    r"BERT: Error records from previous boot",
)

_LINE = compile_later(r"(?:\{(?P<record>\d+)\})?\[Hardware Error\]: (?P<text>.*)$")
_MOST_FOREIGN, _MOST = 6, 200
_SEVERITY = compile_later(r"event severity: (\w+)")
_ERROR = compile_later(r"^\s*Error (\d+), type: (\w+)")
_FIELDS = {
    "section": compile_later(r"section[_ ]type: ([^,]+?)(?:,|$)"),
    "fru": compile_later(r"fru_text: (.*?)\s*$"),
    "pci": compile_later(r"device_id: ([0-9a-f]{4,6}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"),
    "port": compile_later(r"port_type: \d+, (.*?)\s*$"),
    "error": compile_later(r"error_type: (?:0x)?\d+[,:] (.*?)\s*$"),
    "address": compile_later(r"physical_address: (0x[0-9a-f]+)"),
    "dimm": compile_later(r"DIMM location: (.*?)\s*$"),
    "place": compile_later(r"^\s*(node: ?\d.*?)\s*$"),
    "uncorrected_status": compile_later(r"aer_uncor_status: (0x[0-9a-f]+)"),
    "corrected_status": compile_later(r"aer_cor_status: (0x[0-9a-f]+)"),
    "vendor": compile_later(r"vendor_id: 0x([0-9a-f]{4})"),
    "source": compile_later(r"Generic Hardware Error Source: (\d+)"),
}
_SECTIONS = (
    ("memory", "memory"), ("pcie", "pcie"), ("arm", "arm"), ("processor", "processor"), ("firmware", "firmware"), ("dmar", "dmar"),
    ("cxl", "cxl"),
)  # fmt: skip


@dataclass(slots=True)
class _Section:
    line: int
    last: int
    severity: str
    texts: list[str] = field(default_factory=list)
    found: dict[str, str] = field(default_factory=dict)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `ghes` (code fatal, recoverable, corrected or info; attributes section, pci, dimm, fru, error, address), one for
    each section of a record; `boot` is previous for what BERT kept from the boot before."""
    first = reader.number
    head = peel(reader.input, first, (reader.next() or "")[:2000])
    own = _LINE.search(head.text)
    record = own["record"] if own else ""
    common: dict[str, str] = {"record": record or ""} if record else {"boot": "previous"}
    sections: list[_Section] = []
    severity, foreign, place = "", 0, reader.place()
    text = own["text"] if own else head.text
    begin = _Section(first, first, "", [head.text])
    for _ in range(_MOST):
        severity = severity or _first(_SEVERITY, text)
        error = _ERROR.match(text)
        if error:
            sections.append(_Section(begin.last if not sections else reader.number - 1, reader.number - 1, error[2]))
        _take(sections[-1] if sections else begin, text, reader.number - 1)
        while True:
            raw = reader.peek()
            match = _LINE.search(peel(reader.input, reader.number, raw[:2000]).text) if raw is not None else None
            if (
                match
                and (match["record"] or "") == (record or "")
                and not re.search(r"Hardware error from APEI", match["text"])
            ):
                break
            foreign += 1
            if raw is None or foreign > _MOST_FOREIGN or (match and match["record"] == record):
                raw = None
                break
            reader.next()
        if raw is None or match is None:
            break
        text, foreign = match["text"], 0
        reader.next()
        place = reader.place()
    reader.back(place)
    for section in sections or ([begin] if severity else []):
        yield _make(reader.input, head, section, severity, {**common, **begin.found}, first)


def _first(regex: re.Pattern[str], text: str) -> str:
    match = regex.search(text)
    return match[1] if match else ""


def _take(section: _Section, text: str, number: int) -> None:
    section.last = max(section.last, number)
    section.texts.append(text.strip())
    for name, regex in _FIELDS.items():
        match = regex.search(text)
        if match:
            section.found.setdefault(name, match[1].strip())


def _make(name: str, head: Line, section: _Section, severity: str, common: dict[str, str], first: int) -> Observation:
    found = {**common, **section.found}
    kind = found.get("section", "").lower()
    found["section"] = next((word for part, word in _SECTIONS if part in kind), "unknown")
    entity = ""
    if "pci" in found:
        found["pci"] = found["pcie_device"] = normalise_pci(found["pci"]) or found["pci"]
        entity = f"pcie_device:{found['pci']}"
    if head.uptime is not None:
        found["uptime"] = f"{head.uptime:.6f}"
    code = {"recoverable": "recoverable", "fatal": "fatal", "corrected": "corrected", "info": "info"}.get(
        section.severity or severity, severity
    )
    text = " ".join(dict.fromkeys(part for part in section.texts if part))
    return Observation(
        SOURCE, "ghes", name, first, max(section.last, first), text, code=code, time=head.time, node=head.host, entity=entity,
        attributes=found,
    )  # fmt: skip
