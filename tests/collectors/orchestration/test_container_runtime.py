"""containerd, dockerd and CRI-O lines: the failed call, its error with quotes unescaped, its pod."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.observation import Observation
from collectors.orchestration import container_runtime
from collectors.prefix import peel

LOG = Path(__file__).parents[3] / "fixtures" / "logs" / "kubelet" / "journal.log"


def parse(text: str) -> list[Observation]:
    return list(container_runtime.parse_line(peel("a", 1, text)))


def test_sample_log() -> None:
    found = [one for raw in LOG.read_text().splitlines() if "level=error" in raw for one in parse(raw)]
    assert [(one.code, one.entity, one.node) for one in found] == [
        ("StopPodSandbox", "", "node-c"),
        ("RunPodSandbox", "pod:ml/train-0", "node-c"),
    ]
    assert 'network for sandbox "0f1e": plugin type="calico" failed (add)' in found[1].attributes["error"]


def test_without_journald() -> None:
    (one,) = parse(
        'time="2025-01-02T03:04:05Z" level=error msg="PullImage \\"r.example.com/a:1\\" failed" error="not found"'
    )
    assert (one.code, one.attributes["msg"], one.time) == (
        "PullImage",
        'PullImage "r.example.com/a:1" failed',
        1735787045.0,
    )


@pytest.mark.parametrize(
    "text",
    ["", "level=error msg=", 'time="x" level=error msg="something of another program"', 'level=error msg="unclosed'],
)
def test_odd_lines_yield_nothing(text: str) -> None:
    assert parse(text) == []
