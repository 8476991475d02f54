"""rasdaemon: its lines in the journal and what `ras-mc-ctl --errors`, `--summary` and `--error-count` print.

Versions 0.4 to 0.8 (ras-mc-handler.c, ras-aer-handler.c, ras-mce-handler.c, ras-extlog-handler.c, util/ras-mc-ctl.in). They are
the kernel's own reports, so they become the same facts as the kernel's lines. Samples::

    kworker/3:1-91 [003]  0.000101: mc_event: 2021-02-27 03:09:05 +0100 1 Corrected error: memory read error on DIMM_B1 (mc: 1 ...
    <...>-30397 [001]  0.137781: mce_record: 2024-05-16 10:21:24 -0700 bank=2, status= 9400000000000000, No Error, ..., cpu= 1
    <idle>-0 [000]  0.000201: aer_event: 2024-03-25 09:01:52 +0800 0000:5e:00.0 Corrected error: Receiver Error
    2 2020-04-16 22:23:24 +0000 0000:0b:00.0 Uncorrected (Fatal) error: Malformed TLP
    1 2021-02-27 03:09:05 +0100 1 Corrected error(s): memory read error at DIMM_B1 location: 1:0:1:-1, addr 0, grain 6
            Corrected on DIMM Label(s): 'DIMM_B1' location: 1:0:1:-1 errors: 320
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.clock import parse_iso
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("hardware",)
SIGNATURES = (
    r"\brasdaemon\[\d+\]: ", r"\b(?:mc_event|aer_event|mce_record|extlog_mem_event): ",
    r" (?:Corrected|Uncorrected|Fatal) on DIMM Label\(s\): ", r"^(?:Memory controller|PCIe AER|MCE) (?:events|records)(?: summary)?:",
)  # fmt: skip
ANCHORS = (
    r"\b(?:mc_event|aer_event|mce_record|extlog_mem_event):\s", r" on DIMM Label\(s\): ",
    r"(?:Corrected|Uncorrected|Deferred|Fatal)[\w ()-]{0,20} error\(s\): ", r"\bbank=0x[0-9a-f]+",
    r"^\d+ \d{4}-\d\d-\d\d [\d:]{8} [+-]\d{4} [0-9a-f]{4}:[0-9a-f]{2}:", r"^(?:mc#|CPU_SrcID#|CPU\d|DIMM|Chan#)\S*\s+\d+\s+\d+\s*$",
)  # fmt: skip

_WHEN = r"(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? ?[+-]\d{4})"
_SEVERITY = r"(?P<severity>Corrected|Uncorrected(?: \((?:Non-)?Fatal\))?|Deferred|Fatal|Info)"
_MEMORY = compile_later(
    rf"(?:mc_event:\s+|^\d+ ){_WHEN}(?:\([^)]*\))? (?P<count>\d+) {_SEVERITY} (?:error\(s\)|errors?):? ?(?P<what>.*?)"
    rf" (?:on|at) (?P<dimm>\S.*?)(?: \(mc: | location: |$)"
)
_SUMMED = compile_later(rf"{_SEVERITY} on DIMM Label\(s\): '(?P<dimm>[^']*)' location: [-\d:]+ errors: (?P<count>\d+)")
_COUNTS = compile_later(r"^(?P<dimm>(?:mc#|CPU_SrcID#|CPU\d|DIMM|Chan#)\S*)\s+(?P<ce>\d+)\s+(?P<ue>\d+)\s*$")
_BUS = compile_later(
    rf"(?:aer_event:\s+|^\d+ ){_WHEN}(?: [a-z]+)? (?P<pci>[0-9a-f]{{4,6}}:[0-9a-f]{{2}}:[0-9a-f]{{2}}\.[0-7]) "
    rf"\(?{_SEVERITY}\)? ?(?:error:?)? ?(?P<what>.*)$"
)
_CHECK = compile_later(rf"(?:mce_record:\s+|^\d+ ){_WHEN} (?:error: )?(?P<rest>.*\bbank=.*)$")
_FIRMWARE = compile_later(
    rf"extlog_mem_event:\s+{_WHEN}(?: \w+)? (?P<record>\d+) (?P<severity>recoverable|fatal|corrected|informational)[\w -]*"
    r" error: (?P<what>[\w -]+?) physical addr: (?P<address>0x[0-9a-f]+)"
)


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `edac` (code ce or ue), `aer`, `mce` and `ghes` observations, as the kernel's own lines give them."""
    text = line.raw if line.raw[:1].isdigit() else line.text
    match = _MEMORY.search(text) or _SUMMED.search(text)
    if match:
        corrected = match["severity"] == "Corrected"
        if match["severity"] != "Info":
            found = {"count": match["count"], "dimm": match["dimm"], "what": match.groupdict().get("what", "")}
            yield _observe(line, text, "edac", "ce" if corrected else "ue", found, _when(match))
        return
    match = _COUNTS.match(text)
    if match:
        for code in ("ce", "ue"):
            if int(match[code][:18]):
                yield _observe(line, text, "edac", code, {"count": match[code], "dimm": match["dimm"]}, None)
        return
    match = _BUS.search(text)
    if match:
        pci = normalise_pci(match["pci"]) or match["pci"]
        severity = (
            "corrected" if match["severity"] == "Corrected" else "nonfatal" if "Non-" in match["severity"] else "fatal"
        )
        found = {"pci": pci, "pcie_device": pci, "form": "relayed", "what": match["what"].strip()}
        yield _observe(line, text, "aer", severity, found, _when(match), f"pcie_device:{pci}")
        return
    match = _FIRMWARE.search(text)
    if match:
        severity = "info" if match["severity"] == "informational" else match["severity"]
        found = {"section": "memory", "error": match["what"], "address": match["address"], "record": match["record"]}
        yield _observe(line, text, "ghes", severity, found, _when(match))
        return
    match = _CHECK.search(text)
    if match:
        yield from _read_check(line, text, match)


def _read_check(line: Line, text: str, match: re.Match[str]) -> Iterator[Observation]:
    rest = match["rest"]
    pairs = dict(re.findall(r"\b(status|cpu|bank|addr|socketid)= ?(?:0x)?([0-9a-f]+)", rest))
    named = re.search(r"\bCPU (\d+)", rest)
    status = int(pairs.get("status", "0")[:18], 16)
    if not status:
        return
    bank = int(pairs.get("bank", "0")[:18], 16) if "bank=0x" in rest else pairs.get("bank", "")
    found = {
        "cpu": named[1] if named else str(int(pairs.get("cpu", "0")[:18], 16)), "bank": str(bank), "status": f"{status:016x}",
        "memory": "yes" if status & 0xEF80 == 0x0080 or re.search(r"\bDIMM|Memory Controller|DRAM|MEM_", rest, re.I) else "no",
        "what": rest.partition(",")[0], "cell": f"bank {bank} {pairs['addr']}" if pairs.get("addr", "").strip("0") else "",
    }  # fmt: skip
    yield _observe(line, text, "mce", "uncorrected" if status >> 61 & 1 else "corrected", found, _when(match))


def _when(match: re.Match[str]) -> float | None:
    stamp = match.groupdict().get("when")
    return parse_iso(stamp.replace(" ", "T", 1)) if stamp else None


def _observe(
    line: Line, text: str, kind: str, code: str, attributes: dict[str, str], time: float | None, entity: str = ""
) -> Observation:
    attributes = {name: value for name, value in attributes.items() if value}
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, text.strip(), code=code, time=time if time is not None else line.time,
        node=line.host, entity=entity, attributes={**attributes, "relayed": "rasdaemon"},
    )  # fmt: skip
