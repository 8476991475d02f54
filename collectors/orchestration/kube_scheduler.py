"""Logs of schedulers and queue controllers: kube-scheduler, Volcano, HAMi, YuniKorn, KAI, Kueue, cluster-autoscaler.

Formats: klog (kube-scheduler 1.9 to 1.36, Volcano, HAMi, KAI), zap console with tabs (YuniKorn core and shim), zap JSON (Kueue). Samples::

    E0903 06:53:42.268360       1 factory.go:225] "Error scheduling pod; retrying" err="binding rejected: ..." pod="ns/x"
    I1104 06:32:23.952281       1 score.go:149] "request devices nums ..." pod="ns/x" request devices nums=16 node device nums=8
    2025-07-24T08:11:24.002Z	WARN	core.scheduler.application	objects/application.go:1240	msg	{"applicationID": "x"}
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from collectors.clock import parse_iso
from collectors.observation import Observation, Record
from collectors.orchestration.klog import read_structured
from collectors.orchestration.kube_names import entity_of
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "scheduler"
LAYERS = ("scheduler",)
SIGNATURES = (
    (
        r"\b(?:schedule_one|scheduling_queue|scheduler|scheduler_binder|binder|eventhandlers|default_preemption|preemption|"
        r"allocate|enqueue|gang|backfill|reclaim|preempt|proportion|capacity|overcommit|job_info|session|score|route|predicates|statement)\.go:\d+\]"
    ),
    r"\t(?:INFO|WARN|ERROR|DEBUG)\t(?:core|shim|k8s)\.[\w.]+\t",
    r'"logger":"(?:scheduler|cluster-queue-reconciler|workload-reconciler|tas|queue)',
    r" kube-scheduler[\w.]*\[\d+\]: ",
)
ANCHORS = (
    r'[EWF]\d{4} \d\d:\d\d:\d\d.*"(?:[Ee]rror|[Ff]ailed|Unable|Could) .* pod="',
    r'"Event occurred" object=.* reason="',
    r"Event\((?:v1\.)?ObjectReference\{",
    r"request devices nums=\d+ node device nums=\d+",
    r'calcScore:node not fit pod" pod="',
    r"\t(?:WARN|ERROR|INFO)\t(?:core|shim)\.[\w.]+\t.*(?:placeholder|Reservation|does not fit|exceed|quota|Failed|failed)",
)
_ANCHOR = compile_later("|".join(f"(?:{one})" for one in ANCHORS))
_ZAP = compile_later(
    r"^(?:(?P<time>\d{4}-\d\d-\d\dT\S+)\t)?(?P<level>WARN|ERROR|INFO|DEBUG)\t(?P<logger>[\w.]+)\t(?P<file>\S+)\t(?P<message>[^\t]*)(?:\t(?P<fields>\{.*\}))?"
)


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `event`, `klog` or, for YuniKorn, `klog` with its fields; other lines yield nothing."""
    if not _ANCHOR.search(line.raw) or line.program.startswith("kubelet"):
        return
    zap = _ZAP.match(line.text)
    if not zap:
        yield from read_structured(line, SOURCE)
        return
    try:
        read = json.loads(zap["fields"] or "{}")
    except (ValueError, RecursionError):
        read = {}
    fields = {str(name): str(value)[:400] for name, value in list(read.items())[:30]} if isinstance(read, dict) else {}
    job = fields.get("applicationID") or fields.get("appID") or ""
    yield Observation(
        SOURCE,
        "klog",
        line.input,
        line.number,
        line.number,
        line.text,
        code=zap["message"][:120],
        time=line.time if line.time is not None else parse_iso(zap["time"] or ""),
        entity=entity_of("Job", job) if job else "",
        attributes={**fields, "message": zap["message"], "level": zap["level"][0]},
    )
