"""Shapes of labels in the wild: the victim is found, and the exporter that measured is never blamed."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

import api.alert_labels
import api.bodies
import api.pages
from api.alert_labels import Victim, find_victim

DCGM = {"job": "dcgm-exporter", "instance": "10.0.3.7:9400", "container": "nvidia-dcgm-exporter"}
EXPORTER = {**DCGM, "pod": "nvidia-dcgm-exporter-x7k2p", "namespace": "gpu-operator"}
KSM = {"job": "kube-state-metrics", "instance": "10.0.9.9:8080", "container": "kube-state-metrics"}
UUID = "GPU-6f3a1c2e-0d4b-4f5a-9c7e-1b2d3e4f5a6b"

SHAPES: dict[str, tuple[dict[str, str], Victim]] = {
    "dcgm with pod mapping, honorLabels false": (
        {**EXPORTER, "exported_pod": "train-worker-3", "exported_namespace": "ml", "exported_container": "main", "Hostname": "gpu-node-7",
         "gpu": "3", "UUID": UUID, "pci_bus_id": "00000000:3B:00.0"},
        Victim(("gpu-node-7",), "train-worker-3", "ml", "main", gpu="0000:3b:00.0"),
    ),
    "dcgm with pod mapping, honorLabels true": (
        {"job": "dcgm-exporter", "instance": "10.0.3.7:9400", "pod": "train-worker-3", "namespace": "ml", "container": "main",
         "Hostname": "gpu-node-7.cluster.example.com", "gpu": "3", "device": "nvidia3"},
        Victim(("gpu-node-7",), "train-worker-3", "ml", "main", gpu="dcgm-3"),
    ),
    "dcgm on a host, no pod": ({"Hostname": "GPU-NODE-7", "gpu": "0", "UUID": UUID}, Victim(("gpu-node-7",), gpu=UUID)),
    "dcgm whose Hostname is the exporter's pod": (
        {**EXPORTER, "Hostname": "nvidia-dcgm-exporter-x7k2p", "gpu": "3"}, Victim(("10.0.3.7",), gpu="dcgm-3"),
    ),
    "dcgm whose Hostname is the exporter's pod, node relabelled": (
        {**EXPORTER, "Hostname": "nvidia-dcgm-exporter-x7k2p", "node": "gpu-node-7", "gpu": "3"}, Victim(("gpu-node-7",), gpu="dcgm-3"),
    ),
    "dcgm with empty pod (time slicing)": (
        {"Hostname": "gpu-node-7", "gpu": "1", "pod": "", "namespace": "", "container": ""}, Victim(("gpu-node-7",), gpu="dcgm-1"),
    ),
    "dcgm old pod labels": (
        {"Hostname": "gpu-node-7", "gpu": "1", "pod_name": "train-0", "pod_namespace": "ml", "container_name": "main"},
        Victim(("gpu-node-7",), "train-0", "ml", "main", gpu="dcgm-1"),
    ),
    "dcgm old uuid label": ({"hostname": "gpu-node-7", "uuid": UUID}, Victim(("gpu-node-7",), gpu=UUID)),
    "dcgm nvlink row": ({"hostname": "gpu-node-7", "nvlink": "4", "gpu_uuid": UUID}, Victim(("gpu-node-7",), gpu=UUID)),
    "dcgm nvswitch row": ({"hostname": "gpu-node-7", "nvswitch": "2"}, Victim(("gpu-node-7",))),
    "dcgm with a Slurm job": ({"Hostname": "gpu-node-7", "gpu": "0", "hpc_job": "48291"}, Victim(("gpu-node-7",), job="48291", gpu="dcgm-0")),
    "relabelled: kubernetes_node": ({**EXPORTER, "kubernetes_node": "gpu-node-7", "gpu": "2"}, Victim(("gpu-node-7",), gpu="dcgm-2")),
    "relabelled: nodename": ({"nodename": "gpu-node-7.example.com"}, Victim(("gpu-node-7",))),
    "kube-state-metrics pod": (
        {**KSM, "namespace": "ml", "pod": "train-worker-3", "node": "gpu-node-7", "container": "main"},
        Victim(("gpu-node-7",), "train-worker-3", "ml", "main"),
    ),
    "kube-state-metrics pod, honorLabels false": (
        {**KSM, "pod": "kube-state-metrics-5d7f", "namespace": "monitoring", "exported_pod": "train-worker-3", "exported_namespace": "ml"},
        Victim((), "train-worker-3", "ml"),
    ),
    "kube-state-metrics node": (
        {**KSM, "pod": "kube-state-metrics-5d7f", "namespace": "monitoring", "node": "gpu-node-7", "condition": "Ready", "status": "true"},
        Victim(("gpu-node-7",)),
    ),
    "kube-state-metrics exported node": (
        {**KSM, "pod": "kube-state-metrics-5d7f", "node": "infra-1", "exported_node": "gpu-node-7"}, Victim(("gpu-node-7",)),
    ),
    "kube-state-metrics job": (
        {**KSM, "pod": "kube-state-metrics-5d7f", "job_name": "train-llm", "namespace": "ml"}, Victim((), job="train-llm"),
    ),
    "node-exporter by name": (
        {"job": "node-exporter", "instance": "gpu-node-7:9100", "pod": "node-exporter-abc", "namespace": "monitoring"},
        Victim(("gpu-node-7",)),
    ),
    "node-exporter by address": ({"job": "node", "instance": "192.0.2.7:9100"}, Victim(("192.0.2.7",))),
    "node-exporter infiniband": (
        {"job": "node", "instance": "gpu-node-7:9100", "device": "mlx5_3", "port": "1"}, Victim(("gpu-node-7",), nic="mlx5_3"),
    ),
    "vLLM server": (
        {"job": "vllm", "instance": "10.2.3.4:8000", "pod": "chat-0", "namespace": "serving", "model_name": "m", "engine": "0"},
        Victim((), "chat-0", "serving"),
    ),
    "node-problem-detector": (
        {"job": "node-problem-detector", "instance": "gpu-node-7:20257", "reason": "XidError", "type": "GPU"}, Victim(("gpu-node-7",)),
    ),
    "volcano queue": ({"job": "volcano-scheduler", "instance": "10.1.1.1:8080", "queue_name": "research"}, Victim(("10.1.1.1",))),
    "nothing that names anything": ({"alertname": "Watchdog", "severity": "none"}, Victim()),
    "absurd values": ({"node": "x" * 70_000, "pod": "   ", "gpu": "../../3", "pci_bus_id": "<script>"}, Victim()),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_the_victim_is_found(name: str) -> None:
    labels, victim = SHAPES[name]
    assert find_victim(labels) == victim


@pytest.mark.parametrize("name", SHAPES)
def test_no_exporter_is_a_victim(name: str) -> None:
    victim = find_victim(SHAPES[name][0])
    assert not any("exporter" in text or "state-metrics" in text for text in victim.entities())


@pytest.mark.parametrize("module", [api.alert_labels, api.bodies, api.pages], ids=lambda module: str(module.__name__))
def test_the_examples_of_the_docstrings_hold(module: ModuleType) -> None:
    done = doctest.testmod(module)
    assert done.attempted > 0 and done.failed == 0
