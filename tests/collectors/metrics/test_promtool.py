"""Answers of `promtool query instant`, with and without the metric's name."""

from __future__ import annotations

import pytest

from collectors.metrics import promtool
from tests.collectors.gpu.gpu_reading import FIXTURES, read, samples


def test_rows_get_the_metric_of_the_query() -> None:
    found = samples(read(promtool, (FIXTURES / "metrics/promtool.txt").read_text("utf-8")))
    assert [(one.metric, one.value, one.labels.get("pod", "")) for one in found] == [
        ("DCGM_FI_DEV_GPU_UTIL", 0.0, "notebook-0"),
        ("DCGM_FI_DEV_GPU_UTIL", 0.0, "notebook-0"),
        ("DCGM_FI_DEV_GPU_UTIL", 98.0, "train-0"),
        ("up", 1.0, ""),
        ("up", 0.0, ""),
    ]
    assert (found[0].node, found[0].entity, found[0].time) == ("node-a", "gpu:dcgm-0", 1764540000.0)


@pytest.mark.parametrize(
    "text",
    [
        "promtool query instant http://p:9090 'rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[5m])'\n{gpu=\"0\"} => 0.1 @[1764540000.1]\n",
        "promtool query instant http://p:9090\n",
        '{gpu="0"} => 1 @[1764540000.1]\n',
        'up{gpu="0"} => many @[1764540000.1]\n',
    ],
)
def test_what_it_cannot_name_it_leaves(text: str) -> None:
    assert read(promtool, text) == []
