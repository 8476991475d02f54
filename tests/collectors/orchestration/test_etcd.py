"""etcd's warnings in both formats, with durations in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.observation import Observation
from collectors.orchestration import etcd
from collectors.prefix import peel

LOG = Path(__file__).parents[3] / "fixtures" / "logs" / "etcd" / "slow-disk.log"


def parse(text: str) -> list[Observation]:
    return list(etcd.parse_line(peel("a", 1, text)))


def test_sample_log() -> None:
    found = [one for raw in LOG.read_text().splitlines() for one in parse(raw)]
    assert [(one.code, one.attributes["seconds"]) for one in found] == [
        ("fsync", "2.713"), ("heartbeat", "2.061"), ("request", "2.977"), ("clock", "28802.596"),
        ("fsync", "2.331"), ("request", "0.212"), ("heartbeat", "1.200"), ("clock", "4.200"),
    ]  # fmt: skip
    assert all(one.time is not None for one in found)


@pytest.mark.parametrize(
    "text", ["wal: sync duration of ...s", "took too long", '{"msg":"slow fdatasync","took":"...s"}', "", "{"]
)
def test_odd_lines_are_survived(text: str) -> None:
    assert all(one.attributes["seconds"] == "0.000" for one in parse(text))
