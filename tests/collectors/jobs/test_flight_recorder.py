"""Flight recorder dumps: pickle and JSON, the rank from the name or the content, and what is no dump."""

from __future__ import annotations

import json
import os
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from collectors.ingest import Intake, read_inputs, text_input
from collectors.jobs.flight_recorder import shorten_ranks
from collectors.observation import Observation
from collectors.registry import Registry
from collectors.scan import Scanner

SAMPLE = Path(__file__).parents[3] / "fixtures/logs/flight-recorder/nccl_trace_rank_1.json"


@cache
def tools() -> tuple[Scanner, Registry]:
    registry = Registry()
    return Scanner(registry.patterns()), registry


def read(name: str, data: bytes | str) -> Intake:
    return read_inputs([text_input(name, data)], *tools(), now=1_764_547_200.0)[0]


def facts(intake: Intake, kind: str) -> list[Observation]:
    return [one for one in intake.records if isinstance(one, Observation) and one.kind == kind]


def entry(number: int, state: str, **more: Any) -> dict[str, Any]:
    return {
        "record_id": number, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": number, "p2p_seq_id": 0,
        "op_id": number, "profiling_name": "nccl:all_reduce", "input_sizes": [[8, 4]], "input_dtypes": ["Float"],
        "output_sizes": [[8, 4]], "output_dtypes": ["Float"], "state": state, "time_created_ns": 1_764_115_200_000_000_000 + number,
        "frames": [{"name": "step", "filename": "/opt/train.py", "line": 7}], "is_p2p": False, **more,
    }  # fmt: skip


def dump(ranks: str = "[0, 1]") -> dict[str, Any]:
    return {
        "version": "2.9",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}},
        "pg_status": {
            "0": {"last_enqueued_collective": 9, "last_started_collective": -1, "last_completed_collective": 4}
        },
        "entries": [entry(number, "completed" if number < 5 else "scheduled") for number in range(1, 7)],
    }


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickle(protocol: int) -> None:
    found = read("dumps/nccl_trace_rank_1", pickle.dumps(dump(), protocol))
    assert (found.kind, found.notes) == ("flight-recorder", [])
    (state,) = facts(found, "collective")
    assert (state.code, state.entity) == ("recorded", "rank:1")
    said = dict(state.attributes)
    assert (said["enqueued"], said["completed"], said["waiting"], said["ranks"], said["size"]) == (
        "9",
        "4",
        "5",
        "0,1",
        "2",
    )
    waiting = [one for one in facts(found, "collective-entry") if one.code == "scheduled"]
    assert [(one.line, one.attributes["sequence"], one.attributes["input_sizes"]) for one in waiting] == [
        (5, "5", "[[8, 4]]"),
        (6, "6", "[[8, 4]]"),
    ]
    assert waiting[0].attributes["frames"] == "step (/opt/train.py:7)"
    assert waiting[0].time == pytest.approx(1_764_115_200.0)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("ordered", [True, False])
def test_json_cites_what_stands_on_the_line(indent: int | None, ordered: bool) -> None:
    text = json.dumps(dump(), indent=indent, sort_keys=ordered)
    found = read("trace.1.json", text)
    assert found.kind == "flight-recorder"
    lines = text.split("\n")
    for one in found.records:
        assert isinstance(one, Observation)
        assert one.raw in lines[one.line - 1]
        assert one.entity == "rank:1"


def test_json_among_other_lines() -> None:
    text = "before\n" + json.dumps(dump("[1]"), sort_keys=True, separators=(",", ":")) + "\nafter\n"
    (state,) = facts(read("paste", text), "collective")
    assert (state.line, state.entity) == (2, "rank:1")


