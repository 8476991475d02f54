"""Why a queue or a gang scheduler does not start a workload: Kueue's flavors, gangs of Volcano and KAI, Karpenter's node pools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.orchestration.scheduling_clauses import Clause
from collectors.regex import compile_later

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
_KARPENTER = compile_later(
    r"incompatible with (?:nodepool|provisioner)\b|instance types exceed limits for (?:nodepool|provisioner)"
)


def read_workload(message: str) -> list[Clause] | None:
    """Return the reasons of a message of Kueue or Karpenter, which holds nothing else; None when it is none."""
    flavors = _FLAVORS.search(message)
    if flavors:
        return list(_read_flavors(flavors["rest"]))
    if _KARPENTER.search(message):
        return list(_read_karpenter(message))
    return None


def read_gangs(message: str) -> Iterator[Clause]:
    """Yield what a message says of a gang that can't start whole."""
    gang = _GANG.search(message)
    if gang:
        yield _read_gang(gang)
    kai = _KAI_GANG.search(message)
    if kai:
        minimum = kai["minimum"] or kai["minimum2"] or ""
        details = {"schedulable": kai["schedulable"], "minimum": minimum, "running": "0", "scheduler": "kai"}
        yield Clause("gang", kai[0], details=details)


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


def _read_karpenter(message: str) -> Iterator[Clause]:
    """Karpenter: one clause for each node pool, with the first reason that it gives."""
    for part in message.split("; ")[:60]:
        for code, pattern in _KARPENTER_REASONS:
            match = pattern.search(part)
            if match:
                details = {name: value for name, value in match.groupdict().items() if value}
                yield Clause(code, part.strip()[:400], details={"scheduler": "karpenter", **details})
                break


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
