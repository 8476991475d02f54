"""Scheduler logs, and the reasons that schedulers give."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.observation import Observation
from collectors.orchestration import kube_scheduler, scheduling_messages
from collectors.orchestration.scheduling_messages import read_reasons
from collectors.prefix import peel

LOGS = Path(__file__).parents[3] / "fixtures" / "logs" / "scheduler"


def read(name: str) -> list[Observation]:
    lines = (LOGS / name).read_text().splitlines()
    return [
        one for raw in lines for one in kube_scheduler.parse_line(peel("a", 1, raw)) if isinstance(one, Observation)
    ]


def test_klog() -> None:
    found = read("kube-scheduler.log")
    assert [(one.kind, one.code[:24], one.entity) for one in found] == [
        ("klog", "Error scheduling pod; re", "pod:ns/api-0"),
        ("event", "FailedScheduling", "pod:ns/api-0"),
        ("event", "FailedScheduling", "pod:ml/b-0"),
        ("klog", "request devices nums can", "pod:default/c-0"),
    ]
    assert found[3].attributes["request devices nums"] == "16"
    assert found[0].attributes["err"] == "binding rejected: node node-u has been locked within 5 minutes"


def test_zap() -> None:
    (one,) = read("yunikorn.log")
    assert (one.entity, one.attributes["queue"], one.attributes["level"]) == ("job:spark-7", "root.ml", "W")


@pytest.mark.parametrize(
    ("message", "codes"),
    [
        (
            "0/3 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 2 Insufficient nvidia.com/gpu.",
            ["taint", "insufficient"],
        ),
        (
            "No nodes are available that match all of the following predicates:: Insufficient nvidia.com/gpu (1), MatchNodeSelector (2).",
            ["insufficient", "selector"],
        ),
        (
            "0/6 nodes are available: 5 Insufficient nvidia.com/gpu, 1 PodToleratesNodeTaints.",
            ["insufficient", "taint"],
        ),
        ("0/3 nodes are available: 3 node(s) had untolerated taint(s).", ["taint"]),
        ("0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.", ["volume"]),
        (
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 Preemption is not helpful.",
            ["volume"],
        ),
        (
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
            ["insufficient", "preemption-refused"],
        ),
        ("0/1 nodes are unavailable: 1 Insufficient cpu.", ["insufficient"]),
        (
            "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 Insufficient nvidia.com/gpu, 2 max node group size reached",
            ["insufficient", "pool-limit"],
        ),
        (
            "43/100 tasks in gang unschedulable: pod group is not ready, 43 Pending, 57 Running, 100 minAvailable; Pending: 43 Unschedulable",
            ["gang"],
        ),
        ("queue resource quota insufficient: insufficient nvidia.com/gpu", ["queue-quota"]),
        (
            "couldn't assign flavors to pod set main: untolerated taint {spot true NoSchedule <nil>} in flavor spot",
            ["taint"],
        ),
        (
            (
                "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor f, previously considered podsets requests (0) + current podset "
                "request (64) > maximum capacity (32)"
            ),
            ["quota-maximum"],
        ),
        (
            (
                "Resources were found for 1 pods while 2 are required for gang scheduling. Additional pods cannot be scheduled due to: no nodes with enough "
                "resources were found: 5 node(s) didn't have enough resources: GPUs."
            ),
            ["gang", "insufficient"],
        ),
        (
            (
                'Failed to schedule pod, incompatible with nodepool "cpu", daemonset overhead={"cpu":"200m"}, incompatible requirements, key '
                'node.kubernetes.io/instance-type, a In [p5] not in a In [m5]; incompatible with nodepool "gpu", daemonset overhead={"cpu":"200m"}, '
                "did not tolerate taint (taint=nvidia.com/gpu=true:NoSchedule)"
            ),
            ["selector", "taint"],
        ),
        ('Failed to schedule pod, all available instance types exceed limits for nodepool: "gpu"', ["pool-limit"]),
        (
            'incompatible with nodepool "default", daemonset overhead={}, no instance type satisfied resources {"cpu":"4"}',
            ["instance-type"],
        ),
        ("Started container main", []),
        ("", []),
    ],
)
def test_reasons(message: str, codes: list[str]) -> None:
    assert [one.code for one in read_reasons(message)] == codes


def test_reason_details() -> None:
    taint, short = read_reasons(
        "0/4 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 3 Insufficient nvidia.com/gpu."
    )
    assert (taint.details, taint.count, taint.total) == ({"taint": "nvidia.com/gpu", "value": "present"}, 1, 4)
    assert short.details == {"resource": "nvidia.com/gpu"}
    (quoted,) = read_reasons('with reason "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."')
    assert quoted.details == {"resource": "nvidia.com/gpu"}


def test_a_line_that_says_nothing() -> None:
    assert list(scheduling_messages.parse_line(peel("a", 1, "3 nodes are available: hello"))) == []
    assert list(kube_scheduler.parse_line(peel("a", 1, 'I0903 06:53:42.242671 1 x.go:1] "fine" pod="a/b"'))) == []
