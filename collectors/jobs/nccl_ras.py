"""What NCCL's RAS threads say about a running job: the `ncclras` client, plain, verbose (-v) and as JSON (-f json).

Program: ncclras of NCCL 2.24 on, JSON from 2.28 (or `nc localhost 28028`). Documented in NCCL's user guide, "RAS"; the texts
stand in `src/ras/client_support.cc`. The ranks listed under MISMATCH are the outliers, those ahead or those behind, and not
by themselves the culprits; a communicator that is RUNNING and OK may hang all the same. Samples::

    Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
        #  in group  per comm  per node  per comm  in group
        0         1         4         8        32        32   RUNNING  MISMATCH
    #0-0 (fa93daea854b060b) MISMATCH
      Communicator ranks have different AllReduce operation counts
      31 ranks have launched up to operation 641
      Rank 12 has launched up to operation 640 -- GPU 4 managed by process 323032 on node 10.0.0.4
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from collectors.block import Reader, RefusedError
from collectors.identity import normalise_node
from collectors.notes import Note
from collectors.observation import Observation, Record, Relation
from collectors.regex import compile_later

SOURCE = "nccl-ras"
LAYERS = ("framework",)
SIGNATURES = (
    r"^Group +Comms +Nodes +Ranks +Ranks +Ranks +Status +Errors",
    r"^#\d+-\d+ \([0-9a-f]{16}\) [A-Z]",
    r'^ *"missing_ranks_count": \d+',
)
HEADS = (
    r"^Group +Comms +Nodes +Ranks +Ranks +Ranks +Status +Errors",
    r"^#\d+-\d+ \([0-9a-f]{16}\) (?:INCOMPLETE|ERROR|MISMATCH)",
    r"^ *\d+ job process(?:es are| is) considered dead \(unreachable via the RAS network\)",
    r"^ *Missing communicator data from \d+ job process",
)
MAGIC = (rb"\A\s*\{[\s\S]{0,400}\"communicators_count\"[\s\S]*\"missing_ranks_count\"",)
MOST_RANKS = 20_000

_COMMUNICATOR = compile_later(
    r"^ *(?P<group>\d+) +(?P<comms>\d+) +(?P<nodes>\d+) +(?P<per_node>[\d-]+) +(?P<ranks>\d+) +(?P<in_group>\d+) +"
    r"(?P<status>[A-Z]+(?:,[A-Z]+)*) +(?P<code>[A-Z]+(?:,[A-Z]+)*) *$"
)
_TITLE = compile_later(r"^#(?P<communicator>\d+-\d+) \((?P<hash>[0-9a-f]+)\) (?P<code>[A-Z]+)")
_COUNTS = compile_later(r"^ *Communicator ranks have different (?P<operation>\w+) operation counts")
_MANY = compile_later(
    r"^ *(?P<count>\d+) ranks have (?:launched up to operation (?P<launched>\d+)|(?P<none>not launched any)|status (?P<status>\w+))"
)
_RANK = compile_later(
    r"^ *Rank (?P<rank>\d+)(?: has launched up to operation (?P<launched>\d+)| has (?P<none>not launched any) operations| has status "
    r"(?P<status>[A-Z]+)| reported (?P<error>[^-]+?))? -- "
    r"(?:GPU (?P<gpu>\d+).*managed by process (?P<pid>\d+) on node (?P<host>\S+)|\[process information not found\])"
)
_PROCESS = compile_later(r"^ *Process (?P<pid>\d+) on node (?P<host>\S+) managing GPUs? (?P<gpus>[\d,]+)")
_BETWEEN = compile_later(
    r"^ *(?:$|#  in group|Missing communicator data|Communicator ranks have|\d+ ranks |Initialization error|"
    r"Asynchronous error|\[could not find|\d+ job process)"
)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `ras-communicator`, `ras-rank` and `ras-process` observations of one section of the client's text."""
    number, head = reader.number, reader.next() or ""
    title = _TITLE.match(head)
    state = {name: value for name, value in (title.groupdict() if title else {}).items() if name != "code"}
    code = title["code"] if title else "DEAD" if "considered dead" in head else "INCOMPLETE"
    if title:
        yield _observe(reader, number, head, "ras-communicator", code, state)
    most: dict[str, str] = {}
    last: dict[str, str] = {}  # what the ranks listed next have in common
    for _ in range(MOST_RANKS):
        text = reader.peek()
        if text is None or _TITLE.match(text):
            return
        row = _COMMUNICATOR.match(text)
        rank = _RANK.match(text)
        process = _PROCESS.match(text)
        many = _MANY.match(text)
        if counts := _COUNTS.match(text):
            state["operation"], most, last = counts["operation"], {}, {}
        if many:
            last = _named(many, peers=many["count"])
            most = last if int(last["peers"][:18]) > int(most.get("peers", "0")[:18]) else most
        if not (row or rank or process or _BETWEEN.match(text)):
            return
        reader.next()
        place = reader.number - 1
        if row:
            for one in row["code"].split(","):
                yield _observe(reader, place, text, "ras-communicator", one, row.groupdict() | {"code": ""})
        elif rank:
            own = last | _named(rank) if not (rank["launched"] or rank["none"] or rank["status"]) else _named(rank)
            yield from _tell_rank(reader, place, text, code, state | own | _compare(own, most))
        elif process:
            host = normalise_node(process["host"])
            yield _observe(
                reader, place, text, "ras-process", code, process.groupdict(), f"process:{process['pid']}", host
            )


