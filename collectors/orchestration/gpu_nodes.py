"""A node that is meant to have GPUs and lists none: labels of clouds and feature discovery beside the node's capacity.

Yields `gpu-node`, code `no-devices`, attribute `mark`: the label that says what the node is. The kubelet leaves an extended resource
out of Capacity until a device plugin registers it (a node that hands out its GPUs by resource claims alone lists none either).

Labels: GKE `cloud.google.com/gke-accelerator`, EKS `k8s.amazonaws.com/accelerator`, AKS `kubernetes.azure.com/accelerator`, Karpenter
`karpenter.k8s.aws/instance-gpu-count`, GPU feature discovery `nvidia.com/gpu.present`, node feature discovery `pci-10de.present`, and
GPU instance types of the clouds. Sample, in a description whose Capacity has cpu and memory only::

    Labels: cloud.google.com / gke - accelerator = nvidia - tesla - t4
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from collectors.observation import Record
from collectors.orchestration.kube_context import Described
from collectors.orchestration.kube_facts import fact
from collectors.orchestration.kube_resources import is_device
from collectors.regex import compile_later

_MARK = compile_later(
    r"^(?:cloud\.google\.com/gke-accelerator=\S|k8s\.amazonaws\.com/accelerator=\S|(?:kubernetes\.azure\.com/)?accelerator=nvidia|"
    r"karpenter\.k8s\.aws/instance-gpu-count=[1-9]|nvidia\.com/gpu\.present=true|nvidia\.com/gpu\.count=[1-9]|nvidia\.com/gpu\.product=\S|"
    r"amd\.com/gpu\.(?:product-name|device-id|family)=\S|feature\.node\.kubernetes\.io/pci-(?:030[02]_)?10de\.present=true|"
    r"(?:node|beta)\.kubernetes\.io/instance-type=(?:(?:p[2-9]\w*|g[3-9]\w*)\.|a[2-4]-(?:high|mega|ultra|edge)gpu|g2-standard|Standard_N[CDV]|"
    r"(?:BM|VM)\.GPU|ecs\.(?:gn|ebmgn)))"
)


def missing_devices(
    input_name: str, about: Described, labels: Iterable[tuple[int, str]], capacity: Iterable[str]
) -> Iterator[Record]:
    """Yield a `gpu-node` when a label (line number and `key=value`) marks a GPU node and its capacity names no device."""
    names = set(capacity)
    if not {"cpu", "memory"} & names or "pods" not in names or any(is_device(name) for name in names):
        return
    for number, label in labels:
        if _MARK.match(label):
            yield from fact(input_name, number, number, about, "gpu-node", "no-devices", label, {"mark": label})
            return
