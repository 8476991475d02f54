"""Where the time of a step goes, in the timers of Megatron-LM and DeepSpeed: making batches, and communication.

Programs: Megatron-LM `timers.py` from 2019 on (one line; from 2022 on a block with the least and the most of all ranks, or the most
alone), and what is built on it; DeepSpeed with `wall_clock_breakdown`. All are milliseconds for one step. Where ranks differ, the
most counts for data, and for communication the least, as all others wait there for the slowest rank. Samples::

    (min, max) time across ranks (ms):
        forward-backward ...............................: (5164.84, 5177.15)
        batch-generator ................................: (408.98, 817.78)
    time (ms) | forward-compute: 31.57 | backward-compute: 41.76 | backward-params-all-reduce: 21.15 | batch-generator: 5.24
    [Rank 0] rank=0 time (ms) | forward_microstep: 1389.49 | backward_microstep: 4495.84 | step_microstep: 0.06
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import Line, peel
from collectors.quantities import plain
from collectors.regex import compile_later

SOURCE = "training"
LAYERS = ("application",)
SIGNATURES: tuple[str, ...] = ()
HEADS = (r"(?:\(min, max\)|max|minmax) time across ranks \(ms\):",)
ANCHORS = (r"time \(ms\) \| ",)
ROUTINE = HEADS + ANCHORS
_MOST_ROWS = 60
_ROW = compile_later(
    r"^\s*(?P<name>[a-z][a-z-]+) \.{2,}: (?:\((?P<least>\d+(?:\.\d+)?), (?P<most>\d+(?:\.\d+)?)\)|(?P<only>\d+(?:\.\d+)?))\s*$"
)
_CELL = compile_later(r"(?P<name>[a-z][a-z_-]+): (?P<value>\d+(?:\.\d+)?)")
_DATA = re.compile(r"batch-generator|batch_input")
_COMMUNICATION = re.compile(
    r"(?:all-)?grads-(?:all-reduce|reduce-scatter|sync)|params-all-gather|backward-(?:params-all-reduce|reduce-model-grads)"
)
_WITHIN_BACKWARD = re.compile(r"(?:bwd|backward)_allreduce(?:_microstep)?")
_MICRO = ("fwd_microstep", "bwd_microstep", "step_microstep", "forward_microstep", "backward_microstep")
_STEP = ("fwd", "bwd", "step", "forward", "backward")
_MEGATRON = ("forward-backward", "optimizer")
_OLDER_MEGATRON = ("forward-compute", "backward-compute", "optimizer")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `step-timers` observation for a block of Megatron's timers."""
    number = reader.number
    head = peel(reader.input, number, reader.next() or "")
    least: dict[str, float] = {}
    most: dict[str, float] = {}
    last = number
    for _ in range(_MOST_ROWS):
        following = reader.peek()
        match = _ROW.match(peel(reader.input, reader.number, following).text) if following is not None else None
        if match is None:
            break
        last = reader.number
        reader.next()
        most[match["name"]] = float(match["most"] or match["only"])
        if match["least"]:  # the rank that waits least for the others
            least[match["name"]] = float(match["least"])
    yield from _observe(head, most, least, last)


def parse_line(line: Line) -> Iterator[Record]:
    """Yield a `step-timers` observation for a line of timers."""
    begin = line.text.find("time (ms) | ")
    cells = _CELL.findall(line.text[begin:]) if begin >= 0 else ()
    timers = {name: float(value) for name, value in cells}
    yield from _observe(line, timers, timers, line.number)


def _observe(line: Line, most: dict[str, float], least: dict[str, float], last: int) -> Iterator[Observation]:
    parts = next(
        (names for names in (_MICRO, _STEP, _MEGATRON, _OLDER_MEGATRON) if names[0] in most or names[-2] in most), ()
    )
    total = sum(most.get(name, 0.0) for name in parts)
    within = max((value for name, value in least.items() if _WITHIN_BACKWARD.fullmatch(name)), default=0.0)
    beside = max((value for name, value in least.items() if _COMMUNICATION.fullmatch(name)), default=0.0)
    data = max((value for name, value in most.items() if _DATA.fullmatch(name)), default=0.0)
    if total <= 0:
        return
    attributes = {
        "total_ms": plain(total + beside), "data_ms": plain(data), "communication_ms": plain(within or beside),
    }  # fmt: skip
    yield Observation(
        SOURCE, "step-timers", line.input, line.number, last, line.text[:2000], time=line.time, node=line.host,
        attributes=attributes,
    )  # fmt: skip
