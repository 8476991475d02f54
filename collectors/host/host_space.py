"""Space and mounts of a host: `df`, `df -h`, `df -T`, `df -i`, `mount`.

Formats: GNU coreutils df (English and Chinese headings; a long device name pushes its row to the next line), busybox df,
util-linux mount. Sample::

    Filesystem      Size  Used Avail Use% Mounted on
    shm              64M   58M  6.2M  91% /dev/shm
    10.0.0.21:/export on /data type nfs4 (rw,relatime,vers=4.1,hard)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.quantities import parse_size, plain
from collectors.regex import compile_later

SOURCE = "host"
LAYERS = ("storage", "node")
SIGNATURES = (r"^(?:Filesystem|文件系统) ", r"^\S+ on /\S* type \w", r"^\S+ .* \d+% /\S*$")
HEADS = (r"^(?:Filesystem|文件系统) +.*(?:Use%|%(?: |$)|已用)",)
ANCHORS = (r" on /\S* type (?:nfs4?|lustre|ceph|beegfs\w*|gpfs|wekafs|fuse\.[\w.-]+|cifs|glusterfs|9p|virtiofs) \(",)

_HEAD = compile_later("|".join(HEADS))
_ROW = compile_later(
    r"^(?P<device>\S.*?)?\s+(?:(?P<type>[a-z][\w.-]*) +)?(?P<size>[\d.]+[KMGTPE]?i?B?|-) +(?P<used>[\d.]+[KMGTPE]?i?B?|-) +"
    r"(?P<available>-?[\d.]+[KMGTPE]?i?B?|-) +(?P<percent>\d+%|-) +(?P<mount>/\S*)\s*$"
)
_MOUNT = compile_later(r"(?P<device>\S+) on (?P<mount>/\S*) type (?P<type>[\w.-]+) \((?P<options>[^)]*)\)?")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield a `mount` observation for network and FUSE file systems; its code is the type."""
    match = _MOUNT.search(line.text)
    if match:
        yield Observation(
            SOURCE, "mount", line.input, line.number, line.number, line.text, code=match["type"], time=line.time,
            node=line.host, entity=f"filesystem:{match['mount']}", attributes=match.groupdict(),
        )  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `filesystem` observation for each row of a df table; its code is `space` or `inodes`."""
    if not _HEAD.search(reader.peek() or ""):
        return
    head = reader.next() or ""
    inodes = "node" in head.lower().replace("filesystem", "")
    blocks = re.search(r"(\d+)(K|M)?-?(?:blocks|块)", head, re.I)
    unit = (
        int(blocks[1][:18]) * {"K": 2**10, "k": 2**10, "M": 2**20, "m": 2**20}.get(blocks[2] or "", 1) if blocks else 1
    )
    pending, start = "", 0
    while (text := reader.peek()) is not None:
        match = _ROW.match(f"{pending} {text}" if pending else text)
        if match is None:
            if pending or not re.fullmatch(r"\S{12,}", text):
                break
            pending, start = text, reader.number
            reader.next()
            continue
        number = start if pending else reader.number
        reader.next()
        yield _observe(reader, match, number, "inodes" if inodes else "space", unit)
        pending = ""


def _observe(reader: Reader, match: re.Match[str], number: int, code: str, unit: int) -> Observation:
    attributes = {name: value for name in ("device", "type", "mount") if (value := match[name])}
    for name in ("size", "used", "available"):
        size = parse_size(match[name].lstrip("-"))
        if size is not None:
            attributes[name] = plain(size * unit)
    if match["percent"] != "-":
        attributes["percent"] = match["percent"].rstrip("%")
    return Observation(
        SOURCE, "filesystem", reader.input, number, reader.number - 1, match[0].strip(), code=code, node=reader.node,
        entity=f"filesystem:{match['mount']}", attributes=attributes,
    )  # fmt: skip
