"""Kubernetes names: kinds and their short forms, entities, ages.

Documented at kubernetes.io: `kubectl api-resources`, `duration.HumanDuration` (`40s`, `3m9s`, `3d4h`).
"""

from __future__ import annotations

from collectors.identity import normalise_node
from collectors.regex import compile_later

_KINDS = {
    "pod": "Pod",
    "pods": "Pod",
    "po": "Pod",
    "node": "Node",
    "nodes": "Node",
    "no": "Node",
    "event": "Event",
    "events": "Event",
    "ev": "Event",
    "namespace": "Namespace",
    "namespaces": "Namespace",
    "ns": "Namespace",
    "job": "Job",
    "jobs": "Job",
    "deployment": "Deployment",
    "deployments": "Deployment",
    "deploy": "Deployment",
    "replicaset": "ReplicaSet",
    "replicasets": "ReplicaSet",
    "rs": "ReplicaSet",
    "statefulset": "StatefulSet",
    "statefulsets": "StatefulSet",
    "sts": "StatefulSet",
    "daemonset": "DaemonSet",
    "daemonsets": "DaemonSet",
    "ds": "DaemonSet",
    "service": "Service",
    "services": "Service",
    "svc": "Service",
    "endpoints": "Endpoints",
    "ep": "Endpoints",
    "configmap": "ConfigMap",
    "persistentvolumeclaim": "PersistentVolumeClaim",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "pvc": "PersistentVolumeClaim",
    "persistentvolume": "PersistentVolume",
    "persistentvolumes": "PersistentVolume",
    "pv": "PersistentVolume",
    "resourcequota": "ResourceQuota",
    "resourcequotas": "ResourceQuota",
    "quota": "ResourceQuota",
    "vcjob": "VolcanoJob",
    "vj": "VolcanoJob",
    "podgroup": "PodGroup",
    "podgroups": "PodGroup",
    "pg": "PodGroup",
    "queue": "Queue",
    "queues": "Queue",
    "q": "Queue",
    "localqueue": "LocalQueue",
    "localqueues": "LocalQueue",
    "lq": "LocalQueue",
    "clusterqueue": "ClusterQueue",
    "clusterqueues": "ClusterQueue",
    "cq": "ClusterQueue",
    "workload": "Workload",
    "workloads": "Workload",
    "wl": "Workload",
    "resourceflavor": "ResourceFlavor",
    "rf": "ResourceFlavor",
    "pytorchjob": "PyTorchJob",
    "pytorchjobs": "PyTorchJob",
    "mpijob": "MPIJob",
    "mpijobs": "MPIJob",
    "tfjob": "TFJob",
    "trainjob": "TrainJob",
    "jobset": "JobSet",
    "rayjob": "RayJob",
    "raycluster": "RayCluster",
    "priorityclass": "PriorityClass",
    "pc": "PriorityClass",
    "lease": "Lease",
    "leases": "Lease",
    "inferenceservice": "InferenceService",
    "isvc": "InferenceService",
    "clusterpolicy": "ClusterPolicy",
    "clusterpolicies": "ClusterPolicy",
    "mutatingwebhookconfiguration": "MutatingWebhookConfiguration",
    "validatingwebhookconfiguration": "ValidatingWebhookConfiguration",
    "runtimeclass": "RuntimeClass",
    "runtimeclasses": "RuntimeClass",
}
BATCH_KINDS = frozenset(
    {
        "Job",
        "VolcanoJob",
        "PyTorchJob",
        "MPIJob",
        "TFJob",
        "XGBoostJob",
        "PaddleJob",
        "JAXJob",
        "TrainJob",
        "JobSet",
        "RayJob",
        "RayCluster",
        "Workload",
        "PodGroup",
        "AppWrapper",
        "Workflow",
        "CronJob",
        "NotebookJob",
        "DGLJob",
        "DeepSpeedJob",
        "SparkApplication",
    }
)
QUEUE_KINDS = frozenset({"Queue", "LocalQueue", "ClusterQueue", "Cohort"})
_WORKLOAD = compile_later(
    r"(?:job|jobset|pytorchjob|mpijob|tfjob|xgboostjob|paddlejob|jaxjob|trainjob|rayjob|raycluster|appwrapper|statefulset|deployment|pod)"
    r"-(?P<name>.+)-[0-9a-f]{5}"
)
_UUID = compile_later(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")


def kind_named(text: str) -> str:
    """Return the Kind for what a command or a column calls it (`po`, `pods.v1`, `deployments.apps`, `Pod`), as given when unknown.

    >>> kind_named("po"), kind_named("deployments.apps"), kind_named("PyTorchJob"), kind_named("pod")
    ('Pod', 'Deployment', 'PyTorchJob', 'Pod')
    """
    head = text.partition(".")[0]
    if head == "job" and "volcano" in text:
        return "VolcanoJob"
    return _KINDS.get(head.lower(), head)


def entity_of(kind: str, name: str, namespace: str = "") -> str:
    """Return the entity for a Kubernetes object, "" for kinds that are no entity of ours.

    Kueue names a workload `<kind>-<owner>-<5 hex digits>` and Volcano a pod group `<job>-<uid>`: both stand for their job.

    >>> (
    ...     entity_of("Pod", "a-0", "ml"),
    ...     entity_of("Workload", "pytorchjob-ablate-7-9a1f0"),
    ...     entity_of("ClusterQueue", "cq"),
    ... )
    ('pod:ml/a-0', 'job:ablate-7', 'queue:cq')
    """
    if not name:
        return ""
    if kind == "Pod":
        return f"pod:{namespace}/{name}" if namespace else f"pod:{name}"
    if kind == "Node":
        return f"node:{normalise_node(name)}"
    if kind in QUEUE_KINDS:
        return f"queue:{name}"
    if kind == "Namespace":
        return f"namespace:{name}"
    if kind in ("PersistentVolumeClaim", "PersistentVolume"):
        return f"volume:{name}"
    if kind == "ResourceQuota":
        return f"namespace:{namespace}" if namespace else ""
    if kind in BATCH_KINDS:
        match = _WORKLOAD.fullmatch(name) if kind == "Workload" else None
        plain = match["name"] if match else _UUID.sub("", name)
        return f"job:{namespace}/{plain}" if namespace else f"job:{plain}"
    return ""


_AGE_PART = compile_later(r"(\d+)(ms|y|d|h|m|s)")
_AGE_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "y": 365 * 86400}
AGE = r"(?:\d+(?:ms|[ydhms])(?:\d+[dhms])?|<unknown>|<invalid>)"


def parse_age(text: str) -> float | None:
    """Return the seconds in `40s`, `3m9s` or `2d2h` (the first age of `40s (x2 over 9m)`), None for `<unknown>`.

    >>> parse_age("3m9s (x3 over 40m)"), parse_age("2d2h"), parse_age("<unknown>")
    (189.0, 180000.0, None)
    """
    head = text.strip().partition(" ")[0]
    parts = _AGE_PART.findall(head)
    if not parts or "".join(number + unit for number, unit in parts) != head:
        return None
    return float(sum(int(number[:9]) * _AGE_SECONDS[unit] for number, unit in parts))
