"""What a cloud's machine type should give between hosts, and how much of it a job got."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.observation import Observation
from diagnosis.analyses import instance_network
from diagnosis.facts import Facts
from diagnosis.rulebook.document import RuleError
from diagnosis.rulebook.instances import load_instances
from diagnosis.rulebook.loader import find_rules_folder
from diagnosis.rulebook.reference import load_reference

REFERENCE = load_reference(find_rules_folder())


def instance(name: str, node: str = "node-a") -> Observation:
    return Observation("nccl", "instance", "a", 1, 1, "", code=name, node=node)


def provider(nics: int, node: str = "node-a") -> Observation:
    return Observation("nccl", "provider", "a", 2, 2, "", code="efa", node=node, attributes={"nics": str(nics)})


def derived(*facts: Observation) -> list[tuple[str, str, str]]:
    return [
        (one.node, one.code, one.attributes["gbps"])
        for one, _ in instance_network.derive(Facts(list(facts), reference=REFERENCE))
    ]


def test_all_adapters_of_a_type() -> None:
    assert derived(instance("p4d.24xlarge"), provider(4)) == [("node-a", "whole", "400")]
    assert derived(instance("P4d"), provider(4)) == [("node-a", "whole", "400")]  # as old plug-ins name it


def test_a_part_of_them() -> None:
    found = derived(instance("p5.48xlarge"), provider(1), instance("p5.48xlarge", "node-b"), provider(32, "node-b"))
    assert found == [("node-a", "part", "3200"), ("node-b", "whole", "3200")]


def test_where_the_count_is_not_told() -> None:
    assert derived(instance("p5en.48xlarge")) == [("node-a", "unknown", "3200")]
    assert derived(instance("x9.huge"), provider(1)) == []
    assert derived(provider(1)) == []


def test_the_shipped_table_is_whole() -> None:
    assert all(one.gbps >= 100 * one.cards for one in REFERENCE.instances.values())


@pytest.mark.parametrize("row", ["x,many,4,AWS", "x,400,4,", ",400,4,AWS"])
def test_a_mistake_names_file_and_line(tmp_path: Path, row: str) -> None:
    path = tmp_path / "instance-networks.csv"
    path.write_text(f"instance,gbps,cards,source\n{row}\n", "utf-8")
    with pytest.raises(RuleError, match=r"instance-networks\.csv:2: "):
        load_instances(path)
