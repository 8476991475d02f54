"""Kubernetes objects as descriptions, YAML, JSON, tables and jsonpath answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.orchestration import kube_describe, kube_jsonpath, kube_objects, kube_tables
from collectors.tree import read_trees
from tests.collectors.orchestration.kube_reading import observations

LOGS = Path(__file__).parents[3] / "fixtures" / "logs" / "kube-objects"


def test_described_node() -> None:
    found = observations(kube_describe, (LOGS / "describe-node.txt").read_text())
    by_kind = {kind: [one for one in found if one.kind == kind] for kind in {one.kind for one in found}}
    assert [(one.code, one.attributes["effect"]) for one in by_kind["taint"]] == [
        ("nvidia.com/gpu", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ]
    (gpu,) = [one for one in by_kind["allocatable"] if one.code == "nvidia.com/gpu"]
    assert (gpu.attributes["allocatable"], gpu.attributes["capacity"], gpu.line, gpu.entity) == (
        "7",
        "8",
        26,
        "node:gpu-node-04",
    )
    assert [(one.code, one.attributes["requests"], one.attributes["free"]) for one in by_kind["allocated"]] == [
        ("cpu", "24.35", "70.65"),
        ("nvidia.com/gpu", "7", "0"),
    ]
    assert [(one.code, one.attributes["status"]) for one in by_kind["node-condition"]] == [
        ("DiskPressure", "False"),
        ("Ready", "False"),
    ]
    assert by_kind["node"][0].attributes["unschedulable"] == "true"


def test_described_pod_with_containers() -> None:
    text = """Name:             a-0
Namespace:        ml
Node:             gpu-1/10.0.0.1
Status:           Running
Containers:
  main:
    Image:          train:1
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Ready:          False
    Restart Count:  5
    Requests:
      nvidia.com/gpu:  8
"""
    pod, container, end = observations(kube_describe, text)
    assert (pod.kind, pod.code, pod.attributes["devices"]) == ("pod", "Running", "8")
    assert (container.code, container.attributes["restarts"], container.attributes["last_reason"]) == (
        "CrashLoopBackOff",
        "5",
        "OOMKilled",
    )
    assert (end.kind, end.code, end.attributes["exit_code"]) == ("container-end", "OOMKilled", "137")


def test_a_table_with_heartbeats_is_of_a_node_also_when_cut() -> None:
    text = (
        "Conditions:\n"
        "  Type           Status  LastHeartbeatTime                 LastTransitionTime                Reason                   Message\n"
        "  ----           ------  -----------------                 ------------------                ------                   -------\n"
        "  DiskPressure   True    Thu, 13 Feb 2025 09:41:26 +0800   Thu, 13 Feb 2025 09:40:00 +0800   KubeletHasDiskPressure   kubelet has disk pressure\n"
    )
    assert [(one.kind, one.code) for one in observations(kube_describe, text)] == [("node-condition", "DiskPressure")]


def test_condition_whose_message_comes_before_its_type() -> None:
    text = """Status:
  Conditions:
    Last Transition Time:  2023-11-13T03:21:58Z
    Message:               1/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable
    Reason:                NotEnoughResources
    Status:                True
    Type:                  Unschedulable
    Last Transition Time:  2023-11-13T03:25:58Z
    Reason:                tasks in gang are ready to be scheduled
    Status:                True
    Type:                  Scheduled
