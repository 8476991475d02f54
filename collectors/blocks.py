"""A stream in blocks of whole lines, and which of them stand at an end of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from collectors.encoding import Utf8Stream

BLOCK = 1 << 20  # bytes
SHORT = 8  # blocks of an input that is short: all of them stand at an end


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


def tell_ends(blocks: Iterator[tuple[bytes, bool]]) -> Iterator[tuple[bytes, bool, bool]]:
    """Add to each block whether it stands at an end: all of a short input, the first and the last of a longer one."""
    waiting = list(islice(blocks, SHORT + 1))
    if len(waiting) <= SHORT:
        for data, last in waiting:
            yield data, last, True
        return
    for number, (data, last) in enumerate(chain(waiting, blocks)):
        yield data, last, last or number == 0
