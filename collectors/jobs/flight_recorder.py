"""PyTorch's Flight Recorder: the last collectives of one rank, as a pickle or as JSON.

Program: torch 2.2 to 2.12 (`TORCH_NCCL_TRACE_BUFFER_SIZE`, `TORCH_FR_BUFFER_SIZE`; files `nccl_trace_rank_7`, or any name).
Formats: torch/csrc/distributed/c10d/FlightRecorder*.hpp (`dump`, `dump_json`), versions 1.0 to 2.10; the tutorial "Flight
Recorder for Debugging Stuck Jobs". A pickle is read without torch and holds nothing but plain values (`plain_pickle`).
A dump has no lines: `line` is the number of the entry in a pickle, and the line of the entry in JSON. Sample::

    {"entries":[{"collective_seq_id":631,"input_dtypes":["Float"],"input_sizes":[[2560]],"is_p2p":false,"op_id":640,
    "process_group":["0","default_pg"],"profiling_name":"nccl:all_reduce","record_id":639,"state":"scheduled", ...}],
    "pg_config":{"0":{"desc":"default_pg","name":"0","ranks":"[0, 1]"}},"pg_status":{"0":{"last_completed_collective":"630", ...
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from collectors.block import Reader, RefusedError
from collectors.jobs import plain_pickle
from collectors.notes import Note
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "flight-recorder"
LAYERS = ("application", "framework")
MAGIC = (  # a pickle; JSON whose beginning names a field that only the recorder has
    rb"\A\x80[\x02-\x05]",
    rb"\A\s*[\[{][\s\S]*\"(?:collective_seq_id|p2p_seq_id|last_enqueued_collective|pg_status)\"",
)
HEADS = (
    r"^\{\"(?:comm_lib_version|entries|nccl_comm|nccl_version|pg_config)\":.*\"(?:pg_status|pg_config|collective_seq_id)\"",
)
SIGNATURES = (
    r"^\{\"(?:comm_lib_version|entries|nccl_comm|nccl_version|pg_config)\":.*\"(?:collective_seq_id|pg_status|ranks)\"",
)
MOST_ENTRIES = 200_000
_WAITING, _DONE = 8, 2  # entries of one group that become facts: the first that are not completed, the last that are
_FRAMES = 4

_NAMED_RANK = compile_later(
    r"rank[_-]?(\d{1,6})(?!\d)|(?:^|[_.-])(\d{1,6})(?:\.(?:pkl|pickle|json|bin|dump|trace))*$", re.I
)
_NUMBERS = compile_later(r"\d+")
_RECORD = re.compile(rb'"record_id"')


def parse_document(name: str, data: bytes) -> Iterator[Record]:
    """Yield `collective` observations (code recorded) for each process group of a dump, and `collective-entry` ones."""
    binary = data[:1] == b"\x80"
    value = plain_pickle.loads(data) if binary else _load_json(data)
    entries, groups, status, comms = _take_apart(value)
    lines = None if binary else _Lines(data)
    rank = _find_rank(name, groups, comms)
    yield from _Dump(name, rank, groups, lines).read(entries, status)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read a JSON dump that stands on one line among others."""
    number, text = reader.number, reader.next() or ""
    try:
        records = list(parse_document(reader.input, text.encode()))
    except RefusedError:
        return
    for one in records:
        if isinstance(one, Observation):
            yield replace(one, line=number, line_end=number)


def _load_json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except RecursionError as error:
        raise RefusedError(Note.of("nested-too-deep")) from error
    except ValueError as error:
        raise RefusedError(Note.of("not-json")) from error


def _take_apart(value: Any) -> tuple[list[Mapping[str, Any]], dict[str, Mapping[str, Any]], dict[str, Any], Any]:
    """Return entries, groups by name, status by id and communicators of a dump; raises RefusedError when it is none."""
    whole = value if isinstance(value, dict) else {"entries": value}
    entries = whole.get("entries")
    if not isinstance(entries, list | tuple | type(None)):
        raise RefusedError(Note.of("dump-without-list"))
    kept: list[Mapping[str, Any]]
    kept = [one for one in entries or () if isinstance(one, dict) and "profiling_name" in one and "state" in one]
    config = whole.get("pg_config")
    groups: dict[str, Mapping[str, Any]] = {}
    if isinstance(config, dict):
        groups = {str(key): one for key, one in config.items() if isinstance(one, dict)}
    if not kept and not groups:
        raise RefusedError(Note.of("dump-empty"))
    if len(kept) > MOST_ENTRIES:
        raise RefusedError(Note.of("too-many-entries", most=MOST_ENTRIES))
    status = whole.get("pg_status")
    return kept, groups, status if isinstance(status, dict) else {}, whole.get("nccl_comm")


