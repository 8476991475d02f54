"""Which things an alert is about, from its labels. The exporter that measured is never the victim.

dcgm-exporter, kube-state-metrics, node-exporter and the servers scraped through Prometheus name nodes, GPUs, pods and jobs in
a dozen ways; with `honorLabels: false` (the default) the workload's own labels come as `exported_*`, and `pod`, `namespace`
and `container` are those of the exporter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from collectors.identity import normalise_node, normalise_pci

LONGEST = 253  # characters of a name that is taken seriously
_EXPORTER = re.compile(
    r"(?:dcgm|node|gpu|nvidia|smi|infiniband|ib|process|blackbox|slurm|ipmi|lustre|ceph|kube)[-_]?(?:\w+[-_])*exporter|nvidia-dcgm|"
    r"[-_]exporter(?:-|$)|kube-state-metrics|(?:^|-)cadvisor|node-problem-detector|prometheus-(?!.*worker)|metrics-server|alertmanager"
)
_NODE = (
    "exported_node",
    "node",
    "nodename",
    "node_name",
    "kubernetes_node",
    "kubernetes_io_hostname",
    "exported_hostname",
)
_HOST = ("Hostname", "hostname", "host", "host_name")  # dcgm-exporter writes its pod's name here without NODE_NAME
_INSTANCE = ("exported_instance", "instance")
_POD = ("pod", "pod_name", "kubernetes_pod_name")
_NAMESPACE = ("namespace", "pod_namespace", "kubernetes_namespace")
_CONTAINER = ("container", "container_name")
_GPU = ("pci_bus_id", "UUID", "uuid", "gpu_uuid", "GPU_UUID", "gpu", "gpu_id", "minor_number")
_JOB = ("hpc_job", "slurm_job_id", "job_id", "jobid", "job_name", "exported_job_name", "volcano_job", "exported_job")
_NIC = re.compile(r"(?:mlx5|bnxt_re|irdma|rocep|ibp)[\w.]*")


@dataclass(frozen=True, slots=True)
class Victim:
    """What an alert is about; "" and () where its labels don't tell."""

    nodes: tuple[str, ...] = ()
    pod: str = ""
    namespace: str = ""
    container: str = ""
    job: str = ""
    gpu: str = ""
    nic: str = ""

    @property
    def pod_entities(self) -> tuple[str, ...]:
        """Return the names under which the pod may be kept."""
        if not self.pod:
            return ()
        return (f"pod:{self.namespace}/{self.pod}", f"pod:{self.pod}") if self.namespace else (f"pod:{self.pod}",)

    def entities(self) -> list[str]:
        """Return what it is about as entities, the narrowest first."""
        found = [f"gpu:{self.gpu}"] if self.gpu else []
        found += [f"nic:{self.nic}"] if self.nic else []
        found += [*self.pod_entities[:1]]
        found += [f"job:{self.job}"] if self.job else []
        return found + [f"node:{node}" for node in self.nodes]


def find_victim(labels: Mapping[str, str]) -> Victim:
    """Return what an alert with these labels is about."""
    known = {name: value.strip() for name, value in labels.items() if value.strip() and len(value) <= LONGEST}
    exported = any(f"exported_{name}" in known for name in ("pod", "namespace", "container"))
    pod = known.get("exported_pod", "")
    measured_by = ""  # the exporter whose own labels these are
    if not pod and not exported:
        pod = _first(known, _POD)
        if is_exporter(pod) or is_exporter(known.get("container", "")):
            pod, measured_by = "", pod or known.get("container", "")
    else:
        measured_by = _first(known, _POD)
    namespace = known.get("exported_namespace", "") or ("" if measured_by else _first(known, _NAMESPACE))
    container = known.get("exported_container", "") or ("" if measured_by else _first(known, _CONTAINER))
    return Victim(
        nodes=_nodes(known, measured_by, pod),
        pod=pod,
        namespace=namespace if pod else "",
        container=container if pod else "",
        job=_job(known),
        gpu=_gpu(known),
        nic=known["device"] if _NIC.fullmatch(known.get("device", "")) else "",
    )


def is_exporter(name: str) -> bool:
    """Tell whether a pod or container is one that measures others.

    >>> is_exporter("nvidia-dcgm-exporter-x7k2p"), is_exporter("kube-state-metrics-0"), is_exporter("train-worker-3")
    (True, True, False)
    """
    return bool(name) and _EXPORTER.search(name.lower()) is not None


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _nodes(labels: Mapping[str, str], measured_by: str, pod: str) -> tuple[str, ...]:
    named = _first(labels, _NODE)
    if named and not is_exporter(named):
        return (normalise_node(named),)
    host = _first(labels, _HOST)
    if host and not is_exporter(host) and host not in (pod, measured_by):
        return (normalise_node(host),)
    text = " ".join((measured_by, labels.get("job", ""), labels.get("container", ""), labels.get("service", "")))
    if "kube-state-metrics" in text:
        return ()  # its instance is its own address
    instance = _host_of(_first(labels, _INSTANCE))
    is_address = instance.replace(".", "").isdigit() or ":" in instance
    if not instance or is_exporter(instance) or instance == pod or (is_address and pod):
        return ()  # an address beside a pod is the pod's own
    return (normalise_node(instance),)


def _host_of(instance: str) -> str:
    """Return an instance without scheme and port.

    >>> _host_of("http://node-a:9400/metrics"), _host_of("[2001:db8::7]:9100"), _host_of("10.0.0.7:9100")
    ('node-a', '2001:db8::7', '10.0.0.7')
    """
    host = instance.partition("://")[2] or instance
    host = host.partition("/")[0]
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _gpu(labels: Mapping[str, str]) -> str:
    """Return the best name of the GPU: PCI address, UUID, or a number with whose it is: DCGM's, or the driver's minor."""
    for name in _GPU:
        value = labels.get(name, "")
        if name == "pci_bus_id":
            if value and (pci := normalise_pci(value)):
                return pci
        elif value.startswith(("GPU-", "MIG-")):
            return value
        elif value.isdigit() and name in ("gpu", "gpu_id", "minor_number"):
            return f"minor-{value}" if name == "minor_number" else f"dcgm-{value}"
    device = labels.get("device", "")
    return f"dcgm-{device[6:]}" if device.startswith("nvidia") and device[6:].isdigit() else ""


def _job(labels: Mapping[str, str]) -> str:
    """Return the workload's job; the label `job` is the scrape's, and so is `exported_job` of an exporter."""
    value = _first(labels, _JOB)
    return "" if is_exporter(value) else value
