"""A pod's selector against the labels that a table of nodes shows."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import selector_labels
from diagnosis.facts import Facts


def pod(selector: str) -> Observation:
    return Observation("kube-objects", "pod", "a", 3, 3, "pod", entity="pod:t", attributes={"selector": selector})


def node(line: int, **labels: str) -> Observation:
    return Observation("kube-objects", "row", "b", line, line, "row", code="Node", node=f"n{line}", attributes=labels)


H100 = {"gpu.product": "NVIDIA-H100-80GB-HBM3"}


def test_a_value_that_no_node_has() -> None:
    facts = Facts([pod("nvidia.com/gpu.product=NVIDIA-H100-80GB,zone=a"), node(1, **H100), node(2, **H100)])
    ((found, because),) = list(selector_labels.derive(facts))
    assert (found.code, found.attributes["wanted"]) == ("nvidia.com/gpu.product", "NVIDIA-H100-80GB")
    assert found.attributes["offered"] == "NVIDIA-H100-80GB-HBM3"
    assert [one.kind for one in because] == ["pod", "row", "row"]


def test_a_value_that_one_node_has_and_a_label_without_a_column() -> None:
    assert (
        list(selector_labels.derive(Facts([pod("gpu.product=T4"), node(1, **H100), node(2, **{"gpu.product": "T4"})])))
        == []
    )
    assert list(selector_labels.derive(Facts([pod("zone=a"), node(1, **H100)]))) == []


def test_nodes_without_the_label_offer_nothing() -> None:
    ((found, _),) = list(selector_labels.derive(Facts([pod("gpu.product=T4"), node(1, **{"gpu.product": "<none>"})])))
    assert "offered" not in found.attributes