def _compare(own: Mapping[str, str], most: Mapping[str, str]) -> dict[str, str]:
    """Return what most ranks have done, and whether this rank has done more or less."""
    usual, number = _launched(most), _launched(own)
    if usual is None or number is None:
        return {}
    return {"usual": str(usual), "way": "" if number == usual else "behind" if number < usual else "ahead"}


def _launched(said: Mapping[str, str]) -> int | None:
    return int(said["launched"][:18]) if "launched" in said else 0 if "none" in said else None


def _named(match: re.Match[str], **more: str) -> dict[str, str]:
    return {name: value for name, value in match.groupdict().items() if value} | more


def _tell_rank(reader: Reader, number: int, text: str, code: str, attributes: Mapping[str, str]) -> Iterator[Record]:
    host = normalise_node(attributes.get("host", ""))
    rank = attributes["rank"]
    yield _observe(reader, number, text, "ras-rank", attributes.get("way") or code, attributes, f"rank:{rank}", host)
    if host and attributes.get("communicator", "0-0") == "0-0":
        yield Relation(f"rank:{rank}", f"node:{host}", "on", reader.input, number, host)


def _observe(
    reader: Reader, number: int, text: str, kind: str, code: str, attributes: Mapping[str, Any], entity: str = "", node: str = "",
) -> Observation:  # fmt: skip
    kept = {name: str(value) for name, value in attributes.items() if value}
    return Observation(
        SOURCE,
        kind,
        reader.input,
        number,
        number,
        text.strip(),
        code=code,
        node=node,
        entity=entity,
        attributes=kept,
        raw=text,
    )


def parse_document(name: str, data: bytes) -> Iterator[Record]:
    """Read the JSON form: `ras-rank` for ranks that are missing, dead, in error or behind, `ras-communicator` for each."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RefusedError(Note.of("not-json")) from error
    communicators = value.get("communicators") if isinstance(value, dict) else None
    if not isinstance(communicators, list):
        raise RefusedError(Note.of("no-ras-status"))
    lines = _Places(data)
    for number, one in enumerate(communicators):
        if isinstance(one, dict):
            yield from _read_communicator(name, number, one, lines)


class _Places:
    """Where the communicators and ranks of a JSON status stand."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.decode("utf-8", "replace").split("\n")
        self._hashes = [number for number, line in enumerate(self._lines) if '"hash"' in line]

    def of(self, communicator: int, rank: Any = None) -> tuple[int, str]:
        """Return the line (from 1) of a communicator, or of a rank in it, and its text."""
        start = self._hashes[communicator] if communicator < len(self._hashes) else 0
        if rank is not None:
            wanted = compile_later(rf'"rank": ?{rank}\b')
            start = next((at for at in range(start, len(self._lines)) if wanted.search(self._lines[at])), start)
        return start + 1, self._lines[start][:2000].strip()


