"""What the tools of network file systems' clients count: `juicefs stats` and `nfsiostat`.

Formats: JuiceFS 0.17 to 1.3 (groups of columns, a line each second), nfs-utils 1.2 to 2.8. Samples::

    ------usage------ ----------fuse--------- ----meta--- -blockcache ---object--
     cpu   mem   buf | ops   lat   read write| ops   lat | read write| get   put
     2.1%  412M    0 | 180  24.1    22M    0 | 176  24.0 |  22M    0 |   0     0
    10.0.0.5:/export mounted on /nfs:
    read:   ops/s   kB/s   kB/op   retrans   avg RTT (ms)   avg exe (ms)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "storage"
LAYERS = ("storage",)
SIGNATURES = (r"^-+usage-+ -+fuse-+ ", r"^\S+:/\S* mounted on /\S*:$")
HEADS = (r"^-+usage-+ -+fuse-+ -+meta-", r"^\S+:/\S* mounted on /\S*:\s*$")

_MOUNT = compile_later(r"^(?P<device>\S+:/\S*) mounted on (?P<mount>/\S*):\s*$")
_NUMBER = compile_later(r"\d+(?:\.\d+)?")
_COLUMNS = compile_later(r"avg (RTT|exe|queue) \(ms\)|(ops/s|kB/s|kB/op|retrans|errors)")
_ROWS = 3600


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `juicefs` (code stats, the median `meta_ms`) or `nfs-io` (code read or write; ops, rtt_ms, exe_ms)."""
    head = reader.peek() or ""
    mount = _MOUNT.match(head)
    if mount:
        yield from _read_nfs(reader, mount)
    elif head.startswith("-"):
        yield from _read_juicefs(reader)


def _read_juicefs(reader: Reader) -> Iterator[Record]:
    groups = re.findall(r"[a-z]+", reader.next() or "")
    names = [cell.split() for cell in (reader.next() or "").split("|")]
    place = groups.index("meta") if "meta" in groups else len(names)
    if place >= len(names) or "lat" not in names[place]:
        return
    column = names[place].index("lat")
    rows: list[tuple[float, int, str]] = []
    for _ in range(_ROWS):
        text = reader.peek()
        cells = [cell.split() for cell in text.split("|")] if text else []
        if text is None or len(cells) != len(names):
            if text is None or not re.match(r"^(?:-+usage| cpu )", text):
                break
            reader.next()  # the heading comes again every screen
            continue
        if len(cells[place]) > column and _NUMBER.fullmatch(cells[place][column]):
            rows.append((float(cells[place][column]), reader.number, text))
        reader.next()
    if not rows:
        return
    middle = median(value for value, _, _ in rows)
    _, number, text = min(rows, key=lambda row: (abs(row[0] - middle), row[1]))
    yield Observation(
        SOURCE, "juicefs", reader.input, number, number, text, code="stats", node=reader.node, entity="filesystem:juicefs",
        attributes={"meta_ms": f"{middle:g}", "rows": str(len(rows))},
    )  # fmt: skip


def _read_nfs(reader: Reader, mount: re.Match[str]) -> Iterator[Record]:
    reader.next()
    columns: list[str] = []
    operation = ""
    for _ in range(24):
        text = reader.peek()
        if text is None or _MOUNT.match(text):
            return
        heading = re.match(r"^\s*(read|write):?\s+.*ops/s", text)
        if heading:
            operation, columns = heading[1], [a or b for a, b in _COLUMNS.findall(text)]
        elif operation and text.strip():
            values = _NUMBER.findall(re.sub(r"\([\d.]+%\)", "", text))
            if len(values) == len(columns):
                row = dict(zip(columns, values, strict=True))
                attributes = {"mount": mount["mount"], "device": mount["device"], "ops": row.get("ops/s", "")}
                attributes |= {f"{name.lower()}_ms": row[name] for name in ("RTT", "exe", "queue") if name in row}
                yield Observation(
                    SOURCE, "nfs-io", reader.input, reader.number, reader.number, f"{operation} {text.strip()}", code=operation,
                    node=reader.node, entity=f"filesystem:{mount['mount']}", attributes=attributes,
                )  # fmt: skip
            operation = ""
        elif text.strip() and not re.match(r"^\s*(?:ops/s|op/s|[\d.\s]+$|rpc|getattr|access|lookup)", text):
            return
        reader.next()
