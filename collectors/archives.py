"""Open what logs are packed in: gzip, bzip2, xz, zstandard, zip and tar, nested, and plain folders.

Members are named `archive.tar/path/file`; a file that is only compressed keeps its name. Everything is streamed and bounded:
what a bomb, a link, a device or a path that leaves the archive would do is refused by name, and the rest is still read. Nothing is
written to disk except a copy of a zip that came without a way to seek (in a temporary file that is gone afterwards).
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from collectors.notes import Note

_ERRORS = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    ValueError,
    RuntimeError,
)
_PEEK = 512


@dataclass(slots=True)
class Limits:
    """How much is opened: bytes after decompression in all and for one member, members, depth of nesting."""

    total: int = 16 << 30
    member: int = 8 << 30
    members: int = 20_000
    depth: int = 4


@dataclass(slots=True)
class Opened:
    """What opening came to: how much was read and what was refused, as (name, reason)."""

    bytes: int = 0
    members: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


class _Bounded(io.RawIOBase):
    """A reader that stops at a bound and says so, and that ends quietly where compressed data breaks off."""

    def __init__(self, name: str, stream: BinaryIO, limits: Limits, opened: Opened) -> None:
        self._name, self._stream, self._limits, self._opened = name, stream, limits, opened
        self._left = limits.member
        self._over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer)).cast("B")
        if self._over:
            return 0
        room = min(len(view), self._left, self._limits.total - self._opened.bytes)
        try:
            data = self._stream.read(room) if room > 0 else self._stream.read(1)
        except _ERRORS as error:
            self._stop(Note.of("broken-off", error=error))
            return 0
        if room <= 0:
            if data:
                self._stop(Note.of("larger-than-limit"))
            return 0
        view[: len(data)] = data
        self._left -= len(data)
        self._opened.bytes += len(data)
        return len(data)

    def _stop(self, reason: str) -> None:
        self._over = True
        self._opened.refused.append((self._name, reason))


def expand(
    name: str, stream: BinaryIO, opened: Opened, limits: Limits | None = None, depth: int = 0
) -> Iterator[tuple[str, BinaryIO]]:
    """Yield (name, stream) of each text inside a stream, the stream itself when it is not packed.

    Read each stream before taking the next. What can't be read is added to `opened.refused`.
    """
    limits = limits or Limits()
    buffered = io.BufferedReader(_Bounded(name, stream, limits, opened), 1 << 20)
    head = buffered.peek(_PEEK)[:_PEEK]
    reader = cast("BinaryIO", buffered)
    unpack = _choose(head)
    if unpack is None:
        opened.members += 1
        yield name, reader
        return
    if depth >= limits.depth:
        opened.refused.append((name, Note.of("too-deep", depth=limits.depth)))
        return
    try:
        for inner_name, inner in unpack(name, reader, opened):
            if opened.members >= limits.members:
                opened.refused.append((name, Note.of("too-many-members", count=limits.members)))
                return
            yield from expand(inner_name, inner, opened, limits, depth + 1)
    except _ERRORS as error:
        opened.refused.append((name, Note.of("not-unpacked", error=error)))


_Unpack = Callable[[str, BinaryIO, Opened], Iterator[tuple[str, BinaryIO]]]


def _choose(head: bytes) -> _Unpack | None:
    if head[:2] == b"\x1f\x8b":
        return _gzip
    if head[:3] == b"BZh" and head[4:10] == b"1AY&SY":
        return _bzip2
    if head[:6] == b"\xfd7zXZ\x00":
        return _xz
    if head[:4] == b"\x28\xb5\x2f\xfd":
        return _zstandard
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _zip
    if head[257:262] == b"ustar":
        return _tar
    return None


def _gzip(name: str, reader: BinaryIO, opened: Opened) -> Iterator[tuple[str, BinaryIO]]:
    with gzip.GzipFile(fileobj=reader) as inner:
        yield name, cast("BinaryIO", inner)


def _bzip2(name: str, reader: BinaryIO, opened: Opened) -> Iterator[tuple[str, BinaryIO]]:
    with bz2.BZ2File(reader) as inner:
        yield name, cast("BinaryIO", inner)


def _xz(name: str, reader: BinaryIO, opened: Opened) -> Iterator[tuple[str, BinaryIO]]:
    with lzma.LZMAFile(reader) as inner:
        yield name, cast("BinaryIO", inner)


class _Zstandard:
    """A reader of zstandard frames that fails as the other readers do."""

    def __init__(self, reader: BinaryIO) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        decompressor = zstandard.ZstdDecompressor(max_window_size=128 << 20)
        self._inner = decompressor.stream_reader(reader, read_across_frames=True)

    def read(self, size: int) -> bytes:
        try:
            return self._inner.read(size)
        except self._error as error:
            raise OSError(str(error)) from error


def _zstandard(name: str, reader: BinaryIO, opened: Opened) -> Iterator[tuple[str, BinaryIO]]:
    yield name, cast("BinaryIO", _Zstandard(reader))


def _tar(name: str, reader: BinaryIO, opened: Opened) -> Iterator[tuple[str, BinaryIO]]:
    with tarfile.open(fileobj=reader, mode="r|", errorlevel=0) as archive:
        for member in archive:
            inner_name = f"{name}/{_safe(member.name)}"
            if member.isdir():
                continue
            if not member.isreg():
                opened.refused.append((inner_name, Note.of("link-or-device")))
            elif _leaves(member.name):
                opened.refused.append((inner_name, Note.of("leaves-archive")))
            else:
                inner = archive.extractfile(member)
                if inner is not None:
                    yield inner_name, cast("BinaryIO", inner)


def _zip(name: str, reader: BinaryIO, opened: Opened) -> Iterator[tuple[str, BinaryIO]]:
    with tempfile.TemporaryFile() as copy:
        while data := reader.read(1 << 20):
            copy.write(data)
        with zipfile.ZipFile(copy) as archive:
            for member in archive.infolist():
                inner_name = f"{name}/{_safe(member.filename)}"
                if member.filename.endswith("/"):  # `is_dir` fails on a member without a name
                    continue
                if (member.external_attr >> 28) == 0o12:
                    opened.refused.append((inner_name, Note.of("link")))
                elif _leaves(member.filename):
                    opened.refused.append((inner_name, Note.of("leaves-archive")))
                elif member.flag_bits & 0x1:
                    opened.refused.append((inner_name, Note.of("encrypted")))
                else:
                    with archive.open(member) as inner:
                        yield inner_name, cast("BinaryIO", inner)


def _leaves(path: str) -> bool:
    pure = PurePosixPath(path.replace("\\", "/"))
    return pure.is_absolute() or ".." in pure.parts


def _safe(path: str) -> str:
    """Return a member's name without control characters, so that it can stand in a report."""
    return "".join(c if c.isprintable() else "\ufffd" for c in path)[:400].lstrip("./") or "member"


def list_files(folder: Path, opened: Opened, limits: Limits | None = None) -> Iterator[Path]:
    """Yield each regular file below a folder, in the order of their names; links are refused, and files beyond the limit."""
    limits = limits or Limits()
    found = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            opened.refused.append((str(path), Note.of("link")))
        elif path.is_file():
            if found >= limits.members:
                opened.refused.append((str(folder), Note.of("too-many-files", count=limits.members)))
                return
            found += 1
            yield path
