"""A pinned GID index against the adapter's table of GIDs."""

from __future__ import annotations

import pytest

from collectors.observation import Observation
from diagnosis.analyses import gid_choice
from diagnosis.facts import Facts


def row(index: int, version: str, ipv4: str = "", node: str = "", nic: str = "mlx5_0") -> Observation:
    attributes = {"version": version, **({"ipv4": ipv4} if ipv4 else {})}
    return Observation(
        "rdma", "gid", "b", index + 3, index + 3, "row", code=str(index), node=node, entity=f"nic:{nic}",
        attributes=attributes,
    )  # fmt: skip


def pin(value: str, node: str = "") -> Observation:
    return Observation(
        "nccl", "env", "a", 1, 1, "set", code="NCCL_IB_GID_INDEX", node=node, attributes={"value": value}
    )


TABLE = [row(0, "v1"), row(1, "v2"), row(2, "v1", "192.0.2.4"), row(3, "v2", "192.0.2.4")]


@pytest.mark.parametrize(("index", "code"), [("0", "v1"), ("1", "link-local"), ("2", "v1"), ("7", "absent")])
def test_an_index_that_is_not_routed(index: str, code: str) -> None:
    ((found, because),) = list(gid_choice.derive(Facts([pin(index), *TABLE])))
    assert (found.kind, found.code, found.entity, found.attributes["better"]) == (
        "gid-choice",
        code,
        "nic:mlx5_0",
        "3",
    )
    assert because[0].kind == "env" and because[-1].code == "3"


def test_the_right_index_and_an_infiniband_port_say_nothing() -> None:
    assert list(gid_choice.derive(Facts([pin("3"), *TABLE]))) == []
    assert list(gid_choice.derive(Facts([pin("0"), row(0, "v1")]))) == []


def test_a_table_of_another_host_says_nothing() -> None:
    table = [row(0, "v1", node="n2"), row(3, "v2", "192.0.2.4", node="n2")]
    assert list(gid_choice.derive(Facts([pin("0", node="n1"), *table]))) == []
    assert len(list(gid_choice.derive(Facts([pin("0", node="n2"), *table])))) == 1
