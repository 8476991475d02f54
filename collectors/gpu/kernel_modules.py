"""Which kernel modules are loaded: `lsmod` and `/proc/modules`, whole or filtered by grep.

kmod 9 to 33, Linux 2.6 to 6.14 (fs/proc, kernel/module). A whole listing also shows what is not loaded. Samples::

    Module                  Size  Used by
    nvidia_uvm           1511424  0
    nvidia              56807424  2 nvidia_uvm,nvidia_modeset
    nvidia 56807424 2 nvidia_uvm,nvidia_modeset, Live 0xffffffffc0591000 (POE)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "driver"
LAYERS = ("node",)
SIGNATURES = (r"^Module +Size +Used by", r"^[a-z]\w* \d+ \d+ \S+ (?:Live|Loading|Unloading) 0x[0-9a-f]+")
HEADS = (
    r"^Module +Size +Used by", r"^[a-z]\w* \d+ \d+ \S+ (?:Live|Loading|Unloading) 0x[0-9a-f]+",
    r"^(?:nvidia|nouveau)(?:_\w+)?\s+\d{4,9}\s+\d{1,5}(?:\s+[\w,]+)?\s*$",
)  # fmt: skip
_ROW = compile_later(
    r"^(?P<name>[A-Za-z0-9]\w*)\s+(?P<size>\d{2,10})\s+(?P<used>-?\d{1,6})(?:\s+(?P<by>\S+))?"
    r"(?:\s+\w+ 0x[0-9a-f]+)?(?P<taint> \([A-Z]+\))?\s*$"
)
_WHOLE = 12  # modules from which on a listing without head is taken for a whole one
_WATCHED = (
    "nvidia",
    "nvidia_uvm",
    "nvidia_peermem",
    "nv_peer_mem",
    "nouveau",
    "nova_core",
    "vfio_pci",
    "gdrdrv",
    "mlx5_ib",
    "ib_umad",
)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield one `kernel_modules` observation: code loaded, absent (a whole listing has no nvidia) or part; an attribute (yes
    or no) for each module that matters to GPUs, `no` only in a whole listing."""
    first, head = reader.number, reader.next() or ""
    names: dict[str, tuple[int, str]] = {}
    titled, place, last = head.startswith("Module "), reader.place(), first
    row = _ROW.match(head[:400])
    if row and not titled:
        names[row["name"]] = (first, head.strip())
    for number, text in reader.lines(2000):
        row = _ROW.match(text[:400])
        if not row:
            break
        names.setdefault(row["name"], (number, text.strip()))
        place, last = reader.place(), number
    reader.back(place)
    whole = len(names) >= _WHOLE
    found = {name: "yes" if name in names else "no" for name in _WATCHED if name in names or whole}
    if not names or (not whole and "nvidia" not in names and "nouveau" not in names):
        return
    code = "loaded" if "nvidia" in names else "absent" if whole else "part"
    shown = names.get("nvidia") or names.get("nouveau") or (first, head.strip())
    yield Observation(
        SOURCE, "kernel_modules", reader.input, shown[0], shown[0], shown[1], code=code, node=reader.node,
        attributes={**found, "modules": str(len(names)), "last": str(last)},
    )  # fmt: skip
