"""Events as text: tables of several kubectl versions, and the Events section of descriptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.observation import Relation
from collectors.orchestration import kube_events
from tests.collectors.orchestration.kube_reading import observations, read_blocks

LOGS = Path(__file__).parents[3] / "fixtures" / "logs" / "kube-events"


def test_table_of_all_namespaces() -> None:
    found = observations(kube_events, (LOGS / "events-all-namespaces.txt").read_text())
    assert [(one.code, one.entity, one.line, one.line_end) for one in found] == [
        ("Scheduled", "pod:ml/train-worker-0", 3, 3),
        ("Pulled", "pod:ml/train-worker-0", 4, 4),
        ("Started", "pod:ml/train-worker-0", 5, 5),
        ("FailedScheduling", "pod:ml/train-worker-1", 6, 6),
        ("NotTriggerScaleUp", "pod:ml/train-worker-1", 7, 7),
        ("FailedMount", "pod:data/loader-0", 8, 10),
        ("CreatedWorkload", "job:nlp/pretrain-70b", 11, 11),
        ("Pending", "job:nlp/pretrain-70b", 12, 12),
        ("NodeNotReady", "node:gpu-node-05", 13, 13),
    ]
    failed = found[3].attributes
    assert (failed["age"], failed["count"], failed["type"]) == ("130", "62", "Warning")
    assert found[5].text.endswith('Could not mount "data": fuse: mount pod is not ready context deadline exceeded')
    assert found[0].node == "gpu-node-04"


def test_old_table() -> None:
    found = observations(kube_events, (LOGS / "events-old-kubectl.txt").read_text())
    assert [(one.code, one.entity, one.node, one.attributes.get("count")) for one in found] == [
        ("FailedScheduling", "pod:trainer-0", "", "62"),
        ("Pulled", "pod:web-5b9d", "node-b", "1"),
        ("NodeReady", "node:node-b", "node-b", "1"),
    ]


def test_section_of_a_description() -> None:
    text = """Name:             a-0
Namespace:        ml
Node:             gpu-1/10.0.0.1
Containers:
Events:
  Type     Reason     Age                  From     Message
  ----     ------     ----                 ----     -------
  Warning  BackOff    40s (x2 over 9m)     kubelet  Back-off restarting failed container
"""
    (one,) = observations(kube_events, text)
    assert (one.code, one.entity, one.node, one.attributes["from"]) == ("BackOff", "pod:ml/a-0", "gpu-1", "kubelet")
    relations = [one for one in read_blocks(kube_events, text) if isinstance(one, Relation)]
    assert {(one.upper, one.lower) for one in relations} == {("pod:ml/a-0", "node:gpu-1"), ("pod:ml/a-0", "pod:a-0")}


def test_rows_without_a_head_take_the_command_above() -> None:
    (one,) = observations(
        kube_events,
        "$ kubectl -n ml describe pod a-0 | tail -1\n  Warning  FailedScheduling  40s  volcano  0/2 nodes are unavailable: 2 Insufficient cpu.\n",
    )
    assert (one.entity, one.attributes["from"]) == ("pod:ml/a-0", "volcano")


def test_no_events() -> None:
    (one,) = observations(kube_events, "$ kubectl describe pod a-0 -n ml | tail -1\nEvents:          <none>\n")
    assert (one.kind, one.entity) == ("no-events", "pod:ml/a-0")


@pytest.mark.parametrize(
    "text",
    [
        "NAME READY STATUS\n",
        "",
        "  Type  Name\n",
        "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n",
        "Normal operation resumed\n",
        "LAST SEEN   TYPE      REASON   OBJECT   MESSAGE\ngarbage without columns\n",
        "5m Warning\n",
    ],
)
def test_odd_text_yields_nothing(text: str) -> None:
    assert observations(kube_events, text) == []
