"""Kubernetes names: kinds and their short forms, entities, quantities, ages, and the kubectl command above an output.

Documented at kubernetes.io: `kubectl api-resources`, resource quantities, `duration.HumanDuration` (`40s`, `3m9s`, `3d4h`).
"""

from __future__ import annotations

from dataclasses import dataclass

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


_QUANTITY = compile_later(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(m|u|n|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei)?(?: \(.*\))?")
_FACTORS = {
    "": 1.0,
    "m": 1e-3,
    "u": 1e-6,
    "n": 1e-9,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}


def parse_quantity(text: str) -> float | None:
    """Return a resource quantity in base units, None when it is none.

    >>> (
    ...     parse_quantity("500m"),
    ...     parse_quantity("64Gi"),
    ...     parse_quantity("8"),
    ...     parse_quantity("24350m (25%)"),
    ...     parse_quantity("<none>"),
    ... )
    (0.5, 68719476736.0, 8.0, 24.35, None)
    """
    match = _QUANTITY.fullmatch(text.strip().strip("\"'"))
    return float(match[1]) * _FACTORS[match[2] or ""] if match else None


def plain_number(value: float) -> str:
    """Return a number without needless decimals."""
    return str(int(value)) if abs(value) < 1e18 and value == int(value) else f"{value:g}"


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


@dataclass(frozen=True, slots=True)
class Command:
    """What a kubectl (or oc) command asks for."""

    verb: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    text: str = ""


_COMMAND = compile_later(r"(?:^|[#$%>+] |\s|\|)(?:kubectl|oc|k)(?:\.exe)? +(.*)$")
_VERBS = frozenset(
    {"get", "describe", "logs", "top", "delete", "apply", "exec", "events", "cordon", "drain", "api-resources"}
)
_WITH_VALUE = frozenset(
    {
        "-n",
        "--namespace",
        "-o",
        "--output",
        "-l",
        "--selector",
        "-L",
        "--label-columns",
        "--context",
        "--kubeconfig",
        "--field-selector",
        "--sort-by",
        "-c",
        "--container",
        "--tail",
        "--since",
        "-f",
        "--filename",
        "--for",
    }
)


def parse_command(text: str) -> Command:
    """Read `kubectl [-n NS] VERB [KIND[/NAME]] [NAME]`; an empty Command when the text is none.

    >>> parse_command("$ kubectl -n team-c describe pod sft-run-0 | tail -4")
    Command(verb='describe', kind='Pod', name='sft-run-0', namespace='team-c', text='$ kubectl -n team-c describe pod sft-run-0 | tail -4')
    """
    match = _COMMAND.search(text)
    if not match:
        return Command()
    verb = kind = name = namespace = ""
    words = iter(match[1].partition(" |")[0].replace("'", " ").split())
    for word in words:
        if word in _WITH_VALUE:
            value = next(words, "")
            if word in ("-n", "--namespace"):
                namespace = value
        elif word.startswith("-"):
            if word.startswith("--namespace="):
                namespace = word.partition("=")[2]
            elif word.startswith("-n") and len(word) > 2:
                namespace = word[2:].lstrip("=")
        elif not verb:
            verb = word if word in _VERBS else "?"
        elif not kind:
            head, _, tail = word.partition("/")
            kind, name = kind_named(head.partition(",")[0]), tail
        elif not name:
            name = word
    if verb in ("", "?"):
        return Command()
    if verb == "events":
        kind, name = "Event", ""
    return Command(verb, kind, name, namespace, text.strip())


def command_above(data: bytes, offset: int, most: int = 3) -> Command:
    """Return the kubectl command in the `most` lines above an offset (blank ones aside), an empty Command when there is none."""
    start = max(0, offset - 4096)
    above = data[start:offset].decode("utf-8", "replace").split("\n")[:-1]
    for line in [one for one in reversed(above) if one.strip()][:most]:
        command = parse_command(line)
        if command.verb:
            return command
    return Command()


_DEVICE = compile_later(
    r"(?:requests\.|limits\.)?(?:nvidia\.com/(?:gpu(?:\.shared)?|mig-[\w.]+|pgpu|[A-Z][\w-]*)|amd\.com/gpu|(?:gpu\.)?intel\.com/\S+|volcano\.sh/v?gpu-number|"
    r"alpha\.kubernetes\.io/nvidia-gpu|aliyun\.com/gpu-count|tencent\.com/vcuda-core|huawei\.com/(?:Ascend(?!\S*-memory)\S*|npu)|"
    r"cambricon\.com/\w+|run\.ai/gpu\S*|habana\.ai/gaudi|aws\.amazon\.com/neuron\w*|google\.com/tpu|hygon\.com/dcu(?:num)?|"
    r"metax-tech\.com/s?gpu|iluvatar\.(?:ai|com)/(?:v?gpu|\S+-vgpu)|mthreads\.com/v?gpu|enflame\.com/v?gcu|kunlunxin\.com/v?xpu)"
)


def is_device(resource: str) -> bool:
    """Tell whether a resource counts GPUs (or slices of them), unlike memory or cores of a GPU.

    >>> (
    ...     is_device("nvidia.com/gpu"),
    ...     is_device("nvidia.com/mig-1g.10gb"),
    ...     is_device("habana.ai/gaudi"),
    ...     is_device("nvidia.com/gpumem"),
    ...     is_device("huawei.com/Ascend910B4-memory"),
    ...     is_device("cpu"),
    ... )
    (True, True, True, False, False, False)
    """
    return _DEVICE.fullmatch(resource) is not None
