"""What rules captured: named groups name the entity, and a collector's reading of the same line fills in what they leave out."""

from __future__ import annotations

import pytest

from collectors.captures import inherit, make_hit, name_entity
from collectors.observation import Observation
from collectors.prefix import Line


@pytest.mark.parametrize(
    ("attributes", "entity"),
    [
        ({"pci": "00000000:3B:00.0", "gpu": "3"}, "gpu:0000:3b:00.0"),
        ({"pci": "unheard of"}, "gpu:unheard of"),
        ({"uuid": "GPU-1", "gpu": "3"}, "gpu:GPU-1"),
        ({"gpu": "3", "rank": "11"}, "gpu:3"),
        ({"rank": "11", "pod": "a/b"}, "pod:a/b"),
        ({"pcie_device": "3b:00.0"}, "pcie_device:0000:3b:00.0"),
        ({"reason": "x", "pod": ""}, ""),
        ({}, ""),
    ],
)
def test_groups_name_the_entity(attributes: dict[str, str], entity: str) -> None:
    assert name_entity(attributes) == entity


def test_a_hit_has_what_the_line_says_of_itself() -> None:
    line = Line("a.log", 3, "raw", "GPU 3 is gone", time=5.0, uptime=7.5, rank="11", labels={"pod": "a/b"})
    hit = make_hit("rule#0.0", {"gpu": "3", "node": "Node-B.example.com"}, line, "kernel", "node-a")
    assert (hit.code, hit.line, hit.time, hit.node, hit.entity) == ("rule#0.0", 3, 5.0, "node-b", "gpu:3")
    assert hit.attributes == {
        "pod": "a/b",
        "gpu": "3",
        "node": "Node-B.example.com",
        "rank": "11",
        "uptime": "7.500000",
    }


def test_a_hit_without_an_entity_takes_that_of_its_line() -> None:
    line = Line("a.log", 3, "raw", "is gone")
    parsed = Observation(
        "kernel", "xid", "a.log", 3, 3, "is gone", time=5.0, node="node-a", entity="gpu:3", attributes={"code": "79"}
    )
    hit = inherit(make_hit("rule#0.0", {}, line, "kernel", ""), parsed)
    assert (hit.entity, hit.node, hit.time, hit.attributes) == ("gpu:3", "node-a", 5.0, {"code": "79"})
    named = make_hit("rule#0.0", {"gpu": "4"}, line, "kernel", "")
    assert inherit(named, parsed) is named and inherit(named, None) is named
