"""lspci: link capability and status, access control, and devices that answer with all ones.

pciutils 3.x, `lspci -vv` and what `grep` leaves of it; a loop often prints the address before the line. Samples::

    3b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev ff)
            LnkCap: Port #0, Speed 16GT/s, Width x16, ASPM not supported
            LnkSta: Speed 8GT/s (downgraded), Width x8 (downgraded)
            ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "lspci"
LAYERS = ("hardware",)
_ADDRESS = r"(?:[0-9a-f]{4,6}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
SIGNATURES = (rf"^{_ADDRESS} [A-Z0-9][\w /-]+(?: \[[0-9a-f]{{4}}\])?: ", r"^\s+Lnk(?:Cap|Sta|Ctl):\s", r"ACSCtl:\s")
HEADS = (
    rf"^{_ADDRESS} [A-Z0-9][\w /-]+(?: \[[0-9a-f]{{4}}\])?: ", rf"^(?:{_ADDRESS} )?\s*Lnk(?:Cap|Sta):\s", rf"^(?:{_ADDRESS} )?\s*ACSCtl:\s",
)  # fmt: skip
_HEAD = compile_later(
    rf"^(?P<pci>{_ADDRESS}) (?P<class>[A-Z0-9][\w /-]+)(?: \[(?P<number>[0-9a-f]{{4}})\])?: (?P<name>.*?)"
    r"(?: \(rev (?P<rev>[0-9a-f]{2})\))?(?: \(prog-if.*)?\s*$"
)
_LINE = compile_later(rf"^(?:(?P<pci>{_ADDRESS}) )?\s*(?P<what>LnkCap|LnkSta|ACSCtl):\s*(?P<text>.*)$")
_SPEED = compile_later(r"Speed (\d+(?:\.\d+)?)GT/s( \(downgraded\))?.*?Width x(\d+)( \(downgraded\))?")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `pci_device`, `pci_link` (code = width, speed or ok) and `pci_acs` (code = redirect or off) observations."""
    pci, name, capable = "", "", ("", "")
    while True:
        text = reader.peek()
        if text is None:
            return
        head, line = _HEAD.match(text[:300]), _LINE.match(text[:300])
        if not head and not line and not text.startswith(("\t", "  ")) and text.strip():
            return
        number = reader.number
        reader.next()
        if head:
            pci, name, capable = normalise_pci(head["pci"]) or head["pci"], head["name"], ("", "")
            found = {"class": head["class"], "name": name, "rev": head["rev"] or ""}
            yield _observe(reader.input, number, text, "pci_device", head["rev"] or "", pci, name, found)
        elif line:
            address = normalise_pci(line["pci"] or "") or pci
            if line["what"] == "ACSCtl":
                on = "ReqRedir+" in line["text"] or "CmpltRedir+" in line["text"] or "UpstreamFwd+" in line["text"]
                yield _observe(reader.input, number, text, "pci_acs", "redirect" if on else "off", address, name, {})
                continue
            match = _SPEED.search(line["text"])
            if not match:
                continue
            if line["what"] == "LnkCap":
                capable = (match[1], match[3])
                continue
            narrow = bool(match[4]) or bool(capable[1] and int(match[3][:9]) < int(capable[1][:9]))
            slow = bool(match[2]) or bool(capable[0] and float(match[1]) < float(capable[0]))
            found = {"speed": match[1], "width": match[3], "speed_max": capable[0], "width_max": capable[1]}
            code = "width" if narrow and match[3] != "0" else "down" if match[3] == "0" else "speed" if slow else "ok"
            yield _observe(reader.input, number, text, "pci_link", code, address, name, found)


def _observe(
    source: str, number: int, text: str, kind: str, code: str, pci: str, name: str, more: dict[str, str]
) -> Observation:
    attributes = {key: value for key, value in more.items() if value}
    if pci:
        attributes.update({"pci": pci, "pcie_device": pci})
    gpu = bool(re.search(r"NVIDIA", name) and re.search(r"3D|VGA|Display", more.get("class", "3D")))
    entity = (f"gpu:{pci}" if gpu else f"pcie_device:{pci}") if pci else ""
    attributes["vendor"] = (
        "nvidia"
        if "NVIDIA" in name
        else "mellanox"
        if "Mellanox" in name or "ConnectX" in name
        else "other"
        if name
        else "unknown"
    )
    return Observation(
        SOURCE, kind, source, number, number, text.strip(), code=code, entity=entity, attributes=attributes
    )
