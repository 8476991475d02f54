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

from collectors.observation import Observation
from collectors.orchestration.queue_messages import read_gangs, read_workload
from collectors.orchestration.scheduling_clauses import Clause, make_clause, read_clauses, read_fit_failures
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
_SCALE_UP = compile_later(r"pod didn't trigger scale-up(?: \([^)]*\))?: ?")
_TAIL = compile_later(r"(?:[.,]? ?(?:no new claims to deallocate,? ?)?[Pp]reemption: )|\bpreemption: ")
_OLD_CLAUSE = compile_later(r"(?P<reason>[A-Za-z][^(),]*?) \((?P<count>\d+)\)")


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
    workload = read_workload(message)
    if workload is not None:
        return workload
    found = list(read_gangs(message))
    if "queue resource quota insufficient" in message:
        found.append(Clause("queue-quota", message, details=_named(r"insufficient ([\w./-]+)$", message, "resource")))
    if "resource in cluster is overused" in message:
        found.append(Clause("overused", message))
    scale = _SCALE_UP.search(message)
    if scale:
        return [*found, *read_clauses(message[scale.end() :], 0, "autoscaler")]
    old = _OLD_HEAD.search(message)
    if old:
        matches = _OLD_CLAUSE.finditer(message, old.end())
        found.extend(make_clause(match["reason"].strip(), int(match["count"][:9]), 0, "") for match in matches)
        return found
    if "fit failure on node" in message:
        return [*found, *read_fit_failures(message)]
    head = _HEAD.search(message)
    if head:
        body = message[head.end() :]
        tail = _TAIL.search(body)
        preemption = body[tail.end() :] if tail else ""
        found.extend(read_clauses(body[: tail.start()] if tail else body, int((head["total"] or "0")[:9]), ""))
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
        found.extend(read_clauses(message.partition("enough resources were found: ")[2], 0, "kai"))
    return found


def _named(pattern: str, text: str, name: str) -> dict[str, str]:
    match = re.search(pattern, text.strip().rstrip("."))
    return {name: match[1]} if match else {}
