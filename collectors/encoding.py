"""Text in the encodings that logs come in, read as UTF-8: UTF-16 by its mark, GB18030 by what it is not."""

from __future__ import annotations

import codecs
from typing import BinaryIO

_HEAD = 65536  # bytes by which an encoding is told


class Utf8Stream:
    """A stream of bytes read as UTF-8; `encoding` says what it was: `utf-8`, `utf-16`, `gb18030` or `binary`."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._head = stream, stream.read(_HEAD)
        self.encoding = tell_encoding(self._head)
        self.returns = False  # whether carriage returns end its lines
        recode = self.encoding in ("utf-16", "gb18030")
        self._decoder = codecs.getincrementaldecoder(self.encoding)("replace") if recode else None
        if self.encoding == "utf-8":
            self._head = self._head.removeprefix(codecs.BOM_UTF8)

    @property
    def head(self) -> bytes:
        """The first bytes as they are, as long as none were read."""
        return self._head

    def look_at(self, size: int) -> bytes:
        """Return up to `size` bytes as they are; they are still read afterwards."""
        if len(self._head) < size:
            self._head += self._stream.read(size - len(self._head))
        return self._head[:size]

    def read(self, size: int) -> bytes:
        """Return about `size` bytes, none at the end."""
        while True:
            data, self._head = self._head[:size], self._head[size:]
            if len(data) < size:
                data += self._stream.read(size - len(data))
            if self._decoder is not None:
                text = self._decoder.decode(data, final=not data)
                if not text and data:
                    continue
                data = text.encode()
            return data.replace(b"\r", b"\n") if self.returns else data


def tell_encoding(head: bytes) -> str:
    """Return the encoding that the first bytes of an input show.

    >>> [
    ...     tell_encoding(head)
    ...     for head in (
    ...         b"\\xff\\xfea\\x00",
    ...         "掉卡".encode("gb18030"),
    ...         "掉卡".encode(),
    ...         b"caf\\xe9 au lait",
    ...         b"\\x00\\x01",
    ...     )
    ... ]
    ['utf-16', 'gb18030', 'utf-8', 'utf-8', 'binary']
    """
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    control = sum(head.count(bytes([code])) for code in (*range(9), *range(14, 27)))
    if control > 0.05 * len(head):
        return "binary"
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head)
    broken = text.count("\ufffd")
    if broken == 0 or sum(character > "\x7f" for character in text) >= 2 * broken:
        return "utf-8"  # a line cut in the middle of a character does not make it another encoding
    try:
        codecs.getincrementaldecoder("gb18030")("strict").decode(head)
    except UnicodeDecodeError:
        return "utf-8"
    return "gb18030"
