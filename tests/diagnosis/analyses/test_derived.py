"""A derived fact stands where a fact behind it stands."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses.derived import derive_at

PLACE = Observation(
    "nccl", "init", "a.log", 7, 9, "NCCL INFO", time=60.0, node="n1", entity="rank:3", raw="[0] NCCL INFO"
)  # fmt: skip


def test_place_time_and_host_are_those_of_the_fact_behind_it() -> None:
    found = derive_at(PLACE, "hang", "silent", "rank 3 is silent", {"rank": "3", "peer": ""})
    assert (found.source, found.kind, found.code, found.text) == ("derived", "hang", "silent", "rank 3 is silent")
    assert (found.input, found.line, found.line_end, found.time, found.node) == ("a.log", 7, 9, 60.0, "n1")
    assert (found.entity, found.attributes, found.raw) == ("", {"rank": "3"}, "[0] NCCL INFO")


def test_a_text_that_is_not_given_lists_the_attributes() -> None:
    assert derive_at(PLACE, "outage", attributes={"ended": "no", "brief": "yes"}).text == "outage ended=no brief=yes"


def test_a_host_may_be_another_or_none() -> None:
    assert derive_at(PLACE, "hang", node="n2").node == "n2"
    assert derive_at(PLACE, "hang", node="").node == ""
