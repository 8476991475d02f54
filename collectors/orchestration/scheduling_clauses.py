"""One reason of a scheduling message: its category, of how many nodes it holds, and what it names.

Reasons of kube-scheduler 1.3 to 1.36 and of schedulers that repeat its words (Volcano, KAI, HAMi, the cluster autoscaler).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.regex import compile_later

_CLAUSE = compile_later(r"(?P<count>\d+) (?P<reason>.*)", re.S)
_BRACES = compile_later(r"\{[^}]*\}")
_TAINT = compile_later(r"\{(?P<key>[^:}]*?)(?:[:=] ?(?P<value>[^}]*?))?\}")
_FIT_FAILURE = compile_later(
    r"fit failure on node \((?P<node>[^)]+)\): (?P<reasons>.*?)(?=\s*fit failure on node|$)", re.S
)
_REASONS = tuple(
    (code, compile_later(pattern))
    for code, pattern in (
        ("insufficient", r"Insufficient (?P<resource>[\w./-]+)"),
        ("insufficient", r"(?P<resource>Too many pods)"),
        ("insufficient", r"have enough resources?: (?P<resource>[\w./, -]+)"),
        ("taint", r"\btaint|PodToleratesNodeTaints|^(?:node\(s\) )?tainted"),
        ("pod-affinity", r"pod affinity/anti-affinity"),
        ("anti-affinity", r"anti-affinity rules|existing pods anti-affinity|MatchInterPodAntiAffinity"),
        ("pod-affinity", r"pod affinity rules|MatchInterPodAffinity"),
        ("spread", r"topology spread constraint"),
        ("volume", r"[Vv]olume|PersistentVolume|persistentvolumeclaim|NoVolumeZoneConflict|max volume count"),
        (
            "selector",
            r"node affinity|node selector|[Nn]ode[Ss]elector|requested node name|node\(s\) didn't match Pod's",
        ),
        ("unschedulable", r"were unschedulable|NodeUnschedulable|^(?:node\(s\) )?unschedulable"),
        ("port", r"free ports|PodFitsHostPorts"),
        (
            "pool-limit",
            r"max (?:node group|cluster) (?:size|nodes|cpu|memory|\S+ limit) ?(?:limit )?reached|max node group size",
        ),
        ("pool-backoff", r"backoff after failed scale-up"),
        ("claim", r"cannot allocate all claims|resourceclaim|ResourceClaim"),
        ("numa", r"cannot align (?:pod|container)|NUMA|NumaNotFit"),
        ("node-not-ready", r"not ready|NotReady|out of disk|NodeUnder\w+Pressure|network-unavailable"),
        (
            "device-share",
            (
                r"Card\w+|NodeInsufficientDevice|AllocatedCardsInsufficientRequest|ExclusiveDeviceAllocateConflict|"
                r"ResourceQuotaNotFit|not enough gpu fitted"
            ),
        ),
        ("unregistered", r"unregister"),
    )
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One reason: its category, of how many nodes it holds, and what it names."""

    code: str
    reason: str
    count: int = 0
    total: int = 0
    details: dict[str, str] = field(default_factory=dict)


def read_clauses(body: str, total: int, origin: str) -> Iterator[Clause]:
    """Yield the reasons of a list such as `3 Insufficient cpu, 1 node(s) had taint {a: b}`; `total` is the number of nodes."""
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match[0])
        return f"\x00{len(hidden) - 1}\x00"

    masked = _BRACES.sub(hide, body.replace("\x00", " "))
    for part in re.split(r"[,;] (?=\d+ \S)", masked):
        text = re.sub(r"\x00(\d+)\x00", lambda one: hidden[int(one[1])], part).strip().rstrip(".")
        match = _CLAUSE.fullmatch(text)
        if match:
            yield make_clause(match["reason"].strip(), int(match["count"][:9]), total, origin)
        elif text and "unbound immediate PersistentVolumeClaims" in text:
            yield Clause("volume", text, total, total)


def read_fit_failures(message: str) -> Iterator[Clause]:
    """kube-scheduler up to 1.5: a line for each node that does not fit, with all its reasons."""
    failures = list(_FIT_FAILURE.finditer(message))
    counts: dict[str, int] = {}
    for failure in failures:
        for part in re.split(r", (?=[A-Z])", failure["reasons"]):
            reason = part.partition(", requested:")[0].strip()
            counts[reason] = counts.get(reason, 0) + 1
    for reason, count in counts.items():
        if reason:
            yield make_clause(reason, count, len(failures), "")


def make_clause(reason: str, count: int, total: int, origin: str) -> Clause:
    """Return a reason under its category, `other` when it has none."""
    details = {"origin": origin} if origin else {}
    for code, pattern in _REASONS:
        match = pattern.search(reason)
        if not match:
            continue
        if code == "insufficient":
            resource = match["resource"].strip(" .")
            details["resource"] = {
                "Too many pods": "pods",
                "GPUs": "nvidia.com/gpu",
                "GPU": "nvidia.com/gpu",
                "CPU": "cpu",
                "Memory": "memory",
                "PodCount": "pods",
            }.get(resource, resource)
        elif code == "taint":
            taint = _TAINT.search(reason)
            if taint:
                details.update({"taint": taint["key"].strip(), "value": (taint["value"] or "").strip()})
        return Clause(code, reason, count, total, details)
    return Clause("other", reason, count, total, details)
