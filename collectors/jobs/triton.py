"""Triton Inference Server's table of models: one message may be wrapped over many rows, so the cells are joined.

Program: tritonserver 1.x to 2.5x, printed by server.cc after all models were tried. Sample::

    I0420 06:13:58.121512 1 server.cc:184]
    +--------+---------+---------------------------------------------------------+
    | Model  | Version | Status                                                  |
    +--------+---------+---------------------------------------------------------+
    | yolov5 | 1       | UNAVAILABLE: Internal: unable to create TensorRT engine |
    |        |         | for this device                                         |
    +--------+---------+---------------------------------------------------------+
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation
from collectors.regex import compile_later

SOURCE = "serving"
LAYERS = ("application", "framework")
SIGNATURES = (r"\| Model +\| Version \| Status",)
HEADS = (r"\| Model +\| Version \| Status",)
_STATUS = compile_later(r"(?P<status>[A-Z]+)(?:: (?P<reason>.*))?$", re.S)
_MOST_ROWS = 4000


def parse_block(reader: Reader) -> Iterator[Observation]:
    """Yield one `model-status` observation a model: code = READY, UNAVAILABLE, ...; attributes model, version, reason."""
    reader.next()
    name, version, first, last = "", "", 0, 0
    parts: list[str] = []
    for number, text in _rows(reader):
        cells = [cell.strip() for cell in text.strip().strip("|").split("|", 2)]
        if len(cells) != 3:
            continue
        if cells[0] and parts:
            yield _observe(reader.input, name, version, parts, first, last)
            parts = []
        if cells[0]:
            name, version, first = cells[0], cells[1], number
        if first:
            parts.append(cells[2])
            last = number
    if parts:
        yield _observe(reader.input, name, version, parts, first, last)


def _rows(reader: Reader) -> Iterator[tuple[int, str]]:
    for _ in range(_MOST_ROWS):
        text = reader.peek()
        if text is None:
            return
        stripped = text.strip()
        if not stripped.startswith(("|", "+-")):
            return
        number = reader.number
        reader.next()
        if stripped.startswith("|"):
            yield number, text


def _observe(input_name: str, name: str, version: str, parts: list[str], first: int, last: int) -> Observation:
    text = " ".join(part for part in parts if part)
    match = _STATUS.match(text)
    attributes = {"model": name, "version": version}
    if match and match["reason"]:
        attributes["reason"] = match["reason"]
    return Observation(
        SOURCE,
        "model-status",
        input_name,
        first,
        last,
        text,
        code=match["status"] if match else "",
        attributes=attributes,
    )
