"""Lines that a container runtime wrote in parts (CRI log format of containerd and CRI-O, tag `P`)."""

from __future__ import annotations

import re

from collectors.envelopes.form import Envelope, Opened

_CRI_PART = re.compile(rb"^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) P ", re.M)
_CRI = re.compile(rb"(\d{4}-\d\d-\d\dT\S+ (stdout|stderr) )([FP]) (.*)", re.S)


def tell_parts(head: bytes) -> Envelope | None:
    """Return how to join lines that were written in parts, None when there are none."""
    return _Parts() if _CRI_PART.search(head) else None


class _Parts:
    """CRI lines: the runtime cuts long ones, marks all parts but the last with P, and each has the head of a line."""

    note = ""
    cites_original = False

    def open(self, data: bytes, last: bool) -> Opened:
        if not _CRI_PART.search(data):
            return Opened(data)
        lines = data.split(b"\n")
        heads: dict[bytes, tuple[int, list[bytes]]] = {}
        for place, line in enumerate(lines):
            match = _CRI.match(line)
            if match is None:
                continue
            head, stream, tag, text = match.groups()
            begun = heads.get(stream)
            if begun is None and tag == b"F":
                continue
            if begun is None:
                heads[stream] = (place, [head + b"F ", text])
            else:
                begun[1].append(text)
                lines[place] = b""
            if tag == b"F":
                at, parts = heads.pop(stream)
                lines[at] = b"".join(parts)
        for at, parts in heads.values():
            lines[at] = b"".join(parts)
        return Opened(b"\n".join(lines))
