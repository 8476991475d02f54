"""The kubelet's log in printf style, structured and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.observation import Observation, Record
from collectors.orchestration import kubelet
from collectors.prefix import peel

LOG = Path(__file__).parents[3] / "fixtures" / "logs" / "kubelet" / "journal.log"


def parse(text: str) -> list[Record]:
    return list(kubelet.parse_line(peel("a", 1, text)))


def test_sample_log() -> None:
    found = [one for raw in LOG.read_text().splitlines() for one in parse(raw) if isinstance(one, Observation)]
    assert [(one.kind, one.code, one.entity, one.node) for one in found] == [
        ("pod-error", "CreateContainerConfigError", "pod:ml/train-0", "node-c"),
        ("kubelet-start", "", "", "node-c"),
        ("pod-error", "CrashLoopBackOff", "pod:ml/web-0", "node-c"),
        ("node-ready", "", "", "node-c"),
    ]


def test_json() -> None:
    (one,) = parse(
        '{"ts":1753141980841.6128,"caller":"kubelet/kubelet.go:2382","msg":"Starting kubelet main sync loop","v":0}'
    )
    assert isinstance(one, Observation)
    assert one.kind == "kubelet-start"
    assert one.time is not None
    assert abs(one.time - 1753141980.8416128) < 0.001


@pytest.mark.parametrize(
    "text",
    ["", "Error syncing pod", 'Error syncing pod x ("a(b)"), skipping: y', '"Error syncing pod, skipping" err="x'],
)
def test_odd_lines_yield_nothing(text: str) -> None:
    assert parse(text) == []
