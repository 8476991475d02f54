"""The allocator's message when a GPU's memory runs out: how much was asked for, and who holds the rest.

PyTorch in three wordings (up to 2.0; 2.1 with its misspelt "capacty"; from 2.2 on), CUDA, HIP, XPU and Ascend (NPU) builds. In
a container the "Process N" named may be the process itself. `own_share` is what this process holds of the card (through
PyTorch's allocator), `held_share` what anything else does. Samples::

    CUDA out of memory. Tried to allocate 216.00 MiB (GPU 0; 7.92 GiB total capacity; 69.17 MiB already allocated; 24.56 MiB free; ...
    CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 264.00 MiB is free. Process ...
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.quantities import parse_size, plain
from collectors.regex import compile_later

SOURCE = "training"
LAYERS = ("application",)
SIGNATURES = (r"(?:CUDA|HIP|NPU|XPU) out of memory\. Tried to allocate",)
ANCHORS = (r"out of memory\. Tried to allocate ",)

_SIZE = r"(-?\d{1,15}(?:\.\d{1,9})? (?:bytes|[KMGT]iB))"  # bounded: a search does not begin anew at each of a thousand digits
_WANTED = compile_later(rf"(?:CUDA|HIP|NPU|XPU) out of memory\. Tried to allocate {_SIZE}")
_GPU = compile_later(r"(?:GPU|NPU|XPU) (\d+)(?:;| has a total)")
_FIELDS = (
    ("total", compile_later(rf"{_SIZE} total capacity|total capac(?:i)?ty of {_SIZE}")),
    ("free", compile_later(rf"{_SIZE} free;|of which {_SIZE} is free")),
    ("allocated", compile_later(rf"{_SIZE} already allocated|allocated memory {_SIZE} is allocated by PyTorch")),
    ("reserved", compile_later(rf"{_SIZE} reserved in total by PyTorch|{_SIZE} cached\b")),
    ("unallocated", compile_later(rf"{_SIZE} is reserved by PyTorch but unallocated")),
    ("own", compile_later(rf"this process has {_SIZE} memory in use")),
)
_OTHER = compile_later(rf"Process (\d+) has {_SIZE} memory in use")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield a `cuda-oom` observation; sizes are bytes."""
    wanted = _WANTED.search(line.text)
    if wanted is None:
        return
    text = line.text[wanted.start() :]
    sizes = {"wanted": _bytes(wanted[1])}
    for name, regex in _FIELDS:
        match = regex.search(text)
        if match:
            sizes[name] = _bytes(next(group for group in match.groups() if group))
    attributes = {name: plain(value) for name, value in sizes.items()}
    gpu = _GPU.search(text)
    if gpu:
        attributes["gpu"] = f"cuda-{gpu[1]}"
    if line.rank:
        attributes["rank"] = line.rank
    others = _OTHER.findall(text)
    if others:
        attributes["largest_pid"] = max(others, key=lambda one: _bytes(one[1]))[0]
    attributes |= _shares(sizes)
    yield Observation(
        SOURCE, "cuda-oom", line.input, line.number, line.number, line.text[:2000], time=line.time, node=line.host,
        entity=f"gpu:cuda-{gpu[1]}" if gpu else f"rank:{line.rank}" if line.rank else "", attributes=attributes,
    )  # fmt: skip


def _shares(sizes: dict[str, float]) -> dict[str, str]:
    total = sizes.get("total", 0.0)
    if total <= 0 or "free" not in sizes or not sizes.keys() & {"allocated", "own"}:
        return {}
    own = sizes.get("own") or max(
        sizes.get("reserved", 0.0), sizes.get("allocated", 0.0) + sizes.get("unallocated", 0.0)
    )
    held = max(total - sizes["free"] - own, 0.0)
    return {
        "own_share": f"{own / total:.3f}",
        "held_share": f"{held / total:.3f}",
        "wanted_share": f"{sizes['wanted'] / total:.3f}",
    }


def _bytes(text: str) -> float:
    return parse_size(text.replace(" bytes", "")) or 0.0
