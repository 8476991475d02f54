"""What is dear to make and easy to check, kept between runs: the validated rules and the compiled scan.

Kept in `$XDG_CACHE_HOME/faultwalk` (else `~/.cache/faultwalk`), each under a key over all that it was made of, so that a
change of a rule, of the program or of a library makes it anew. `FAULTWALK_CACHE=off` turns it off. Whatever goes wrong here
costs time and nothing else: a cache that can't be read, written or trusted is as good as none.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

_MOST_BYTES = 64 << 20
_MOST_KEPT = 4  # of one name: branches and versions that are used in turn


def find_folder() -> Path | None:
    """Return where things are kept, None when the cache is off or there is no home for it."""
    if os.environ.get("FAULTWALK_CACHE", "").lower() in ("off", "0", "no", "false"):
        return None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if Path(base).is_absolute():  # the specification has relative ones ignored
        return Path(base) / "faultwalk"
    try:
        return Path.home() / ".cache" / "faultwalk"
    except RuntimeError:
        return None


def make_key(parts: Iterable[bytes]) -> str:
    """Return the key of what is made of these parts, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def read_code(*folders: Path) -> Iterable[bytes]:
    """Yield the source of this program in these folders: part of a key, as it decides what is made."""
    for folder in folders:
        for path in sorted(folder.glob("*.py")):
            yield path.name.encode()
            yield path.read_bytes()


def load(name: str, key: str) -> bytes | None:
    """Return what was kept under a name and key, None when there is nothing that is whole and our own."""
    folder = find_folder()
    if folder is None:
        return None
    try:
        with (folder / f"{name}-{key[:32]}").open("rb") as stream:
            status = os.fstat(stream.fileno())
            if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
                return None  # somebody else may have written it
            data = stream.read(_MOST_BYTES)
    except OSError:
        return None
    digest, _, body = data.partition(b"\n")
    return body if digest == hashlib.sha256(key.encode() + body).hexdigest().encode() else None


def keep(name: str, key: str, body: bytes) -> None:
    """Keep something; readers see the whole of it or nothing."""
    folder = find_folder()
    if folder is None or len(body) > _MOST_BYTES // 2:
        return
    temporary = ""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", dir=folder)
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(key.encode() + body).hexdigest().encode() + b"\n" + body)
        Path(temporary).replace(folder / f"{name}-{key[:32]}")
        kept = sorted(folder.glob(f"{name}-*"), key=lambda path: path.stat().st_mtime)
        for path in kept[:-_MOST_KEPT]:
            path.unlink(missing_ok=True)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
