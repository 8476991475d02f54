"""CSV series: dashboard exports, memory tables, steps by rank."""

from __future__ import annotations

import pytest

from collectors.metrics import series
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read, samples


def test_dashboard_export() -> None:
    text = '"Time","worker-0 gpu 0","worker-0 gpu 1"\n"2024-06-11 09:00:00",0,88\n"2024-06-11 11:00:00",0,\n'
    found = samples(read(series, text))
    assert [(one.metric, one.value) for one in found] == [
        ("worker_0_gpu_0", 0.0),
        ("worker_0_gpu_1", 88.0),
        ("worker_0_gpu_0", 0.0),
    ]
    assert found[0].time == 1718096400.0
    assert found[0].labels["series"] == "worker-0 gpu 0"


def test_steps_by_rank() -> None:
    records = read(series, (FIXTURES / "series/steps-by-rank.csv").read_text("utf-8"))
    rows = observed(records, "step")
    assert len(rows) == 8
    assert (rows[2].entity, rows[2].attributes["forward_ms"], rows[2].attributes["gpu"]) == ("rank:2", "212.4", "2")


@pytest.mark.parametrize(
    "text", ["time,x\n", "timestamp, index, pci.bus_id\n2025/04/02, 0, 1\n", "step\n1\n", "epoch,a,b\n1,2\n"]
)
def test_other_tables_yield_nothing(text: str) -> None:
    assert read(series, text) == []
