"""Metrics in the text format: entities, hosts, times, blanks."""

from __future__ import annotations

from collectors.metrics import prometheus
from tests.collectors.gpu.gpu_reading import FIXTURES, read, same, samples

TEXT = (FIXTURES / "metrics" / "dcgm-exporter.prom").read_text()


def test_gpus_hosts_and_pods() -> None:
    records = read(prometheus, TEXT)
    first, second = (one for one in samples(records) if one.metric == "DCGM_FI_DEV_GPU_UTIL")
    assert (first.entity, first.node, first.value, first.line) == ("gpu:0000:3b:00.0", "node-a", 97.0, 3)
    assert second.labels["pod"] == "worker-1"  # exported_pod is the workload, pod the exporter's own
    assert ("gpu:0000:3b:00.0", "gpu:GPU-00000000-0000-4000-8000-000000000001") in same(records)
    assert ("gpu:0000:3b:00.0", "gpu:dcgm-0") in same(records)


def test_blanks_and_buckets_are_dropped_and_times_are_milliseconds() -> None:
    found = {one.metric: one for one in samples(read(prometheus, TEXT))}
    assert "DCGM_FI_DEV_FB_FREE" not in found
    assert "http_request_duration_seconds_bucket" not in found
    assert found["vllm:num_requests_waiting"].time == 1_764_547_200.0
    assert found["http_request_duration_seconds_sum"].value == 1.5


def test_network_devices() -> None:
    text = 'node_infiniband_port_data_transmitted_bytes_total{device="mlx5_0",port="1",instance="node-b:9100"} 5\n'
    (one,) = samples(read(prometheus, text))
    assert (one.entity, one.node) == ("nic:mlx5_0", "node-b")


def test_odd_input_yields_nothing() -> None:
    for text in ('name{a="b" 1', 'name{a="b"} x', "# HELP", 'function{x="1"} foo bar', "value 12 13"):
        assert samples(read(prometheus, text)) == []
