"""The kernel's log: dmesg (raw, -T, -H, --decode), journalctl, syslog; here what it says about the host's own hardware.

Formats: util-linux dmesg, systemd journalctl; `drivers/pci/pcie/aer.c`, `drivers/edac`, `arch/x86/kernel/cpu/mce`,
`drivers/firmware/efi/cper.c`, `drivers/iommu` of Linux 3.10 to 6.14. Samples::

    pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error message received from 0000:63:00.0
    nvidia 0000:63:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)
    EDAC MC3: 1 UE memory read error on CPU_SrcID#1_MC#1_Chan#2_DIMM#0 (channel:2 slot:0 page:0xb757589)
    mce: [Hardware Error]: CPU 10: Machine Check Exception: 5 Bank 8: be00000001010092
    pci 0000:9b:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:9a:00.0 (capable of ...)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from collectors.identity import normalise_pci
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("node", "hardware", "fabric", "storage")
SIGNATURES = (r"\d\d:\d\d\S*(?: \S+)? kernel: |^kernel: |kernel: \[ *\d+\.\d", r"^\[ *\d{1,9}\.\d{6}\] ", r"^kern +:")
ANCHORS = (
    r"PCIe Bus Error: severity=", r"AER: .*rror (?:message )?received", r"EDAC \w+: \d+ [CU]E ", r"Machine Check(?: Exception| Event)?: ",
    r"available PCIe bandwidth, limited by", r"AMD-Vi: Event logged \[IO_PAGE_FAULT", r"DMAR: .*(?:fault addr|Fault)",
    r"temperature (?:is )?above threshold, cpu clock",
)  # fmt: skip

_PCI = r"[0-9a-f]{4,6}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_BUS_ERROR = compile_later(
    rf"(?P<driver>[\w-]+) (?P<pci>{_PCI}): (?:AER: )?PCIe Bus Error: severity=(?P<severity>[\w() -]+?), type=(?P<layer>[^,]+)"
)
_RECEIVED = compile_later(
    rf"pcieport (?P<port>{_PCI}): AER: (?:Multiple )?(?P<severity>Correct\w+|Uncorrect\w+(?: \([\w-]+\))?) error (?:message )?received"
    rf"(?:: |: id=| from )(?P<pci>{_PCI}|[0-9a-f]{{4}})"
)
_EDAC = compile_later(
    r"EDAC (?P<controller>MC\d+): (?P<count>\d+) (?P<code>[CU]E)(?: (?P<what>.*?))?? on (?P<dimm>\S.*?)(?: \(|$)"
)
_PAGE = compile_later(r"page:0x(?P<page>[0-9a-f]{1,16})(?: offset:0x(?P<offset>[0-9a-f]{1,16}))?")
_MCE = compile_later(
    r"CPU (?P<cpu>\d+): Machine Check(?P<form> Exception| Event)?: (?P<level>[0-9a-f]+) Bank (?P<bank>\d+)"
    r"(?:: (?P<status>[0-9a-f]{16}))?"
)
_BANDWIDTH = compile_later(
    rf"(?P<pci>{_PCI}): (?P<available>[\d.]+) Gb/s available PCIe bandwidth, limited by (?P<speed>[\d.]+) GT/s "
    rf"PCIe x(?P<width>\d+) link at (?P<at>{_PCI}) \(capable of (?P<capable>[\d.]+) Gb/s with (?P<best_speed>[\d.]+) GT/s "
    r"PCIe x(?P<best_width>\d+) link\)"
)
_IOMMU = compile_later(
    rf"(?:(?P<pci>{_PCI}): )?AMD-Vi: Event logged \[IO_PAGE_FAULT (?:device=(?P<pci2>[0-9a-f:.]+))?|"
    r"DMAR: (?:\[[\w ]+\] )?.*?[Rr]equest device \[(?P<pci3>[0-9a-f:.]+)\] .*fault addr"
)
_HOT = compile_later(r"CPU(?P<cpu>\d+): (?P<what>Core|Package) temperature (?:is )?above threshold, cpu clock")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `aer`, `edac`, `mce`, `pcie_bandwidth`, `iommu_fault` and `cpu_hot` observations."""
    for regex, make in _FORMS:
        match = regex.search(line.text)
        if match:
            yield make(line, match)
            return


def _attributes(match: re.Match[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in match.groupdict().items():
        name = name.rstrip("23")
        if value and name not in found:
            found[name] = (normalise_pci(value) or value) if name in ("pci", "port", "at") else value
    return found


def _severity(text: str) -> str:
    text = text.lower()
    return "corrected" if text.startswith("correct") else "fatal" if "(fatal)" in text else "nonfatal"


def _make_aer(line: Line, match: re.Match[str]) -> Observation:
    found = _attributes(match)
    if re.fullmatch(r"[0-9a-f]{4}", match["pci"]):  # old kernels: bus and device-function in one number
        value = int(match["pci"][:18], 16)
        found["pci"] = f"0000:{value >> 8:02x}:{value >> 3 & 0x1F:02x}.{value & 7}"
    found["form"] = "received" if "port" in found else "decoded"
    return _observe(line, "aer", _severity(match["severity"]), found)


def _make_edac(line: Line, match: re.Match[str]) -> Observation:
    found = _attributes(match)
    place = _PAGE.search(line.text, match.start())
    if place and int(place["page"], 16):  # page 0: a driver that does not know the address
        found["cell"] = f"{found['dimm']} {place['page']}:{place['offset'] or ''}"
    return _observe(line, "edac", match["code"].lower(), found)


def _make_mce(line: Line, match: re.Match[str]) -> Observation:
    found = _attributes(match)
    status = int(match["status"], 16) if match["status"] else 0
    uncorrected = bool(status >> 61 & 1) or match["form"] == " Exception"  # MCi_STATUS.UC
    found["memory"] = (
        "yes" if match["status"] and (status & 0xFFFF) & 0xEF80 == 0x0080 else "no"
    )  # memory controller error codes
    return _observe(line, "mce", "uncorrected" if uncorrected else "corrected", found)


def _make_bandwidth(line: Line, match: re.Match[str]) -> Observation:
    found = _attributes(match)
    narrow = int(found["width"][:9]) < int(found["best_width"][:9])
    return _observe(line, "pcie_bandwidth", "width" if narrow else "speed", found)


def _make_plain(kind: str) -> Callable[[Line, re.Match[str]], Observation]:
    return lambda line, match: _observe(line, kind, "", _attributes(match))


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    entity = f"pcie_device:{attributes['pci']}" if "pci" in attributes else ""
    if "pci" in attributes:
        attributes["pcie_device"] = attributes["pci"]
    if line.uptime is not None:
        attributes["uptime"] = f"{line.uptime:.6f}"
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host, entity=entity,
        attributes=attributes,
    )  # fmt: skip


_FORMS: tuple[tuple[re.Pattern[str], Callable[[Line, re.Match[str]], Observation]], ...] = (
    (_BUS_ERROR, _make_aer), (_RECEIVED, _make_aer), (_EDAC, _make_edac), (_MCE, _make_mce), (_BANDWIDTH, _make_bandwidth),
    (_IOMMU, _make_plain("iommu_fault")), (_HOT, _make_plain("cpu_hot")),
)  # fmt: skip