"""
    found = [one for one in observations(kube_describe, text) if one.kind == "condition"]
    assert [(one.code, one.attributes["status"], one.line) for one in found] == [
        ("Unschedulable", "True", 4),
        ("Scheduled", "True", 11),
    ]


def test_workload_with_a_folded_message() -> None:
    found = [one for one in observations(kube_objects, (LOGS / "workload.yaml").read_text()) if one.kind == "condition"]
    first = found[0]
    assert (first.code, first.entity, first.line, first.line_end) == ("QuotaReserved", "job:research/ablate-7", 12, 13)
    assert (
        first.text
        == "couldn't assign flavors to pod set worker: no topology domains at level: topology.example.com/block"
    )
    assert first.time is not None


def test_json_list_with_a_rejected_pod_and_an_event() -> None:
    text = """{
    "apiVersion": "v1",
    "items": [
        {
            "kind": "Pod",
            "metadata": {"name": "a-0", "namespace": "ml"},
            "spec": {"nodeName": "gpu-1", "containers": [{"name": "m", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]},
            "status": {
                "message": "Pod was rejected: Allocate failed due to requested number of devices unavailable",
                "phase": "Failed",
                "reason": "UnexpectedAdmissionError"
            }
        },
        {
            "kind": "Event",
            "involvedObject": {"kind": "Pod", "name": "a-0", "namespace": "ml"},
            "lastTimestamp": "2025-01-01T00:00:00Z",
            "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
            "reason": "FailedScheduling",
            "type": "Warning"
        }
    ],
    "kind": "List"
}
"""
    pod, event = observations(kube_objects, text)
    assert (pod.entity, pod.node, pod.attributes["reason"], pod.attributes["devices"]) == (
        "pod:ml/a-0",
        "gpu-1",
        "UnexpectedAdmissionError",
        "4",
    )
    assert (event.kind, event.code, event.line, event.time) == ("event", "FailedScheduling", 18, 1735689600.0)


def test_container_states_of_a_partial_status() -> None:
    text = """status:
  containerStatuses:
  - name: main
    lastState:
      terminated:
        exitCode: 137
        reason: OOMKilled
    restartCount: 3
    state:
      waiting:
        reason: CrashLoopBackOff
  phase: Running
"""
    found = observations(kube_objects, text)
    assert [(one.kind, one.code) for one in found] == [
        ("pod", "Running"),
        ("container", "CrashLoopBackOff"),
        ("container-end", "OOMKilled"),
    ]


def test_what_jq_leaves_of_allocatable() -> None:
    found = observations(kube_objects, '{\n  "cpu": "96",\n  "memory": "1056Gi",\n  "nvidia.com/gpu.shared": "32"\n}\n')
    assert [one.code for one in found] == ["cpu", "memory", "nvidia.com/gpu.shared"]


def test_hostile_yaml_stays_small() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]" for i in range(8)
    )
    (tree,) = read_trees(bomb, 1)
    assert all(item.value == "" for item in tree.fields["b"].items)
    for broken in ("[" * 5000, "a: [1, 2\nb: }{", "\t\t: :", "a: 'x"):
        list(read_trees(broken, 1))
    assert next(read_trees('{"a": "\\ud83d\\ude00"}', 1)).text("a") == "?"


def test_pods_nodes_and_custom_columns() -> None:
    text = """$ kubectl get pod -n ml -o wide
NAME       READY   STATUS    RESTARTS       AGE   IP          NODE     NOMINATED NODE   READINESS GATES
a-0        1/1     Running   3 (68s ago)    21m   10.0.0.14   node-b   <none>           <none>
b-0        0/1     Pending   0              4m    <none>      <none>   <none>           <none>
$ kubectl get node -o custom-columns=NAME:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu
NAME     GPU
node-a   <none>
node-b   4
$ kubectl get nodes
NAME     STATUS                     ROLES    AGE    VERSION
node-b   Ready,SchedulingDisabled   worker   401d   v1.29.8
"""
    found = observations(kube_tables, text)
    rows = [(one.code, one.entity, one.node) for one in found if one.kind == "row"]
    assert rows == [
        ("Pod", "pod:ml/a-0", "node-b"),
        ("Pod", "pod:ml/b-0", ""),
        ("Node", "node:node-a", "node-a"),
        ("Node", "node:node-b", "node-b"),
        ("Node", "node:node-b", "node-b"),
    ]
    assert [(one.node, one.attributes["allocatable"]) for one in found if one.kind == "allocatable"] == [
        ("node-a", "0"),
        ("node-b", "4"),
    ]
    assert found[0].attributes["restarts"] == "3 (68s ago)"
    assert found[-1].attributes["unschedulable"] == "true"


def test_rows_without_a_head_and_a_quota() -> None:
    text = """$ kubectl -n gpu-operator get pod -o wide | grep gpu-node-05
nvidia-driver-daemonset-xk9ds   0/1   Init:CrashLoopBackOff   214 (3m2s ago)   18h   10.0.0.52   gpu-node-05   <none>   <none>
$ kubectl describe quota -n ml
Name:                    gpu-quota
Namespace:               ml
Resource                 Used  Hard
--------                 ----  ----
requests.nvidia.com/gpu  4     4
"""
    row, quota = observations(kube_tables, text)
    assert (row.entity, row.node, row.attributes["status"]) == (
        "pod:gpu-operator/nvidia-driver-daemonset-xk9ds",
        "gpu-node-05",
        "Init:CrashLoopBackOff",
    )
    assert (quota.kind, quota.entity, quota.attributes["used"], quota.attributes["hard"]) == (
        "quota",
        "namespace:ml",
        "4",
        "4",
    )


def test_jsonpath_answers() -> None:
    text = """$ kubectl get node gpu-1 -o jsonpath='{.status.capacity.nvidia\\.com/gpu} {.status.allocatable.nvidia\\.com/gpu}'
8 7
$ kubectl get podgroup big -n algo -o jsonpath='{.spec.minResources}'
{"cpu":"70","memory":"128Gi"}
"""
    gpu, group = observations(kube_jsonpath, text)
    assert (gpu.kind, gpu.attributes["capacity"], gpu.attributes["allocatable"]) == ("allocatable", "8", "7")
    assert (group.entity, group.attributes["spec.minResources.cpu"]) == ("job:algo/big", "70")


@pytest.mark.parametrize("module", [kube_describe, kube_objects, kube_tables, kube_jsonpath])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "{\n",
        '{\n  "a": 1\n}\n',
        "status\n",
        "NAME\n",
        "Name:\n",
        "---\n",
        "spec: [\n",
        "Conditions:\n",
        "\x00\x01:\n",
    ],
)
def test_odd_text_yields_nothing(module: object, text: str) -> None:
    assert observations(module, text) == []  # type: ignore[arg-type]


def test_shares_of_a_node_tell_a_table_of_nodes() -> None:
    nodes = "NAME   CPU(cores)   CPU%   MEMORY(bytes)   MEMORY%\ngpu-1  95000m       99%    180Gi           18%\n"
    assert [(one.code, one.node) for one in observations(kube_tables, nodes)] == [("Node", "gpu-1")]
    pods = "NAME      CPU(cores)   MEMORY(bytes)\ntrain-0   95000m       180Gi\n"
    assert [one.code for one in observations(kube_tables, pods)] == [""]


def test_events_right_below_a_table_are_no_rows_of_it() -> None:
    text = (
        "NAME      READY   STATUS        RESTARTS   AGE\n"
        "train-1   0/1     Terminating   0          3h\n"
        "41m  Normal   TaintManagerEviction   pod/train-1   Marking for deletion Pod ml/train-1\n"
    )
    assert [one.entity for one in observations(kube_tables, text) if one.kind == "row"] == ["pod:train-1"]
