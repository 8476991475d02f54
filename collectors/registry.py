"""Which collectors there are, and which of them a text is for.

A collector is a module with these names:

- `SOURCE`: its source kind (several modules may serve one source); `LAYERS`: the layers of the taxonomy that its text lets one judge.
- `SIGNATURES`: regexes that mark ordinary lines of this source (used on a sample of the input, to say what it is).
- `ANCHORS` and `parse_line(line)`: regexes of lines that carry facts, and the parser of one such line;
- `ROUTINE`: those of the anchors whose lines come by the thousand in healthy runs; of a long input only a sample is read; or
- `HEADS` and `parse_block(reader)`: regexes of the line that opens a block, and the parser that reads on from there; or
- `MAGIC` and `parse_document(name, data)`: regexes (of bytes) of the beginning of an input that is one document, binary or
  not, and its parser, which raises `block.RefusedError` for what it does not take.

To add a source: one module, one sample log under `fixtures/logs/<source>/`, one line in `COLLECTORS`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

from collectors import shell
from collectors.fabric import infiniband, interfaces, mlx5, switch_log
from collectors.filesystems import client_tables, file_servers, storage
from collectors.gpu import (
    bug_report,
    dcgm,
    dcgm_diagnosis,
    dcgm_messages,
    dcgm_policy,
    driver_package,
    fabric_manager,
    gpu_monitor,
    gpu_topology,
    kernel_modules,
    nvidia_query,
    nvidia_smi,
    nvlink,
    nvrm,
    xid_relays,
)
from collectors.host import (
    apei,
    host_limits,
    host_load,
    host_processes,
    host_space,
    ipmi,
    kernel,
    lspci,
    lspci_tree,
    mcelog,
    memory_lines,
    oom,
    rasdaemon,
    redfish,
    stacks,
)
from collectors.jobs import (
    cuda_oom,
    flight_recorder,
    nccl,
    nccl_ras,
    serving,
    steps,
    training,
    training_phases,
    triton,
    weights,
)
from collectors.metrics import prometheus, series
from collectors.orchestration import (
    container_runtime,
    etcd,
    kube_describe,
    kube_events,
    kube_jsonpath,
    kube_objects,
    kube_scheduler,
    kube_tables,
    kubelet,
    scheduling_messages,
    slurm,
    slurm_tables,
)
from collectors.prefix import peel
from collectors.scan import Pattern

COLLECTORS: tuple[ModuleType, ...] = (
    kernel,
    apei,
    rasdaemon,
    mcelog,
    file_servers,
    client_tables,
    memory_lines,
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
    nvlink,
    nvidia_query,
    gpu_topology,
    gpu_monitor,
    driver_package,
    kernel_modules,
    bug_report,
    prometheus,
    dcgm,
    dcgm_messages,
    dcgm_diagnosis,
    dcgm_policy,
    fabric_manager,
    ipmi,
    redfish,
    lspci,
    lspci_tree,
    nccl,
    nccl_ras,
    flight_recorder,
    training,
    training_phases,
    mlx5,
    infiniband,
    interfaces,
    switch_log,
    kube_events,
    kube_jsonpath,
    kube_tables,
    kube_describe,
    kube_objects,
    kube_scheduler,
    cuda_oom,
    weights,
    xid_relays,
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

    def document_of(self, head: bytes) -> ModuleType | None:
        """Return the collector that reads an input with this beginning as a whole."""
        return next((module for pattern, module in _magic(self.collectors) if pattern.match(head)), None)

    def recognise(self, lines: Iterable[str]) -> Counter[str]:
        """Count, over sample lines of an input, how many bear each source's signature."""
        votes: Counter[str] = Counter()
        signatures, owners = _signatures(self.collectors)
        for raw in lines:
            line = peel("", 0, raw[:2000])
            found = [*(signatures.Match(raw) or ()), *(signatures.Match(line.text) or ())]
            if found:
                votes[self.collectors[min(owners[one] for one in found)].SOURCE] += 1
            elif line.source:
                votes[line.source] += 1
        return votes

    def layers_of(self, source: str) -> tuple[str, ...]:
        """Return the layers that a source lets one judge."""
        return tuple(
            dict.fromkeys(layer for module in self.collectors if source == module.SOURCE for layer in module.LAYERS)
        )


@cache
def _magic(collectors: tuple[ModuleType, ...]) -> tuple[tuple[re.Pattern[bytes], ModuleType], ...]:
    """Return what marks the beginning of a document, with the collector that reads it."""
    return tuple((re.compile(one), module) for module in collectors for one in getattr(module, "MAGIC", ()))


@cache
def _signatures(collectors: tuple[ModuleType, ...]) -> tuple[Any, list[int]]:
    """Return one RE2 set of all signatures, and for each of them its collector's place."""
    import re2

    options = re2.Options()
    options.log_errors = False
    signatures = re2.Set.SearchSet(options)
    owners = []
    for place, module in enumerate(collectors):
        for regex in getattr(module, "SIGNATURES", ()):
            signatures.Add(regex)
            owners.append(place)
    signatures.Compile()
    return signatures, owners