class _Lines:
    """Where the entries of a JSON dump stand."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._places = [match.start() for match in _RECORD.finditer(data)]

    def of(self, index: int) -> tuple[int, str]:
        """Return the line of the entry with this place in the list, and what stands there."""
        if index >= len(self._places):
            return 1, ""
        at = self._places[index]
        start, end = self._data.rfind(b"\n", 0, at) + 1, self._data.find(b"\n", at)
        end = end if end >= 0 else len(self._data)
        if end - start > 2000:  # a dump on one line: the entry alone
            before = self._places[index - 1] if index else start
            first = self._data.rfind(b'"collective_seq_id"', max(start, before, at - 3000), at)
            start = first if first >= 0 else at
            closing = self._data.find(b"}", at, end)
            end = min(end, closing + 1 if closing >= 0 else end, start + 4000)
        return self._data.count(b"\n", 0, at) + 1, self._data[start:end].decode("utf-8", "replace").strip()


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value) else None


def _ranks_of(group: Mapping[str, Any]) -> tuple[int, ...]:
    ranks = group.get("ranks")
    if isinstance(ranks, str):
        return _parse_ranks(ranks)
    return tuple(one for one in ranks or () if isinstance(one, int)) if isinstance(ranks, list | tuple) else ()


@lru_cache(maxsize=64)
def _parse_ranks(text: str) -> tuple[int, ...]:
    """Return the ranks in `[0, 1, 2]`: every dump of a job repeats the same lists, of thousands of ranks."""
    return tuple(int(one) for one in _NUMBERS.findall(text) if len(one) < 8)


@lru_cache(maxsize=64)
def _as_set(ranks: tuple[int, ...]) -> frozenset[int]:
    return frozenset(ranks)


def _find_rank(name: str, groups: Mapping[str, Mapping[str, Any]], comms: Any) -> str:
    """Return the rank that a dump is of, by its name or by what it holds, "" when nothing tells."""
    members = sorted({_as_set(ranks) for one in groups.values() if (ranks := _ranks_of(one))}, key=len)
    possible = frozenset.intersection(*members) if members else frozenset()
    for match in reversed(list(_NAMED_RANK.finditer(re.split(r"[/\\]", name)[-1]))):
        rank = int((match[1] or match[2])[:9])
        if not possible or rank in possible:
            return str(rank)
    if len(possible) == 1:
        return str(next(iter(possible)))
    widest = max((len(one) for one in members), default=0)
    known = {
        _number(one.get("rank"))
        for one in (comms.values() if isinstance(comms, dict) else ())
        if isinstance(one, dict) and widest and _number(one.get("nRanks", one.get("n_ranks"))) == widest
    }
    rank_known = next(iter(known), None)
    return str(rank_known) if len(known) == 1 and rank_known is not None else ""


@lru_cache(maxsize=64)
def shorten_ranks(ranks: tuple[int, ...]) -> str:
    """Return ranks as `first-last/step` where they are evenly spaced, else one by one.

    >>> shorten_ranks((0, 1, 2, 3)), shorten_ranks((0, 8, 16)), shorten_ranks((3,)), shorten_ranks((0, 1, 5))
    ('0-3/1', '0-16/8', '3', '0,1,5')
    """
    ordered = sorted(set(ranks))
    if len(ordered) > 2 and len({right - left for left, right in pairwise(ordered)}) == 1:
        return f"{ordered[0]}-{ordered[-1]}/{ordered[1] - ordered[0]}"
    return ",".join(str(one) for one in ordered)


class _Dump:
    """One rank's dump, on its way to facts."""

    def __init__(self, name: str, rank: str, groups: Mapping[str, Mapping[str, Any]], lines: _Lines | None) -> None:
        self.name, self.rank, self.groups, self.lines = name, rank, groups, lines
        self.whole = {"rank": rank} if rank else {"dump": name}

    def read(self, entries: Sequence[Mapping[str, Any]], status: Mapping[str, Any]) -> Iterator[Record]:
        by_group: dict[str, list[tuple[int, Mapping[str, Any]]]] = defaultdict(list)
        ids: dict[str, str] = {}
        for index, entry in enumerate(entries):
            group = self._group(entry)
            ids[str(entry.get("pg_id", ""))] = group
            by_group[group].append((index, entry))
        for group in sorted({*by_group, *self.groups}):
            found = by_group.get(group, [])
            own = next((status[one] for one, named in ids.items() if named == group and one in status), None)
            yield self._sum_up(group, found, own if isinstance(own, dict) else {})
            waiting = [one for one in found if one[1]["state"] != "completed"]
            done = [one for one in found if one[1]["state"] == "completed"]
            for index, entry in [*done[-_DONE:], *waiting[:_WAITING]]:
                yield self._tell(group, index, entry)

    def _group(self, entry: Mapping[str, Any]) -> str:
        named = entry.get("process_group", entry.get("pg_name", entry.get("pg_id", "")))
        return str(named[0] if isinstance(named, list | tuple) and named else named)

    def _sum_up(
        self, group: str, found: Sequence[tuple[int, Mapping[str, Any]]], own: Mapping[str, Any]
    ) -> Observation:
        collectives = [(index, one) for index, one in found if one.get("is_p2p") is not True]
        numbers = {
            state: max((_sequence(one) for _, one in collectives if one["state"] in states), default=-1)
            for state, states in (
                ("enqueued", ("scheduled", "started", "completed")),
                ("started", ("started", "completed")),
                ("completed", ("completed",)),
            )
        }
        for state, number in list(numbers.items()):
            told = _number(own.get(f"last_{state}_collective"))
            if told is not None:
                numbers[state] = max(number, told)
        config = self.groups.get(group, {})
        ranks = _ranks_of(config)
        waiting = next((one for one in collectives if one[1]["state"] != "completed"), None)
        at = waiting or (found[-1] if found else None)
        attributes = self.whole | {
            "group": group, "description": str(config.get("desc", ""))[:200], "ranks": shorten_ranks(ranks), "size": str(len(ranks)),
            **{state: str(number) for state, number in numbers.items() if number >= 0},
        }  # fmt: skip
        if waiting:
            attributes["waiting"] = str(_sequence(waiting[1]))
        text = f"rank {self.rank or '?'}, group {group}: " + ", ".join(
            f"last {state} {number}" for state, number in numbers.items() if number >= 0
        )
        line, raw = self._place(at[0], at[1]) if at else (1, text)
        return Observation(
            SOURCE, "collective", self.name, line, line, text, code="recorded", time=_time(at[1]) if at else None,
            entity=f"rank:{self.rank}" if self.rank else "", attributes={key: one for key, one in attributes.items() if one}, raw=raw,
        )  # fmt: skip

    def _tell(self, group: str, index: int, entry: Mapping[str, Any]) -> Observation:
        line, raw = self._place(index, entry)
        p2p = entry.get("is_p2p") is True
        attributes = self.whole | {
            "group": group, "sequence": str(_sequence(entry)), "operation": str(entry["profiling_name"])[:100],
            "input_sizes": _write(entry.get("input_sizes")), "output_sizes": _write(entry.get("output_sizes")),
            "input_dtypes": _write(entry.get("input_dtypes")), "output_dtypes": _write(entry.get("output_dtypes")),
            "operation_id": str(entry.get("op_id", "")), "timeout_ms": str(entry.get("timeout_ms", "")),
            "frames": " < ".join(_frames(entry.get("frames"))),
        }  # fmt: skip
        if p2p:
            attributes["p2p"] = str(entry.get("p2p_seq_id", ""))
        return Observation(
            SOURCE, "collective-entry", self.name, line, line, self._render(index, entry), code=str(entry["state"])[:20],
            time=_time(entry), entity=f"rank:{self.rank}" if self.rank else "",
            attributes={key: one for key, one in attributes.items() if one}, raw=raw,
        )  # fmt: skip

    def _place(self, index: int, entry: Mapping[str, Any]) -> tuple[int, str]:
        if self.lines is not None:
            return self.lines.of(index)
        return index + 1, self._render(index, entry)

    def _render(self, index: int, entry: Mapping[str, Any]) -> str:
        """Write an entry of a pickle as one line."""
        return (
            f"entry {index + 1}: rank {self.rank or '?'} {str(entry['profiling_name'])[:100]} group {self._group(entry)} "
            f"seq {_sequence(entry)} {_write(entry.get('input_sizes'))} {_write(entry.get('input_dtypes'))} "
            f"-> {_write(entry.get('output_sizes'))} {entry['state']}"
        )


def _sequence(entry: Mapping[str, Any]) -> int:
    """Return an entry's number in its group (`seq_id` up to torch 2.3)."""
    name = "p2p_seq_id" if entry.get("is_p2p") is True else "collective_seq_id"
    number = _number(entry.get(name, entry.get("seq_id")))
    return number if number is not None else -1


def _time(entry: Mapping[str, Any]) -> float | None:
    created = _number(entry.get("time_created_ns"))
    return created / 1e9 if created and 0 < created < 2**62 else None


def _write(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_write(one) for one in value[:16]) + (", ..." if len(value) > 16 else "") + "]"
    return str(value)[:100] if value is not None else ""


def _frames(frames: Any) -> list[str]:
    """Return the innermost functions outside torch."""
    found: list[str] = []
    for one in frames if isinstance(frames, list | tuple) else ():
        if not isinstance(one, dict) or "torch/" in str(one.get("filename", "")) or len(found) == _FRAMES:
            continue
        found.append(f"{one.get('name')} ({one.get('filename')}:{one.get('line')})"[:200])
    return found
