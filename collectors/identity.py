"""One spelling for each thing that several programs name in their own way."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"(?:(?:PCI:)?([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?", re.I)
_BUS_ID = re.compile(r"(?:0x)?([0-9a-f]{4,12})", re.I)


def normalise_pci(text: str) -> str | None:
    """Return `dddd:bb:dd.f` for any spelling of a PCI address, or None.

    Known spellings: `PCI:0000:3b:00` (NVRM), `00000000:3B:00.0` (nvidia-smi, DCGM), `0000:3b:00.0` and `3b:00.0` (lspci),
    `3b000` (NCCL's busId: hexadecimal without separators, function last).

    >>> [normalise_pci(text) for text in ("PCI:0000:3b:00", "00000000:3B:00.0", "3b:00.0", "3b000", "19000", "x")]
    ['0000:3b:00.0', '0000:3b:00.0', '0000:3b:00.0', '0000:3b:00.0', '0000:19:00.0', None]
    """
    text = text.strip()
    match = _ADDRESS.fullmatch(text)
    if match:
        domain, bus, device, function = match.groups()
        return f"{int(domain or '0', 16):04x}:{int(bus, 16):02x}:{int(device, 16):02x}.{function or '0'}"
    match = _BUS_ID.fullmatch(text)
    if match:
        value = int(match[1], 16)
        return f"{value >> 20:04x}:{value >> 12 & 0xFF:02x}:{value >> 4 & 0xFF:02x}.{value & 0xF:x}"
    return None


def normalise_node(text: str) -> str:
    """Return a host name without its domain, in lower case; an IP address stays whole, a host's management controller is the host.

    >>> normalise_node("GPU-Node-7.cluster.example.com"), normalise_node("10.0.0.12"), normalise_node("gpu-7-bmc")
    ('gpu-node-7', '10.0.0.12', 'gpu-7')
    """
    text = text.strip().strip("'\"").lower()
    if text.replace(".", "").isdigit():
        return text
    name = text.split(".", 1)[0]
    for end in ("-bmc", "-ipmi", "-idrac", "-ilo"):
        name = name.removesuffix(end)
    return name or text
