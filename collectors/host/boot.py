"""When the host was started: what turns the kernel's seconds since boot into times.

The kernel's real-time clock line (`drivers/rtc/class.c`: UTC, with seconds since the epoch), `uptime -s` of procps, `who -b` of
coreutils and `last reboot`'s own line are read. Samples::

    [    1.284016] rtc_cmos 00:02: setting system clock to 2025-01-21T04:41:44 UTC (1737434504)
             system boot  2025-01-21 04:41
    $ uptime -s
    2025-01-21 04:41:42
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_iso
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "host"
LAYERS: tuple[str, ...] = ()
SIGNATURES = (r"^\s+system boot  ?\d{4}-",)
ANCHORS = (r"setting system clock to \d{4}-", r"system boot  ?\d{4}-")
HEADS = (r"(?:^|\s|/)uptime (?:-s|--since)\s*$",)

_CLOCK = compile_later(r"setting system clock to (?P<at>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d) UTC")
_WHO = compile_later(r"system boot  ?(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d)")
_SINCE = compile_later(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `boot-time` observations; `boot` is in seconds since the epoch, `by` says what tells."""
    match = _CLOCK.search(line.text)
    if match:
        at = parse_iso(match["at"])
        if at is not None and line.uptime is not None:
            yield _observe(line.input, line.number, line.text, at - line.uptime, "rtc", line.host)
        return
    match = _WHO.search(line.text)
    at = parse_iso(f"{match['at']}:00") if match else None
    if at is not None:
        yield _observe(line.input, line.number, line.text, at, "who -b", line.host)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield what `uptime -s` prints below its command."""
    reader.next()
    text = reader.peek() or ""
    at = parse_iso(text.strip()) if _SINCE.fullmatch(text) else None
    if at is not None:
        number = reader.number
        reader.next()
        yield _observe(reader.input, number, text.strip(), at, "uptime -s", reader.node)


def _observe(name: str, number: int, text: str, boot: float, by: str, node: str) -> Observation:
    return Observation(
        SOURCE, "boot-time", name, number, number, text, code=by, node=node, attributes={"boot": f"{boot:.6f}", "by": by}
    )  # fmt: skip
