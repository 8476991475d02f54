"""Why something is not scheduled, in the words of the schedulers: kube-scheduler, Volcano, Kueue, YuniKorn, KAI, HAMi, autoscalers.

Sources: kube-scheduler 1.3 to 1.36 (`framework/types.go` FitError and the plugins' reasons), cluster-autoscaler, Volcano
`pkg/scheduler/api`, Kueue `flavorassigner` and `tas_flavor_snapshot`, KAI `podgroup_info`, HAMi `pkg/scheduler`. Samples::

    0/6 nodes are available: 1 node(s) had taint {a: b, c}, that the pod didn't tolerate, 5 Insufficient nvidia.com/gpu. preemption: ...
    No nodes are available that match all of the following predicates:: Insufficient nvidia.com/gpu (1), MatchNodeSelector (2).
    pod (a-0) failed to fit in any node fit failure on node (gpu-1): Insufficient cpu fit failure on node (gpu-2): Insufficient cpu
    43/100 tasks in gang unschedulable: pod group is not ready, 43 Pending, 57 Running, 100 minAvailable; Pending: 43 Unschedulable
    couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "scheduler"
LAYERS: tuple[str, ...] = ()
ANCHORS = (
    r"nodes are (?:un)?available: ",
    r"nodes are available that match all of the following predicates",
    r"fit failure on node \(",
    r"trigger scale-up",
    r"incompatible with (?:nodepool|provisioner)\b|instance types exceed limits for (?:nodepool|provisioner)",
    r"tasks in gang unschedulable",
    r"pod group is not ready",
    r"queue resource quota insufficient",
    r"resource in cluster is overused",
    r"(?:could|can)n''?t assign flavors to pod set",
    r"required for gang scheduling",
    r"requires \d+ pods for gang scheduling",
    r"no nodes with enough resources were found",
)

_HEAD = compile_later(r"(?:all|(?P<free>\d+)/(?P<total>\d+)) nodes are (?:un)?available: ?")
_OLD_HEAD = compile_later(r"nodes are available that match all of the following predicates: ?: ?")
_FIT_FAILURE = compile_later(
    r"fit failure on node \((?P<node>[^)]+)\): (?P<reasons>.*?)(?=\s*fit failure on node|$)", re.S
)
_SCALE_UP = compile_later(r"pod didn't trigger scale-up(?: \([^)]*\))?: ?")
_TAIL = compile_later(r"(?:[.,]? ?(?:no new claims to deallocate,? ?)?[Pp]reemption: )|\bpreemption: ")
_OLD_CLAUSE = compile_later(r"(?P<reason>[A-Za-z][^(),]*?) \((?P<count>\d+)\)")
_CLAUSE = compile_later(r"(?P<count>\d+) (?P<reason>.*)", re.S)
_BRACES = compile_later(r"\{[^}]*\}")
_TAINT = compile_later(r"\{(?P<key>[^:}]*?)(?:[:=] ?(?P<value>[^}]*?))?\}")
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
_KARPENTER = compile_later(
    r"incompatible with (?:nodepool|provisioner)\b|instance types exceed limits for (?:nodepool|provisioner)"
)
_KARPENTER_REASONS = tuple(
    (code, compile_later(pattern))
    for code, pattern in (
        ("pool-limit", r"exceed limits for (?:nodepool|provisioner)"),
        ("taint", r"did not tolerate (?:taint )?\(?(?:taint=)?(?P<taint>[\w./-]+)(?:=(?P<value>[\w.-]*))?"),
        ("spread", r"unsatisfiable topology constraint"),
        ("selector", r"incompatible requirements"),
        ("instance-type", r"no instance type"),
    )
)
_GANG = compile_later(r"(?P<schedulable>\d+)/(?P<tasks>\d+) tasks in gang unschedulable: ?(?P<rest>.*)", re.S)
_GANG_COUNT = compile_later(
    r"(?P<count>\d+) (?P<what>Pending|Running|minAvailable|Succeeded|Failed|Releasing|Binding|Bound|Pipelined|Allocated|"
    r"Unschedulable|Undetermined|Schedulable)"
)
_KAI_GANG = compile_later(
    r"Resources were found for (?P<schedulable>\d+) pods?.{0,80}?(?:while (?P<minimum>\d+) are|requires (?P<minimum2>\d+) pods)"
)
_FLAVORS = compile_later(r"(?:could|can)n''?t assign flavors to pod set (?P<podset>[\w-]+): (?P<rest>.*)", re.S)
_EXCLUDED = compile_later(
    r"(?P<what>taint \"(?P<taint>[^\"]*)\"|resource \"(?P<resource>[^\"]*)\"|[A-Za-z][\w ]*?): (?P<count>\d+)"
)
_FITS = compile_later(
    r"allows? to fit only (?P<fit>\d+) out of (?P<pods>\d+) pod|doesn't allow to fit any of (?P<none>\d+) pod|"
    r"(?P<level>no topology domains? at level)"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One reason: its category, of how many nodes it holds, and what it names."""

    code: str
    reason: str
    count: int = 0
    total: int = 0
    details: dict[str, str] = field(default_factory=dict)


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield one `scheduling-message` for a line that says why something waits."""
    clauses = read_reasons(line.text)
    if clauses:
        yield Observation(
            SOURCE,
            "scheduling-message",
            line.input,
            line.number,
            line.number,
            line.text,
            code=clauses[0].code,
            time=line.time,
            node="",
            attributes={"message": line.text, "codes": ",".join(dict.fromkeys(one.code for one in clauses))},
        )


def read_reasons(message: str) -> list[Clause]:
    """Return the reasons in a message, an empty list when it gives none.

    >>> [
    ...     (one.code, one.count, one.total)
    ...     for one in read_reasons(
    ...         "0/4 nodes are available: 1 node(s) didn't match pod affinity rules, 3 Insufficient nvidia.com/gpu. preemption: ..."
    ...     )
    ... ]
    [('pod-affinity', 1, 4), ('insufficient', 3, 4)]
    >>> [
    ...     (one.code, one.details)
    ...     for one in read_reasons("1/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable")
    ... ]
    [('gang', {'schedulable': '1', 'tasks': '0', 'minimum': '1', 'pending': '0', 'running': '0'})]
    """
    message = message[:8000]
    found: list[Clause] = []
    flavors = _FLAVORS.search(message)
    if flavors:
        return list(_read_flavors(flavors["rest"]))
    if _KARPENTER.search(message):
        return list(_read_karpenter(message))
    gang = _GANG.search(message)
    if gang:
        found.append(_read_gang(gang))
    kai = _KAI_GANG.search(message)
    if kai:
        minimum = kai["minimum"] or kai["minimum2"] or ""
        found.append(
            Clause(
                "gang",
                kai[0],
                details={"schedulable": kai["schedulable"], "minimum": minimum, "running": "0", "scheduler": "kai"},
            )
        )
    if "queue resource quota insufficient" in message:
        found.append(Clause("queue-quota", message, details=_named(r"insufficient ([\w./-]+)$", message, "resource")))
    if "resource in cluster is overused" in message:
        found.append(Clause("overused", message))
    scale = _SCALE_UP.search(message)
    if scale:
        return [*found, *_read_clauses(message[scale.end() :], 0, "autoscaler")]
    old = _OLD_HEAD.search(message)
    if old:
        matches = _OLD_CLAUSE.finditer(message, old.end())
        found.extend(_clause(match["reason"].strip(), int(match["count"][:9]), 0, "") for match in matches)
        return found
    if "fit failure on node" in message:
        return [*found, *_read_fit_failures(message)]
    head = _HEAD.search(message)
    if head:
        body = message[head.end() :]
        tail = _TAIL.search(body)
        preemption = body[tail.end() :] if tail else ""
        found.extend(_read_clauses(body[: tail.start()] if tail else body, int((head["total"] or "0")[:9]), ""))
        if re.match(
            r"not eligible due to|preemption is not allowed|\d+/\d+ nodes are available: \d+ Preemption is not eligible",
            preemption,
        ):
            found.append(
                Clause(
                    "preemption-refused",
                    preemption[:200],
                    details=_named(r"(preemptionPolicy=\w+|terminating pod)", preemption, "why"),
                )
            )
    elif "enough resources were found: " in message:
        found.extend(_read_clauses(message.partition("enough resources were found: ")[2], 0, "kai"))
    return found


def _named(pattern: str, text: str, name: str) -> dict[str, str]:
    match = re.search(pattern, text.strip().rstrip("."))
    return {name: match[1]} if match else {}


def _read_fit_failures(message: str) -> Iterator[Clause]:
    """kube-scheduler up to 1.5: a line for each node that does not fit, with all its reasons."""
    failures = list(_FIT_FAILURE.finditer(message))
    counts: dict[str, int] = {}
    for failure in failures:
        for part in re.split(r", (?=[A-Z])", failure["reasons"]):
            reason = part.partition(", requested:")[0].strip()
            counts[reason] = counts.get(reason, 0) + 1
    for reason, count in counts.items():
        if reason:
            yield _clause(reason, count, len(failures), "")


def _read_clauses(body: str, total: int, origin: str) -> Iterator[Clause]:
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match[0])
        return f"\x00{len(hidden) - 1}\x00"

    masked = _BRACES.sub(hide, body.replace("\x00", " "))
    for part in re.split(r"[,;] (?=\d+ \S)", masked):
        text = re.sub(r"\x00(\d+)\x00", lambda one: hidden[int(one[1])], part).strip().rstrip(".")
        match = _CLAUSE.fullmatch(text)
        if match:
            yield _clause(match["reason"].strip(), int(match["count"][:9]), total, origin)
        elif text and "unbound immediate PersistentVolumeClaims" in text:
            yield Clause("volume", text, total, total)


def _clause(reason: str, count: int, total: int, origin: str) -> Clause:
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


def _read_karpenter(message: str) -> Iterator[Clause]:
    """Karpenter: one clause for each node pool, with the first reason that it gives."""
    for part in message.split("; ")[:60]:
        for code, pattern in _KARPENTER_REASONS:
            match = pattern.search(part)
            if match:
                details = {name: value for name, value in match.groupdict().items() if value}
                yield Clause(code, part.strip()[:400], details={"scheduler": "karpenter", **details})
                break


def _read_gang(match: re.Match[str]) -> Clause:
    head, _, _ = match["rest"].partition("Pending: ")
    counts: dict[str, str] = {}
    for one in _GANG_COUNT.finditer(head):
        counts.setdefault(one["what"], one["count"])
    return Clause(
        "gang",
        match[0],
        details={
            "schedulable": match["schedulable"],
            "tasks": match["tasks"],
            "minimum": counts.get("minAvailable", ""),
            "pending": counts.get("Pending", "0"),
            "running": counts.get("Running", "0"),
        },
    )


def _read_flavors(rest: str) -> Iterator[Clause]:
    """Kueue: one clause for each reason why a flavor was refused."""
    fits = _FITS.search(rest)
    if fits:
        details = {name: value for name, value in fits.groupdict().items() if value}
        worst = max(
            _EXCLUDED.finditer(rest.partition("excluded: ")[2]), key=lambda one: int(one["count"][:9]), default=None
        )
        if worst is not None and worst["taint"]:
            yield Clause(
                "taint",
                rest,
                int(worst["count"][:9]),
                details={**details, "taint": worst["taint"].partition("=")[0], "origin": "kueue"},
            )
        elif worst is not None and worst["resource"]:
            yield Clause(
                "insufficient",
                rest,
                int(worst["count"][:9]),
                details={**details, "resource": worst["resource"], "origin": "kueue"},
            )
        else:
            yield Clause("topology", rest, details=details)
    for code, pattern in (
        (
            "quota-maximum",
            r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>\S+?),.{0,200}?maximum capacity",
        ),
        ("quota", r"insufficient (?:unused )?quota (?:in cohort )?for (?P<resource>\S+) in flavor (?P<flavor>\S+?),"),
        ("taint", r"untolerated taint \{(?P<taint>\S+) (?P<value>\S*) ?\w* .{0,20}?\} in flavor (?P<flavor>\S+)"),
        ("flavor-affinity", r"flavor (?P<flavor>\S+) doesn't match node affinity"),
        ("flavor-missing", r"flavor (?P<flavor>\S+) not found|resource (?P<resource>\S+) unavailable in ClusterQueue"),
    ):
        match = re.search(pattern, rest)
        if match and not (code == "quota" and re.search(r"maximum capacity", rest)):
            yield Clause(
                code,
                rest,
                details={"origin": "kueue", **{name: value for name, value in match.groupdict().items() if value}},
            )
