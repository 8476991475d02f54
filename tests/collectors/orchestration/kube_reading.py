"""Reads a text with one Kubernetes collector, the way the intake does: every line that opens a block starts one."""

from __future__ import annotations

import re
from types import ModuleType

from collectors.block import Reader
from collectors.observation import Observation, Record


def read_blocks(module: ModuleType, text: str) -> list[Record]:
    data, records, offset, number, done = text.encode(), [], 0, 1, 0
    head = re.compile("|".join(f"(?:{one})" for one in module.HEADS))
    for raw in data.split(b"\n"):
        if offset >= done and head.search(raw.decode()):
            reader = Reader(data, offset, number, "a")
            records.extend(module.parse_block(reader))
            done = reader.offset
        offset, number = offset + len(raw) + 1, number + 1
    return records


def observations(module: ModuleType, text: str) -> list[Observation]:
    return [one for one in read_blocks(module, text) if isinstance(one, Observation)]
