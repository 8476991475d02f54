"""A node that is meant to have GPUs and lists none."""

from __future__ import annotations

import pytest

from collectors.orchestration import kube_describe, kube_objects
from tests.collectors.orchestration.kube_reading import observations

DESCRIBED = """\
Name:               gpu-1
Labels:             kubernetes.io/os=linux
                    {label}
Capacity:
  cpu:             16
  memory:          107260540Ki
{more}  pods:            110
Allocatable:
  cpu:             15890m
  memory:          98936444Ki
{more}  pods:            110
"""


@pytest.mark.parametrize(
    "label",
    [
        "cloud.google.com/gke-accelerator=nvidia-tesla-t4",
        "k8s.amazonaws.com/accelerator=nvidia-tesla-v100",
        "kubernetes.azure.com/accelerator=nvidia",
        "accelerator=nvidia-tesla-t4",
        "karpenter.k8s.aws/instance-gpu-count=8",
        "nvidia.com/gpu.present=true",
        "feature.node.kubernetes.io/pci-10de.present=true",
        "feature.node.kubernetes.io/pci-0302_10de.present=true",
        "node.kubernetes.io/instance-type=p4d.24xlarge",
        "node.kubernetes.io/instance-type=a3-megagpu-8g",
        "node.kubernetes.io/instance-type=Standard_ND96asr_v4",
        "amd.com/gpu.product-name=AMD_Instinct_MI300X",
    ],
)
def test_described_gpu_node_without_devices(label: str) -> None:
    text = DESCRIBED.format(label=label, more="")
    (found,) = [one for one in observations(kube_describe, text) if one.kind == "gpu-node"]
    assert (found.code, found.attributes["mark"], found.line, found.entity) == ("no-devices", label, 3, "node:gpu-1")


@pytest.mark.parametrize(
    ("label", "more"),
    [
        ("nvidia.com/gpu.present=true", "  nvidia.com/gpu:  8\n"),
        ("nvidia.com/gpu.present=true", "  nvidia.com/mig-1g.10gb:  56\n"),
        ("node.kubernetes.io/instance-type=m5.large", ""),
        ("node.kubernetes.io/instance-type=t3.large", ""),
        ("karpenter.k8s.aws/instance-gpu-count=0", ""),
        ("cloud.google.com/gke-tpu-accelerator=tpu-v4-podslice", ""),
    ],
)
def test_other_nodes_are_left_alone(label: str, more: str) -> None:
    text = DESCRIBED.format(label=label, more=more)
    assert not [one for one in observations(kube_describe, text) if one.kind == "gpu-node"]


def test_a_cut_capacity_proves_nothing() -> None:
    text = (
        "Name:               gpu-1\nLabels:             nvidia.com/gpu.present=true\nCapacity:\n  cpu:             16\n"
    )
    assert not [one for one in observations(kube_describe, text) if one.kind == "gpu-node"]


def test_gpu_node_in_yaml() -> None:
    text = """\
apiVersion: v1
kind: Node
metadata:
  name: gpu-1
  labels:
    kubernetes.io/os: linux
    node.kubernetes.io/instance-type: g5.xlarge
status:
  capacity:
    cpu: "4"
    memory: 16Gi
    pods: "58"
"""
    (found,) = [one for one in observations(kube_objects, text) if one.kind == "gpu-node"]
    assert (found.line, found.entity) == (7, "node:gpu-1")


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("NodePool", "  limits:\n    nvidia.com/gpu: 16\n"),
        ("Provisioner", "  limits:\n    resources:\n      nvidia.com/gpu: 16\n"),
    ],
)
def test_limits_of_a_karpenter_pool(kind: str, limits: str) -> None:
    text = (
        f"apiVersion: karpenter.sh/v1\nkind: {kind}\nmetadata:\n  name: gpu\nspec:\n{limits}"
        'status:\n  resources:\n    nvidia.com/gpu: "16"\n    pods: "944"\n'
    )
    found = {one.code: one.attributes for one in observations(kube_objects, text) if one.kind == "quota"}
    assert (found["nvidia.com/gpu"]["used"], found["nvidia.com/gpu"]["hard"], found["nvidia.com/gpu"]["pool"]) == (
        "16",
        "16",
        "true",
    )
    assert "hard" not in found["pods"]
