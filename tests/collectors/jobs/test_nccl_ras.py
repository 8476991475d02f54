"""The RAS client's text and JSON: communicators, ranks ahead, behind, missing or dead; all well clears nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from collectors.ingest import Intake, read_inputs, text_input
from collectors.observation import Observation
from collectors.registry import Registry
from collectors.scan import Scanner

LOGS = Path(__file__).parents[3] / "fixtures/logs/nccl-ras"

WELL = """NCCL version 2.26.2 compiled with CUDA 12.4
Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1        32         8       256       256   RUNNING      OK

Errors
======

Warnings
========
"""
AHEAD = """#0-0 (fa93daea854b060b) MISMATCH
  Communicator ranks have different AllGather operation counts
  30 ranks have launched up to operation 640
  2 ranks have launched up to operation 641
  Rank 12 -- GPU 4 managed by process 323032 on node 10.0.0.4
  Rank 13 -- GPU 5 managed by process 323033 on node 10.0.0.4
"""
NO_COMM = """Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    2         4         0       7-8         0         0    NOCOMM  INCOMPLETE,MISMATCH
"""


@cache
def tools() -> tuple[Scanner, Registry]:
    registry = Registry()
    return Scanner(registry.patterns()), registry


def read(text: str) -> Intake:
    return read_inputs([text_input("ras.txt", text)], *tools(), now=1_764_547_200.0)[0]


def facts(intake: Intake, kind: str) -> list[Observation]:
    return [one for one in intake.records if isinstance(one, Observation) and one.kind == kind]


def test_sample() -> None:
    found = read((LOGS / "hang.txt").read_text())
    assert found.kind == "nccl-ras"
    assert [one.code for one in facts(found, "ras-communicator")] == [
        "INCOMPLETE",
        "MISMATCH",
        "OK",
        "INCOMPLETE",
        "MISMATCH",
    ]
    assert [(one.code, one.node, one.entity) for one in facts(found, "ras-process")] == [
        ("INCOMPLETE", "10.0.0.4", "process:323032"),
        ("DEAD", "10.0.0.4", "process:323032"),
    ]
    assert [(one.code, one.entity, one.attributes.get("usual")) for one in facts(found, "ras-rank")] == [
        ("INCOMPLETE", "rank:12", None),
        ("MISMATCH", "rank:3", None),
        ("behind", "rank:3", "641"),
        ("behind", "rank:7", "641"),
    ]


def test_json_sample() -> None:
    text = (LOGS / "status.json").read_text()
    found = read(text)
    assert found.kind == "nccl-ras"
    assert [(one.code, one.entity, one.node) for one in facts(found, "ras-rank")] == [
        ("DEAD", "rank:3", "10.0.0.5"),
        ("ERROR", "rank:1", "10.0.0.4"),
        ("behind", "rank:2", "10.0.0.5"),
    ]
    for one in found.records:
        if isinstance(one, Observation):
            assert one.raw in text.split("\n")[one.line - 1]


def test_all_well_is_one_fact_and_no_more() -> None:
    assert [(one.kind, one.code) for one in facts(read(WELL), "ras-communicator")] == [("ras-communicator", "OK")]
    assert not facts(read(WELL), "ras-rank")


def test_ranks_listed_below_a_count_have_that_count() -> None:
    assert [(one.code, one.attributes["usual"]) for one in facts(read(AHEAD), "ras-rank")] == [
        ("ahead", "640"),
        ("ahead", "640"),
    ]


def test_several_errors_of_one_communicator() -> None:
    assert [one.code for one in facts(read(NO_COMM), "ras-communicator")] == ["INCOMPLETE", "MISMATCH"]


@pytest.mark.parametrize(
    "text",
    [
        "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors",
        "#0-0 (fa93daea854b060b) MISMATCH\n  Rank -1 -- GPU x\n",
        '{"communicators_count": 1, "communicators": [1, {"ranks": [2, {"rank": "x"}], "missing_ranks": [{}]}], "missing_ranks_count": 0}',
        '{"communicators_count": 1, "communicators": 3, "missing_ranks_count": 0}',
        '{"communicators_count": 1, "missing_ranks_count": 0',
    ],
)
def test_odd_input_yields_nothing(text: str) -> None:
    found = read(text)
    assert not facts(found, "ras-rank")
    assert not any("could not read" in note for note in found.notes)
