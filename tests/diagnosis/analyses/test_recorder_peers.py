"""Chains of sends and receives end at the rank for which all wait in the end."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from collectors.jobs.flight_recorder import parse_document
from collectors.observation import Observation
from diagnosis.analyses import flight_recorder, recorder_peers
from diagnosis.facts import Facts

Row = dict[str, Any]


def pair(name: str, state: str = "scheduled", *, at: int = 5, group: str = "pp") -> Row:
    return {
        "record_id": at, "process_group": (group, group), "collective_seq_id": 0, "p2p_seq_id": at, "profiling_name": f"nccl:{name}",
        "input_sizes": [[8]], "input_dtypes": ["Float"], "state": state, "is_p2p": True, "time_created_ns": int((1_764_115_200 + at) * 1e9),
    }  # fmt: skip


def together(number: int, state: str, *, at: int = 0, group: str = "dp") -> Row:
    return pair("all_reduce", state, at=at or number, group=group) | {
        "collective_seq_id": number,
        "p2p_seq_id": 0,
        "is_p2p": False,
    }


def read(dumps: Mapping[int, Sequence[Row]], groups: Mapping[str, Sequence[int]]) -> Facts:
    observations = []
    for rank, entries in dumps.items():
        config = {
            name: {"name": name, "desc": name, "ranks": str(list(ranks))}
            for name, ranks in groups.items()
            if rank in ranks
        }
        data = pickle.dumps({"pg_config": config, "entries": list(entries)}, 2)
        observations += [one for one in parse_document(f"nccl_trace_rank_{rank}", data) if isinstance(one, Observation)]
    return Facts(observations)


def codes(facts: Facts) -> list[tuple[str, str]]:
    return [(one.code, one.entity) for one, _ in recorder_peers.derive(facts)]


PIPELINE = {"pp": range(4)}


def test_end_of_a_chain_is_the_culprit() -> None:
    dumps = {
        0: [pair("send 0->1", "completed")],
        1: [pair("recv 1<-0")],
        2: [pair("recv 2<-1")],
        3: [pair("recv 3<-2")],
    }
    assert codes(read(dumps, PIPELINE)) == [("waiting", ""), ("not-entered", "rank:0")]


def test_ranks_of_a_group_are_counted_from_its_members() -> None:
    dumps = {
        2: [pair("recv 1<-0", group="a")],
        6: [pair("recv 3<-1", group="a")],
        0: [pair("send 0->1", "completed", group="a")],
    }
    assert codes(read(dumps, {"a": [0, 2, 4, 6]})) == [("waiting", ""), ("not-entered", "rank:0")]


def test_end_without_a_dump() -> None:
    dumps = {1: [pair("recv 1<-0")], 2: [pair("recv 2<-1")], 3: [pair("recv 3<-2")]}
    assert codes(read(dumps, PIPELINE)) == [("waiting", ""), ("no-dump", "rank:0")]


def test_all_that_receive_from_one_another_wait_for_ever() -> None:
    dumps = {0: [pair("recv 0<-1")], 1: [pair("recv 1<-0")]}
    assert codes(read(dumps, {"pp": [0, 1]})) == [("waiting", ""), ("cycle", "")]
    ring = {rank: [pair(f"send {rank}->{(rank + 1) % 4}")] for rank in range(4)}
    assert codes(read(ring, PIPELINE)) == [("waiting", ""), ("cycle", "")]


def test_a_send_and_its_receive_are_one_transfer() -> None:
    dumps = {0: [pair("send 0->1")], 1: [pair("recv 1<-0")]}
    assert codes(read(dumps, {"pp": [0, 1]})) == [("waiting", "")]


def test_who_waits_for_a_peer_is_no_culprit_in_a_collective() -> None:
    groups = {"dp": [1, 3, 5, 7], "pp": [2, 3]}
    done, waits = together(4, "completed"), together(5, "scheduled", at=9)
    dumps = {
        1: [done, waits],
        5: [done, waits],
        7: [done, waits],
        3: [done, pair("recv 1<-0")],
        2: [pair("send 0->1", "completed", at=4)],
    }
    facts = read(dumps, groups)
    assert [(one.code, one.entity) for one, _ in flight_recorder.derive(facts)] == [("waiting", "")]
    assert codes(facts) == [("not-entered", "rank:2")]


def test_collectives_alone_say_nothing_here() -> None:
    assert codes(read({rank: [together(5, "scheduled")] for rank in range(4)}, {"dp": range(4)})) == []
