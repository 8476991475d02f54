"""A refusal of the kubelet is compared with the node's own table, on the same node only."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import kubelet_devices
from diagnosis.analyses.derived import Derived
from diagnosis.facts import Facts

REFUSAL = "Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: {}, Available: {}, which is unexpected"


def refusal(requested: int, available: int, node: str = "gpu-1") -> Observation:
    return Observation(
        "kube-events",
        "event",
        "a",
        1,
        1,
        REFUSAL.format(requested, available),
        code="UnexpectedAdmissionError",
        node=node,
    )


def table(free: int, node: str = "gpu-1", resource: str = "nvidia.com/gpu") -> Observation:
    attributes = {"resource": resource, "free": str(free)}
    return Observation(
        "kube-objects", "allocated", "b", 9, 9, f"{resource} 3 3", code=resource, node=node, attributes=attributes
    )


def derive(*observations: Observation) -> list[Derived]:
    return list(kubelet_devices.derive(Facts(list(observations))))


def test_refused_although_free() -> None:
    ((found, because),) = derive(refusal(1, 0), table(5))
    assert (found.kind, found.code, found.node, found.attributes["free"]) == ("kubelet-devices", "stale", "gpu-1", "5")
    assert [one.kind for one in because] == ["event", "allocated"]


def test_nothing_when_the_table_agrees() -> None:
    assert derive(refusal(8, 7), table(7)) == []
    assert derive(refusal(1, 0), table(0)) == []
    assert derive(refusal(1, 0)) == []


def test_other_nodes_and_resources_do_not_count() -> None:
    assert derive(refusal(1, 0, node="gpu-2"), table(5)) == []
    assert derive(refusal(1, 0), table(5, resource="cpu")) == []
    assert len(derive(refusal(1, 0, node=""), table(5))) == 1
    assert derive(refusal(1, 0, node=""), table(5), table(5, node="gpu-2")) == []
