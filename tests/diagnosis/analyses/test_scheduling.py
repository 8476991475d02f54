"""Which scheduling reason decides, what the node tables add, and what gangs and pod groups say together."""

from __future__ import annotations

from types import ModuleType

import pytest

from collectors.ingest import read_inputs, text_input
from collectors.registry import Registry
from collectors.scan import Scanner
from collectors.store import Store
from diagnosis.analyses import gangs, scheduling
from diagnosis.facts import Facts, load_facts


def facts(*texts: str) -> Facts:
    registry = Registry()
    scanner = Scanner(registry.patterns())
    store = Store.open()
    intakes = read_inputs(
        [text_input(f"{number}", text) for number, text in enumerate(texts)], scanner, registry, now=1.7e9
    )
    store.append("a", [record for one in intakes for record in one.records])
    try:
        return load_facts(store)
    finally:
        store.close()


def derived(module: ModuleType, *texts: str) -> list[tuple[str, str, str]]:
    return [(one.kind, one.code, one.attributes.get("decisive", "")) for one, _ in module.derive(facts(*texts))]


EVENT = "4m40s   Warning   FailedScheduling   pod/a-0   {}\n"
NODES = """$ kubectl get nodes -o custom-columns=NAME:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu
NAME      GPU
node-a    <none>
node-b    <none>
node-ml   1
"""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "0/4 nodes are available: 1 node(s) didn't match pod affinity rules, 3 Insufficient nvidia.com/gpu.",
            ["yes", "no"],
        ),
        (
            "0/6 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 5 Insufficient nvidia.com/gpu.",
            ["no", "yes"],
        ),
        (
            "0/4 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 3 Insufficient nvidia.com/gpu.",
            ["yes", "no"],
        ),
        (
            "0/4 nodes are available: 1 Insufficient nvidia.com/gpu, 3 node(s) didn't match Pod's node affinity/selector.",
            ["yes", "no"],
        ),
        ("0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) were unschedulable.", ["maybe", "maybe"]),
        ("0/4 nodes are available: 4 Insufficient cpu, 1 Insufficient nvidia.com/gpu.", ["yes", "no"]),
        (
            "0/1 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }.",
            ["yes"],
        ),
    ],
)
def test_deciding_reason_without_tables(message: str, expected: list[str]) -> None:
    assert [decisive for _, _, decisive in derived(scheduling, EVENT.format(message))] == expected


def test_tables_settle_it() -> None:
    message = "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu."
    assert derived(scheduling, EVENT.format(message)) == [
        ("scheduling", "unschedulable", "maybe"),
        ("scheduling", "insufficient", "maybe"),
    ]
    assert derived(scheduling, EVENT.format(message), NODES) == [
        ("scheduling", "unschedulable", "yes"),
        ("scheduling", "insufficient", "no"),
    ]


@pytest.mark.parametrize(
    "settling",
    [
        "2m   Normal   Scheduled   pod/a-0   Successfully assigned ml/a-0 to node-a\n",
        "\nNAME   READY   STATUS    RESTARTS   AGE\na-0    1/1     Running   0          4m\n",
    ],
)
def test_a_pod_that_was_placed_later_waits_no_more(settling: str) -> None:
    assert derived(scheduling, EVENT.format("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.") + settling) == []


DESCRIBED = """Name:               gpu-{0}
Allocatable:
  nvidia.com/gpu:  8
Allocated resources:
  Resource        Requests  Limits
  --------        --------  ------
  nvidia.com/gpu  {1}         {1}

"""
POD = """Name:             a-0
Namespace:        ml
Status:           Pending
Containers:
  main:
    Requests:
      nvidia.com/gpu:  {0}
Events:
  Type     Reason            Age  From               Message
  ----     ------            ---  ----               -------
  Warning  FailedScheduling  3m   default-scheduler  0/2 nodes are available: 2 Insufficient nvidia.com/gpu.
"""


@pytest.mark.parametrize(
    ("used", "wanted", "code"),
    [((8, 8), 1, "full"), ((4, 4), 8, "fragmented"), ((0, 8), 16, "oversized"), ((0, 8), 4, "free")],
)
def test_capacity(used: tuple[int, int], wanted: int, code: str) -> None:
    nodes = [DESCRIBED.format(number, one) for number, one in enumerate(used)]
    found = derived(scheduling, *nodes, POD.format(wanted))
    assert [one[1] for one in found if one[0] == "capacity"] == [code]


