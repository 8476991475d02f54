"""A stream in blocks of whole lines, and which of them are the last."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from collectors.encoding import Utf8Stream

BLOCK = 2 << 20  # bytes


def read_blocks(stream: Utf8Stream) -> Iterator[tuple[bytes, bool]]:
    """Yield (bytes, whether they are the last) cut at newlines."""
    rest = b""
    while True:
        data = stream.read(BLOCK)
        if not data:
            if rest:
                yield rest, True
            return
        data = rest + data
        cut = data.rfind(b"\n") + 1
        if cut == 0 and len(data) < 16 * BLOCK:
            rest = data
            continue
        cut = cut or len(data)
        rest = data[cut:]
        following = stream.read(1)
        if not following:
            yield data, True
            return
        rest += following
        yield data[:cut], False


def look_ahead(blocks: Iterator[tuple[bytes, bool]], most: int) -> Iterator[tuple[bytes, bool, bool]]:
    """Add to each block whether it is one of the last `most`."""
    waiting: deque[tuple[bytes, bool]] = deque()
    for block in blocks:
        waiting.append(block)
        if len(waiting) > most:
            yield *waiting.popleft(), False
    for block in waiting:
        yield *block, True