@pytest.mark.parametrize(
    ("name", "ranks", "entity"),
    [
        ("nccl_trace_rank_7", "[0, 7]", "rank:7"),
        ("/tmp/comm_lib_trace_rank_007.pkl", "[0, 7]", "rank:7"),
        ("rank-12.pickle", "[12, 13]", "rank:12"),
        ("trace_5", "[4, 5]", "rank:5"),
        ("job-4411/rank3_20260101.bin", "[0, 1, 2, 3]", "rank:3"),
        ("whatever", "[4]", "rank:4"),
        ("nccl_trace_rank_9", "[0, 1]", ""),
        ("whatever", "[0, 1]", ""),
    ],
)
def test_rank(name: str, ranks: str, entity: str) -> None:
    assert facts(read(name, pickle.dumps(dump(ranks), 2)), "collective")[0].entity == entity


def test_older_forms() -> None:
    old = [
        {
            key: value
            for key, value in entry(3, "started", seq_id=3).items()
            if key not in ("collective_seq_id", "process_group", "is_p2p")
        }
    ]
    for value in (old, {"version": "1.1", "entries": old}):
        (state,) = facts(read("nccl_trace_rank_0", pickle.dumps(value, 2)), "collective")
        assert (state.attributes["group"], state.attributes["started"], state.attributes["waiting"]) == ("0", "3", "3")


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("true",)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pickle.dumps(dump() | {"extra": Evil()}, 2), "opcode GLOBAL"),
        (pickle.dumps(Evil(), 4), "opcode STACK_GLOBAL"),
        (b"\x80\x02" + b"]" * 5000 + b"a" * 4999 + b".", "nested more than 32 deep"),
        (b"\x80\x04\x8e" + b"\xff" * 8 + b"\x00" * 40, "a string of 18446744073709551615 bytes"),
        (pickle.dumps({"weights": [1, 2]}, 2), "no flight recorder dump"),
        (pickle.dumps({"entries": 3}, 2), "its entries are no list"),
        (pickle.dumps(dump(), 2)[:-40], "breaks off"),
    ],
)
def test_refused_with_its_reason(data: bytes, reason: str) -> None:
    found = read("nccl_trace_rank_0", data)
    assert any(reason in note for note in found.notes), found.notes
    assert not facts(found, "collective")


@pytest.mark.parametrize(
    "odd",
    [
        {"entries": [1, None, {"state": "completed"}], "pg_config": {"0": 3, "1": {"ranks": None}}},
        {"entries": [entry(1, "completed", collective_seq_id=None, input_sizes=3, frames=["x"], process_group=[])]},
        {
            "entries": [entry(1, "scheduled", time_created_ns="soon", input_dtypes={"a": 1})],
            "pg_status": [1],
            "nccl_comm": 4,
        },
        {"pg_config": {"0": {"ranks": "[0, 99999999999999]"}}, "pg_status": {}},
    ],
)
def test_odd_fields_do_no_harm(odd: Any) -> None:
    assert not any("could not read" in note for note in read("nccl_trace_rank_0", pickle.dumps(odd, 2)).notes)


def test_text_with_such_words_is_still_read_as_text() -> None:
    lines = '{"log":"pg_status \\"pg_status\\""}\n{"log":"NVRM: nothing"}\n'
    assert read("a.json", lines).lines == 2


def test_sample() -> None:
    found = read(SAMPLE.name, SAMPLE.read_bytes())
    assert {one.entity for one in facts(found, "collective")} == {"rank:1"}


def test_ranks_are_shortened() -> None:
    assert shorten_ranks(tuple(range(0, 2048, 8))) == "0-2040/8"


@pytest.mark.parametrize("number", ["--1", "-", "1e3", "9" * 40])
def test_a_status_that_is_no_number_is_left_out(number: str) -> None:
    odd = {**dump(), "pg_status": {"0": {"last_enqueued_collective": number, "last_completed_collective": "4"}}}
    found = read("nccl_trace_rank_1.json", json.dumps(odd))
    assert found.kind == "flight-recorder"
    (state,) = facts(found, "collective")
    assert (state.attributes.get("enqueued"), state.attributes["completed"]) == ("6", "4")  # counted from the entries
