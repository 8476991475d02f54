"""Which collectors there are, and which of them a text is for.

A collector is a module with these names:

- `SOURCE`: its source kind (several modules may serve one source); `LAYERS`: the layers of the taxonomy that its text lets one judge.
- `SIGNATURES`: regexes that mark ordinary lines of this source (used on a sample of the input, to say what it is).
- `FORMS`: further source kinds that the module tells by such regexes. A module may do no more than that.
- `ANCHORS` and `parse_line(line)`: regexes of lines that carry facts, and the parser of one such line;
- `ROUTINE`: those of the anchors (or heads) whose lines come by the thousand in healthy runs; of a long input only a sample
  is read;
- `CONTEXT`: those whose lines come by the hundred and tell circumstances; of a long input the first hundreds and a sample;
- `GISTS`: by anchor, a regex whose groups hold all that its lines say; of lines with the same groups the first few are read; or
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
from collectors.fabric import (
    fabric_scan,
    firewall,
    ibdiagnet,
    infiniband,
    interfaces,
    link_diagnostics,
    link_statistics,
    mlx5,
    mlxlink,
    optics,
    perftest,
    port_files,
    port_tests,
    rdma_settings,
    sharp,
    subnet_manager,
    switch_counters,
    switch_log,
    ufm,
)
from collectors.filesystems import client_tables, daemon_logs, file_servers, storage
from collectors.gpu import (
    bug_report,
    dcgm,
    dcgm_diagnosis,
    dcgm_discovery,
    dcgm_messages,
    dcgm_policy,
    driver_package,
    empty_answers,
    fabric_manager,
    gpu_monitor,
    gpu_processes,
    gpu_topology,
    kernel_modules,
    nvidia_query,
    nvidia_smi,
    nvlink,
    nvrm,
    recoveries,
    xid_relays,
)
from collectors.host import (
    apei,
    boot,
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
    other_systems,
    pci_resources,
    power_supplies,
    rasdaemon,
    redfish,
    stacks,
    syscall_summary,
    system_logs,
)
from collectors.jobs import (
    cuda_oom,
    flight_recorder,
    launchers,
    model_size,
    mpi,
    nccl,
    nccl_last_error,
    nccl_ras,
    nccl_settings,
    nccl_tests,
    nccl_topology,
    profiles,
    serving,
    step_timers,
    steps,
    training,
    training_phases,
    trials,
    triton,
    weights,
)
from collectors.metrics import cloudwatch, prometheus, promtool, series
from collectors.orchestration import (
    container_runtime,
    control_plane,
    device_plugin,
    dra_driver,
    etcd,
    gpu_operands,
    gpu_operator,
    kube_describe,
    kube_events,
    kube_jsonpath,
    kube_objects,
    kube_scheduler,
    kube_tables,
    kubelet,
    kubelet_checkpoint,
    node_features,
    scheduling_messages,
    slurm,
    slurm_tables,
)
from collectors.patterns import Pattern
from collectors.prefix import peel

COLLECTORS: tuple[ModuleType, ...] = (
    kernel,
    pci_resources,
    apei,
    boot,
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
    syscall_summary,
    series,
    stacks,
    steps,
    step_timers,
    profiles,
    model_size,
    storage,
    nccl,  # its lines may begin with a time, as those of a server do
    serving,
    triton,
    gpu_operator,
    gpu_operands,
    device_plugin,
    node_features,
    dra_driver,
    control_plane,
    kubelet,
    kubelet_checkpoint,
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
    gpu_processes,
    driver_package,
    kernel_modules,
    empty_answers,
    bug_report,
    prometheus,
    promtool,
    cloudwatch,
    dcgm,
    dcgm_messages,
    dcgm_diagnosis,
    dcgm_discovery,
    dcgm_policy,
    fabric_manager,
    ipmi,
    redfish,
    power_supplies,
    lspci,
    lspci_tree,
    nccl_last_error,
    nccl_ras,
    nccl_settings,
    nccl_tests,
    flight_recorder,
    training,
    training_phases,
    trials,
    mpi,
    mlx5,
    infiniband,
    interfaces,
    switch_log,
    switch_counters,
    link_diagnostics,
    link_statistics,
    fabric_scan,
    firewall,
    ibdiagnet,
    subnet_manager,
    ufm,
    mlxlink,
    optics,
    perftest,
    port_files,
    port_tests,
    rdma_settings,
    sharp,
    nccl_topology,
    kube_events,
    kube_jsonpath,
    kube_tables,
    kube_describe,
    kube_objects,
    kube_scheduler,
    cuda_oom,
    weights,
    xid_relays,
    recoveries,
    scheduling_messages,
    launchers,
    daemon_logs,
    system_logs,
    other_systems,
)

UNEXPLAINED = Pattern(
    "unexplained",
    r"(?i)\b(?:error|errno|fail(?:ed|ure|s)?|fatal|panic|critical|exception|traceback|refused|denied|timed out|timeout|"
    r"unable to|cannot|could not|not found|no such|unreachable|aborted|killed|corrupt(?:ed|ion)?|unhealthy|evicted)\b",
    anchor=r"(?i)\b(?:error|errno|fail(?:ed|ure|s)?|fatal|panic|critical|exception|traceback|refused|denied|timed out|timeout|"
    r"unable to|cannot|could not|not found|no such|unreachable|aborted|killed|corrupt(?:ed|ion)?|unhealthy|evicted)\b",
    capture=False,
)


_SHARE = 0.05  # of the lines of a sample


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
                    routine, context = (regex in getattr(module, name, ()) for name in ("ROUTINE", "CONTEXT"))
                    gist = getattr(module, "GISTS", {}).get(regex, "")
                    found.append(Pattern(key, regex, capture=False, routine=routine, context=context, gist=gist))
        return found

    def woken_by(self, key: str) -> ModuleType:
        """Return the collector that a pattern's key names."""
        return self._by_key[key]

    def document_of(self, head: bytes) -> ModuleType | None:
        """Return the collector that reads an input with this beginning as a whole."""
        return next((module for pattern, module in _magic(self.collectors) if pattern.match(head)), None)

    def recognise(self, lines: Iterable[str]) -> Counter[str]:
        """Count, over sample lines of an input, how many bear each source's signature.

        A program that is told by its form alone counts when it has a share of the lines, and no fewer than what is read. A form
        that many programs have, such as syslog's, counts when nothing else has a share.
        """
        votes: Counter[str] = Counter()
        forms: Counter[str] = Counter()
        common: Counter[str] = Counter()
        total = 0
        signatures, owners = _signatures(self.collectors)
        for raw in lines:
            total += 1
            line = peel("", 0, raw[:2000])
            found = [*(signatures.Match(raw) or ()), *(signatures.Match(line.text) or ())]
            if found:
                source, module = owners[min(found)]
                (common if module is system_logs else forms if _is_form(module) else votes)[source] += 1
            elif line.source:
                votes[line.source] += 1
            elif line.host and line.program:
                common[system_logs.SOURCE] += 1
        share, known = total * _SHARE, votes.total()
        votes.update({source: count for source, count in forms.items() if count >= max(share, known)})
        if votes.total() < share:
            votes.update({source: count for source, count in common.items() if count >= share})
        return votes

    def sources(self) -> list[str]:
        """Return every source kind there is, by name."""
        return sorted(
            {source for module in self.collectors for source in (module.SOURCE, *getattr(module, "FORMS", ()))}
        )

    def layers_of(self, source: str) -> tuple[str, ...]:
        """Return the layers that a source lets one judge."""
        return tuple(
            dict.fromkeys(
                layer
                for module in self.collectors
                if source == module.SOURCE or source in getattr(module, "FORMS", ())
                for layer in module.LAYERS
            )
        )


def _is_form(module: ModuleType) -> bool:
    """Tell whether a collector does no more than recognise a form."""
    return not module.LAYERS and not any(getattr(module, name, ()) for name in ("ANCHORS", "HEADS", "MAGIC"))


@cache
def _magic(collectors: tuple[ModuleType, ...]) -> tuple[tuple[re.Pattern[bytes], ModuleType], ...]:
    """Return what marks the beginning of a document, with the collector that reads it."""
    return tuple((re.compile(one), module) for module in collectors for one in getattr(module, "MAGIC", ()))


@cache
def _signatures(collectors: tuple[ModuleType, ...]) -> tuple[Any, list[tuple[str, ModuleType]]]:
    """Return one RE2 set of all signatures, and for each of them its source and its collector."""
    import re2

    options = re2.Options()
    options.log_errors = False
    signatures = re2.Set.SearchSet(options)
    owners = []
    for module in collectors:
        kinds = {**getattr(module, "FORMS", {}), module.SOURCE: getattr(module, "SIGNATURES", ())}
        for source, regexes in kinds.items():
            for regex in regexes:
                signatures.Add(regex)
                owners.append((source, module))
    signatures.Compile()
    return signatures, owners
