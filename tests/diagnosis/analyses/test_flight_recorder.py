"""What the dumps of several ranks say together: who is missing, who differs, and which groups wait for each other."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from collectors.jobs.flight_recorder import parse_document
from collectors.observation import Observation
from diagnosis.analyses import flight_recorder
from diagnosis.facts import Facts

DONE, WAITS = "completed", "scheduled"


def entry(
    number: int,
    state: str,
    *,
    group: str = "0",
    name: str = "all_reduce",
    size: int = 8,
    dtype: str = "Float",
    at: float = 0,
) -> dict[str, Any]:
    return {
        "record_id": number, "process_group": (group, "default_pg" if group == "0" else "dp"), "collective_seq_id": number, "p2p_seq_id": 0,
        "profiling_name": f"nccl:{name}", "input_sizes": [[size]], "input_dtypes": [dtype], "state": state, "is_p2p": False,
        "time_created_ns": int((1_764_115_200 + (at or number)) * 1e9),
    }  # fmt: skip


def derive(
    dumps: Mapping[int, Sequence[dict[str, Any]]], groups: Mapping[str, Sequence[int]]
) -> list[tuple[str, str, dict[str, str]]]:
    observations = []
    for rank, entries in dumps.items():
        config = {
            name: {"name": name, "desc": "default_pg" if name == "0" else "dp", "ranks": str(list(ranks))}
            for name, ranks in groups.items()
            if rank in ranks
        }
        data = pickle.dumps({"pg_config": config, "entries": entries}, 2)
        observations += [one for one in parse_document(f"nccl_trace_rank_{rank}", data) if isinstance(one, Observation)]
    found = list(flight_recorder.derive(Facts(observations)))
    assert all(proof for _, proof in found)
    return [(one.code, one.entity, dict(one.attributes)) for one, _ in found]


def codes(found: list[tuple[str, str, dict[str, str]]]) -> list[tuple[str, str]]:
    return [(code, entity) for code, entity, _ in found]


WAITING = [entry(4, DONE), entry(5, WAITS)]


def test_rank_that_never_entered() -> None:
    found = derive({0: WAITING, 1: [entry(4, DONE)], 2: WAITING, 3: WAITING}, {"0": range(4)})
    assert codes(found) == [("waiting", ""), ("not-entered", "rank:1")]
    assert (found[1][2]["agree"], found[1][2]["waiters"], found[1][2]["enqueued"]) == ("yes", "3", "4")


def test_rank_that_is_behind() -> None:
    found = derive({0: WAITING, 1: [entry(2, DONE), entry(3, WAITS)], 2: WAITING, 3: WAITING}, {"0": range(4)})
    assert codes(found) == [("waiting", ""), ("behind", "rank:1")]


def test_nobody_waits() -> None:
    assert derive({rank: [entry(4, DONE)] for rank in range(4)}, {"0": range(4)}) == []


def test_all_wait_together() -> None:
    assert codes(derive(dict.fromkeys(range(4), WAITING), {"0": range(4)})) == [("waiting", "")]


def test_missing_dump() -> None:
    found = derive({0: WAITING, 2: WAITING, 3: WAITING}, {"0": range(4)})
    assert codes(found) == [("waiting", ""), ("no-dump", "rank:1")]
    assert codes(derive({0: WAITING, 2: WAITING, 3: WAITING}, {"0": range(64)})) == [
        ("waiting", "")
    ]  # most were never fetched


def test_half_of_the_ranks_are_no_odd_ones() -> None:
    found = derive({rank: WAITING if rank % 2 else [entry(4, DONE)] for rank in range(16)}, {"0": range(16)})
    assert codes(found) == [("waiting", "")]


@pytest.mark.parametrize(
    ("own", "what"),
    [
        ([entry(4, DONE), entry(5, WAITS, name="broadcast")], "operation"),
        ([entry(4, DONE), entry(5, WAITS, size=4)], "size"),
        ([entry(4, DONE), entry(5, WAITS, dtype="Half")], "dtype"),
        ([entry(4, DONE), entry(5, WAITS, name="broadcast"), entry(6, WAITS)], "order"),
    ],
)
def test_mismatch_names_the_odd_rank(own: list[dict[str, Any]], what: str) -> None:
    usual = [*WAITING, entry(6, WAITS, name="broadcast")]
    found = derive({0: usual, 1: usual, 2: own, 3: usual}, {"0": range(4)})
    assert found[0][:2] == ("mismatch", "rank:2")
    assert (found[0][2]["what"], found[0][2]["even"], found[0][2]["sequence"]) == (what, "no", "5")


def test_sizes_may_differ_where_the_operation_lets_them() -> None:
    dumps = {rank: [entry(5, WAITS, name="all_to_allv", size=rank)] for rank in range(3)}
    assert codes(derive(dumps, {"0": range(3)})) == [("waiting", "")]


def test_draw_names_nobody_until_another_group_settles_it() -> None:
    odd = [entry(4, DONE, group="7"), entry(5, WAITS, group="7", size=4)]
    usual = [entry(4, DONE, group="7"), entry(5, WAITS, group="7")]
    drawn = derive({0: odd, 1: usual}, {"7": [0, 1]})
    assert drawn[0][:2] == ("mismatch", "") and drawn[0][2]["even"] == "yes"
    other = [entry(4, DONE, group="8"), entry(5, DONE, group="8")]
    settled = derive({0: odd, 1: usual, 2: other, 3: other}, {"7": [0, 1], "8": [2, 3]})
    assert settled[0][:2] == ("mismatch", "rank:0")


def test_who_waits_in_a_smaller_group_is_no_culprit_in_the_larger_one() -> None:
    small = [entry(4, DONE), entry(9, WAITS, group="7", at=50)]
    dumps = {
        0: small,
        1: [entry(4, DONE), entry(8, DONE, group="7")],
        2: small,
        3: WAITING,
        4: WAITING,
        5: WAITING,
        6: WAITING,
        7: WAITING,
    }
    found = derive(dumps, {"0": range(8), "7": [0, 1, 2]})
    assert {one for one in codes(found) if one[0] == "not-entered"} == {("not-entered", "rank:1")}


def test_groups_that_wait_for_each_other() -> None:
    first = [entry(1, DONE), entry(1, DONE, group="7"), entry(2, WAITS, at=9)]
    second = [entry(1, DONE), entry(1, DONE, group="7"), entry(2, WAITS, group="7", at=9)]
    found = derive({0: first, 1: first, 2: second, 3: second}, {"0": range(4), "7": range(4)})
    assert ("cycle", "") in codes(found)
    assert not any(code == "not-entered" for code, _ in codes(found))


def test_gpu_that_has_not_started_what_others_have() -> None:
    started = [entry(4, DONE), entry(5, "started")]
    found = derive({rank: WAITING if rank == 3 else started for rank in range(8)}, {"0": range(8)})
    assert codes(found) == [("waiting", ""), ("stopped", "rank:3")]


def test_point_to_point_operations_are_not_compared() -> None:
    send = entry(5, WAITS, name="send 0->1") | {"is_p2p": True, "p2p_seq_id": 3}
    receive = entry(5, WAITS, name="recv 1<-0") | {"is_p2p": True, "p2p_seq_id": 3}
    assert derive({0: [send], 1: [receive]}, {"0": [0, 1]}) == []