def test_other_resource_name_and_none() -> None:
    event = EVENT.format("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
    shared = "Name:               gpu-1\nAllocatable:\n  nvidia.com/gpu:         0\n  nvidia.com/gpu.shared:  4\n"
    assert ("capacity", "other-name", "") in derived(scheduling, event, shared)
    assert ("capacity", "none", "") in derived(
        scheduling, event, "Name:               gpu-1\nAllocatable:\n  nvidia.com/gpu:  0\n"
    )


def test_an_autoscaler_does_not_outvote_the_scheduler() -> None:
    refused = "4m   Warning   FailedScheduling    pod/a-0   0/9 nodes are available: 6 Insufficient cpu, 3 Insufficient memory.\n"
    no_growth = "2m   Normal    NotTriggerScaleUp   pod/a-0   pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu, 1 Insufficient cpu\n"
    found = [
        (one.attributes["resource"], one.attributes["decisive"], one.attributes.get("origin", ""))
        for one, _ in scheduling.derive(facts(refused + no_growth))
        if one.kind == "scheduling"
    ]
    assert ("cpu", "yes", "") in found
    assert ("memory", "yes", "") in found
    assert not [one for one in found if one[0] == "nvidia.com/gpu"]
    alone = [one.attributes["resource"] for one, _ in scheduling.derive(facts(no_growth)) if one.kind == "scheduling"]
    assert alone == ["nvidia.com/gpu", "cpu"]


def test_old_schedulers_name_each_node() -> None:
    text = (
        "pod (a-0) failed to fit in any node\n"
        "fit failure on node (gpu-1): Node didn't have enough resource: CPU, requested: 1000, used: 1420, capacity: 2000\n"
        "fit failure on node (gpu-2): Insufficient cpu, Insufficient memory\n"
    )
    found = [one.attributes["resource"] for one, _ in scheduling.derive(facts(text)) if one.kind == "scheduling"]
    assert found == ["cpu", "cpu", "memory"]


def test_gangs() -> None:
    half = "9s   Warning   Unschedulable   podgroup/{}   3/8 tasks in gang unschedulable: pod group is not ready, 3 Pending, 5 Running, 8 minAvailable\n"
    assert [one[1] for one in derived(gangs, half.format("a"))] == ["waiting"]
    assert [one[1] for one in derived(gangs, half.format("a") + half.format("b"))] == ["waiting", "waiting", "deadlock"]
    assert [one[1] for one in derived(gangs, half.format("a").replace("3/8", "8/5"))] == ["missing-tasks"]


def test_partly_placed_job() -> None:
    rows = "NAME         READY   STATUS    RESTARTS   AGE\na-worker-0   1/1     Running   0          16m\na-worker-1   0/1     Pending   0          16m\n"
    assert derived(gangs, rows) == [("gang", "partial", "")]
    assert derived(gangs, rows.replace("Pending", "Running")) == []


def test_a_request_in_a_jsonpath_answer_counts() -> None:
    node = "Name:               gpu-{0}\nAllocatable:\n  nvidia.com/gpu:  8\nAllocated resources:\n  Resource        Requests  Limits\n  --------        --------  ------\n  nvidia.com/gpu  4         4\n\n"
    pod = '$ kubectl get pod a-0 -o jsonpath=\'{.spec.containers[*].resources.requests}\'\n{"nvidia.com/gpu":"8"}\n'
    event = "12s   Warning   FailedScheduling   pod/a-0   0/2 nodes are available: 2 Insufficient nvidia.com/gpu.\n"
    found = derived(scheduling, node.format(1) + node.format(2), pod, event)
    assert ("capacity", "fragmented") in [one[:2] for one in found]


def test_a_cut_description_names_no_pod_and_is_settled_all_the_same() -> None:
    refused = (
        "  Warning  FailedScheduling  14m  default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    )
    placed = "  Normal   Scheduled         10m  default-scheduler  Successfully assigned ml/a-0 to gpu-1"
    started = "  Normal   Started           8m   kubelet            Started container main"
    assert derived(scheduling, f"{refused}\n")
    assert not derived(scheduling, f"{refused}\n{placed}\n{started}\n")


def test_no_facts() -> None:
    assert derived(scheduling, "hello\n") == derived(gangs, "hello\n") == []
