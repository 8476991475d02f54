"""What a profile of PyTorch adds up: how long the host was busy and how long the GPU worked meanwhile.

Program: torch.profiler and torch.autograd.profiler, the two lines below `key_averages().table()` (PyTorch 1.8 to 2.9; before 1.13 the
second says `CUDA time total`). Format: torch/autograd/profiler_util.py, no specification. Sample::

    Self CPU time total: 4.973s
    Self CUDA time total: 198.213ms
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "training"
LAYERS = ("application",)
SIGNATURES = (r"^Self CPU time total: +\d",)
HEADS = SIGNATURES
_TOTAL = compile_later(
    r"^(?:Self )?(?P<side>CPU|CUDA) time total: +(?P<value>\d{1,12}(?:\.\d{1,6})?)(?P<unit>us|ms|s)\s*$"
)
_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}  # in milliseconds


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `profile` observation with `cpu_ms`, `cuda_ms` and `share`, the part of the host's time in which the GPU worked."""
    number, first = reader.number, reader.next() or ""
    host, device = _TOTAL.match(first), _TOTAL.match(reader.peek() or "")
    if host is None or device is None or device["side"] != "CUDA":
        return
    second = reader.next() or ""
    cpu, cuda = (float(one["value"]) * _UNITS[one["unit"]] for one in (host, device))
    if cpu <= 0:
        return
    yield Observation(
        SOURCE, "profile", reader.input, number, number + 1, f"{first.strip()} {second.strip()}", node=reader.node,
        attributes={"cpu_ms": f"{cpu:g}", "cuda_ms": f"{cuda:g}", "share": f"{cuda / cpu:.4f}"},
    )  # fmt: skip
