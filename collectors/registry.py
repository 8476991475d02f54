"""Which collectors there are, and which of them a text is for.

A collector is a module with these names:

- `SOURCE`: its source kind (several modules may serve one source); `LAYERS`: the layers of the taxonomy that its text lets one judge.
- `SIGNATURES`: regexes that mark ordinary lines of this source (used on a sample of the input, to say what it is).
- `ANCHORS` and `parse_line(line)`: regexes of lines that carry facts, and the parser of one such line;
- `ROUTINE`: those of the anchors whose lines come by the thousand in healthy runs; of a long input only a sample is read; or
- `HEADS` and `parse_block(reader)`: regexes of the line that opens a block, and the parser that reads on from there.

To add a source: one module, one sample log under `fixtures/logs/<source>/`, one line in `COLLECTORS`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType

from collectors import (
    container_runtime,
    cuda_oom,
    dcgm,
    etcd,
    host_limits,
    host_load,
    host_processes,
    host_space,
    infiniband,
    interfaces,
    ipmi,
    kernel,
    kube_describe,
    kube_events,
    kube_jsonpath,
    kube_objects,
    kube_scheduler,
    kube_tables,
    kubelet,
    lspci,
    mlx5,
    nccl,
    nvidia_query,
    nvidia_smi,
    nvrm,
    oom,
    prometheus,
    scheduling_messages,
    series,
    serving,
    shell,
    slurm,
    slurm_tables,
    stacks,
    steps,
    storage,
    training,
    training_phases,
    triton,
    weights,
)
from collectors.block import Reader
from collectors.observation import Record
from collectors.prefix import Line, peel
from collectors.scan import Pattern

COLLECTORS: tuple[ModuleType, ...] = (
    kernel,
    shell,
    oom,
    host_limits,
    host_load,
    host_processes,
    host_space,
    series,
    stacks,
    steps,
    storage,
    serving,
    triton,
    kubelet,
    container_runtime,
    etcd,
    slurm,
    slurm_tables,
    nvrm,
    nvidia_smi,
    nvidia_query,
    prometheus,
    dcgm,
    ipmi,
    lspci,
    nccl,
    training,
    training_phases,
    mlx5,
    infiniband,
    interfaces,
    kube_events,
    kube_jsonpath,
    kube_tables,
    kube_describe,
    kube_objects,
    kube_scheduler,
    cuda_oom,
    weights,
    scheduling_messages,
)

UNEXPLAINED = Pattern(
    "unexplained",
    r"(?i)\b(?:error|errno|fail(?:ed|ure|s)?|fatal|panic|critical|exception|traceback|refused|denied|timed out|timeout|"
    r"unable to|cannot|could not|not found|no such|unreachable|aborted|killed|corrupt(?:ed|ion)?|unhealthy|evicted)\b",
    anchor=r"(?i)\b(?:error|errno|fail(?:ed|ure|s)?|fatal|panic|critical|exception|traceback|refused|denied|timed out|timeout|"
    r"unable to|cannot|could not|not found|no such|unreachable|aborted|killed|corrupt(?:ed|ion)?|unhealthy|evicted)\b",
    capture=False,
)


@dataclass(frozen=True, slots=True)
class Registry:
    """The collectors in order, ready for the scan."""

    collectors: tuple[ModuleType, ...] = COLLECTORS
    _by_key: dict[str, ModuleType] = field(default_factory=dict)

    def patterns(self) -> list[Pattern]:
        """Return the patterns that wake the collectors; their keys say whom (`line:` or `block:` and the module)."""
        found = []
        for module in self.collectors:
            for form, name in (("line", "ANCHORS"), ("block", "HEADS")):
                for number, regex in enumerate(getattr(module, name, ())):
                    key = f"{form}:{module.__name__.rpartition('.')[2]}:{number}"
                    self._by_key[key] = module
                    routine = regex in getattr(module, "ROUTINE", ())
                    found.append(Pattern(key, regex, capture=False, routine=routine))
        return found

    def woken_by(self, key: str) -> ModuleType:
        """Return the collector that a pattern's key names."""
        return self._by_key[key]

    def recognise(self, lines: Iterable[str]) -> Counter[str]:
        """Count, over sample lines of an input, how many bear each source's signature."""
        votes: Counter[str] = Counter()
        signatures = [(module.SOURCE, _signature(module)) for module in self.collectors]
        for raw in lines:
            line = peel("", 0, raw[:2000])
            for source, signature in signatures:
                if signature is not None and (signature.search(raw) or signature.search(line.text)):
                    votes[source] += 1
                    break
            else:
                if line.source:
                    votes[line.source] += 1
        return votes

    def layers_of(self, source: str) -> tuple[str, ...]:
        """Return the layers that a source lets one judge."""
        return tuple(
            dict.fromkeys(layer for module in self.collectors if source == module.SOURCE for layer in module.LAYERS)
        )


@cache
def _signature(module: ModuleType) -> re.Pattern[str] | None:
    signatures = getattr(module, "SIGNATURES", ())
    return re.compile("|".join(f"(?:{one})" for one in signatures)) if signatures else None


def parse_line(module: ModuleType, line: Line) -> Iterator[Record]:
    """Call a collector's line parser."""
    yield from module.parse_line(line)


def parse_block(module: ModuleType, reader: Reader) -> Iterator[Record]:
    """Call a collector's block parser; afterwards the reader stands behind the block."""
    yield from module.parse_block(reader)
