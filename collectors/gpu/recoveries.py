"""What ends a fault of a GPU: the host was started anew, or the GPU was reset.

Programs: the kernel's first line (Linux 2.6 to 6.17), journalctl's separators of boots (systemd 183 to 257), `nvidia-smi --gpu-reset`
(drivers 367 to 595). The driver's own word that nothing is left to do, Xid 154 with the action None, is read by `nvrm`. Samples::

    Aug 20 12:00:00 node-a kernel: [    0.000000] Linux version 5.15.0-91-generic (buildd@lcy02) (gcc 11) #101-Ubuntu SMP
    -- Boot 6d3b0b2f6f2c4d5f9d1c1c4b2f0a9e11 --
    GPU 00000000:3B:00.0 was successfully reset.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.identity import normalise_pci
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS: tuple[str, ...] = ()
ANCHORS = (
    r"Linux version \d+\.\d+",
    r"^-- (?:Reboot|Boot [0-9a-f]{32}) --",
    r"GPU [0-9A-F:.]+ was successfully reset\.",
)
_RESET = compile_later(r"GPU (?P<pci>[0-9A-Fa-f:.]+) was successfully reset\.")
_FIRST = 60.0  # seconds of uptime within which the kernel names itself


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `recovery`: code boot (of the host) or reset (of the GPU that is the entity)."""
    match = _RESET.search(line.text)
    if match:
        pci = normalise_pci(match["pci"]) or match["pci"]
        yield _observe(line, "reset", f"gpu:{pci}", {"pci": pci})
    elif line.raw.startswith("-- "):
        yield _observe(line, "boot", "", {"by": "separator"})
    elif line.source == "kernel" and (line.uptime is None or line.uptime < _FIRST):
        yield _observe(line, "boot", "", {"by": "kernel"})


def _observe(line: Line, code: str, entity: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, "recovery", line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        entity=entity, attributes=attributes,
    )  # fmt: skip