def _read_communicator(name: str, number: int, one: Mapping[str, Any], lines: _Places) -> Iterator[Record]:
    line, raw = lines.of(number)
    ranks = [row for row in one.get("ranks") or () if isinstance(row, dict)][:MOST_RANKS]
    missing = [row for row in one.get("missing_ranks") or () if isinstance(row, dict)][:MOST_RANKS]
    shared = {"communicator": str(number), "hash": str(one.get("hash", ""))[:40], "ranks": str(one.get("size", ""))}
    counts = {row.get("rank"): _counts(row) for row in ranks}
    operations = sorted({operation for row in counts.values() for operation in row})
    usual = {operation: _usual([row.get(operation, 0) for row in counts.values()]) for operation in operations}
    odd = [
        operation
        for operation in operations
        if any(row.get(operation, 0) != usual[operation] for row in counts.values())
    ]
    code = "INCOMPLETE" if missing else "MISMATCH" if odd else "OK"
    yield Observation(
        SOURCE,
        "ras-communicator",
        name,
        line,
        line,
        f"communicator {shared['hash']}: {code}",
        code=code,
        attributes=shared,
        raw=raw,
    )
    for row in missing:
        flags = row.get("status") if isinstance(row.get("status"), dict) else {}
        state = "DEAD" if flags and flags.get("considered_dead") else "INCOMPLETE"
        yield from _tell_row(name, number, row, state, shared, lines)
    for row in ranks:
        flags = row.get("status") if isinstance(row.get("status"), dict) else {}
        failed = flags and (flags.get("async_error") or flags.get("init_state")) not in (0, None, 7)
        if failed and flags:
            error = {"error": str(flags.get("async_error") or flags.get("init_state"))}
            yield from _tell_row(name, number, row, "ERROR", shared | error, lines)
        for operation in odd:
            own = counts[row.get("rank")].get(operation, 0)
            if own != usual[operation]:
                told = {"operation": operation, "launched": str(own), "usual": str(usual[operation])}
                yield from _tell_row(
                    name, number, row, "behind" if own < usual[operation] else "ahead", shared | told, lines
                )


def _counts(row: Mapping[str, Any]) -> dict[str, int]:
    counts = row.get("collective_counts")
    return {str(key): one for key, one in counts.items() if isinstance(one, int)} if isinstance(counts, dict) else {}


def _usual(values: list[int]) -> int:
    """Return the most frequent value; the larger one of equally frequent ones."""
    return max(set(values), key=lambda value: (values.count(value), value)) if values else 0


def _tell_row(
    name: str, number: int, row: Mapping[str, Any], code: str, attributes: Mapping[str, str], lines: _Places
) -> Iterator[Record]:
    rank, host = row.get("rank"), normalise_node(str(row.get("host", "")))
    if not isinstance(rank, int):
        return
    line, raw = lines.of(number, rank)
    host = "" if host == "unknown" else host
    kept = {key: one for key, one in ({**attributes, "rank": str(rank), "pid": str(row.get("pid", ""))}).items() if one}
    yield Observation(
        SOURCE, "ras-rank", name, line, line, f"rank {rank} on {host or '?'}: {code}", code=code, node=host, entity=f"rank:{rank}",
        attributes=kept, raw=raw,
    )  # fmt: skip
    if host and number == 0:
        yield Relation(f"rank:{rank}", f"node:{host}", "on", name, line, host)
