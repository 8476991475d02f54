"""Which rank a collective waited for: order ranks by the last operation that they began and completed, in each process group.

Reads PyTorch's `progress` and `watchdog-timeout` facts. Yields `collective` facts: code `not-entered` on a rank that never began
the operation in which others timed out, `behind` on one that completed fewer, `all-entered` for a group where every rank that
reports waits in the same operation, `differs` where ranks wait in unlike operations of one number, `apart` where they wait in
operations of one kind whose numbers differ by more than one; `absent` on a rank that printed nothing while nearly all others
report. Ranks that print timeouts are those who waited.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_ranks, read_whole

_MOST_CITED = 8
_TOGETHER = frozenset(
    {"ALLREDUCE", "ALLGATHER", "_ALLGATHER_BASE", "REDUCE_SCATTER", "_REDUCE_SCATTER_BASE", "ALLTOALL", "ALLTOALL_BASE"}
)
_ONE_WAY = frozenset({"BROADCAST", "_BROADCAST_OOP", "REDUCE", "SEND", "RECV"})
_FARTHEST = 64  # operations; numbers farther apart rather belong to other process groups


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `collective` facts for each process group."""
    timeouts = facts.by_kind.get("watchdog-timeout", [])
    groups: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("progress", ()):
        groups[one.attributes.get("group", "")].append(one)
    for _, found in sorted(groups.items()):
        yield from _compare(found, timeouts)
    yield from _differ(timeouts)
    yield from _apart(timeouts)
    yield from _absent(timeouts, facts)


def _compare(found: Sequence[Observation], timeouts: Sequence[Observation]) -> Iterator[Derived]:
    last: dict[str, Observation] = {}
    for one in found:
        rank = one.attributes.get("rank", "")
        if rank and (
            rank not in last or (read_whole(one, "completed") or 0) >= (read_whole(last[rank], "completed") or 0)
        ):
            last[rank] = one
    rows = []
    for rank, one in sorted(last.items()):
        enqueued, completed = read_whole(one, "enqueued"), read_whole(one, "completed")
        if enqueued is not None and completed is not None:
            rows.append((rank, enqueued, completed))
    waiting = {rank: completed + 1 for rank, enqueued, completed in rows if enqueued > completed}
    if not waiting:
        return
    stuck = max(waiting.values())
    waiters = [last[rank] for rank, at in waiting.items() if at == stuck]
    proof = [*waiters[:2], *[one for one in timeouts if one.attributes.get("sequence") == str(stuck)][:2]]
    odd = False
    one_way = {one.attributes.get("rank", "") for one in timeouts if one.code in _ONE_WAY}
    for rank, enqueued, completed in rows:
        if enqueued < stuck and enqueued == completed and completed >= stuck - 3:
            odd = True
            yield (
                _make("not-entered", last[rank], {"sequence": str(stuck), "enqueued": str(enqueued)}),
                [last[rank], *proof],
            )
        elif completed + 1 < stuck:
            odd = True
            if rank in one_way:  # the source of a broadcast goes on without waiting for those whom it serves
                continue
            yield (
                _make("behind", last[rank], {"sequence": str(stuck), "completed": str(completed)}),
                [last[rank], *proof],
            )
    if not odd and len(waiting) == len(rows) > 1:
        yield (
            _make("all-entered", waiters[0], {"sequence": str(stuck), "ranks": str(len(rows))}, whole=True),
            waiters[:_MOST_CITED],
        )


def _differ(timeouts: Sequence[Observation]) -> Iterator[Derived]:
    by_sequence: dict[str, dict[tuple[str, str, str], Observation]] = defaultdict(dict)
    for one in timeouts:
        shape = (
            one.attributes.get("operation", ""),
            one.attributes.get("numel_in", ""),
            one.attributes.get("numel_out", ""),
        )
        by_sequence[one.attributes.get("sequence", "")].setdefault(shape, one)
    for sequence, shapes in sorted(by_sequence.items()):
        ranks = {one.attributes.get("rank", "") for one in shapes.values()}
        if sequence and len(shapes) > 1 and len(ranks) > 1:
            operations = " ".join(sorted({shape[0] for shape in shapes}))
            first = next(iter(shapes.values()))
            attributes = {"sequence": sequence, "operations": operations, "kinds": str(len(set(operations.split())))}
            yield _make("differs", first, attributes, whole=True), list(shapes.values())[:_MOST_CITED]


def _apart(timeouts: Sequence[Observation]) -> Iterator[Derived]:
    """No rank ends such an operation before all have joined it, so ranks of one group wait in the same or in neighbouring ones.

    Up to torch 2.1 nothing names the group: the numbers are compared only while each rank reports one time-out.
    """
    by_operation: dict[tuple[str, str], dict[str, Observation]] = defaultdict(dict)
    for one in timeouts:
        rank, place = one.attributes.get("rank", ""), one.attributes.get("group_rank", "")
        if not rank or place not in ("", rank):
            return
        key = (one.code, one.attributes.get("timeout_ms", ""))
        known = by_operation[key].setdefault(rank, one)
        if known.attributes.get("sequence") != one.attributes.get("sequence"):
            return
    for (operation, _), ranks in sorted(by_operation.items()):
        numbers = {rank: number for rank, one in ranks.items() if (number := read_whole(one, "sequence")) is not None}
        if operation not in _TOGETHER or len(numbers) < 2:
            continue
        apart = max(numbers.values()) - min(numbers.values())
        if 2 <= apart <= _FARTHEST:
            ordered = [ranks[rank] for rank in sorted(numbers, key=lambda rank: (-numbers[rank], rank))]
            attributes = {"operation": operation, "apart": str(apart)}
            yield _make("apart", ordered[0], attributes, whole=True), [*ordered[: _MOST_CITED - 1], ordered[-1]]


def _absent(timeouts: Sequence[Observation], facts: Facts) -> Iterator[Derived]:
    sizes = [ranks for one in facts.by_kind.get("init", ()) if (ranks := read_ranks(one, "ranks")) is not None]
    said = {one.attributes["rank"] for one in timeouts if one.attributes.get("rank", "").isdigit()}
    said |= {
        one.attributes["rank"] for one in facts.by_kind.get("progress", ()) if one.attributes.get("rank", "").isdigit()
    }
    size = max(sizes, default=0)
    missing = [rank for rank in range(size) if str(rank) not in said]
    if size < 4 or not said or len(missing) > max(1, size // 16) or not missing:
        return
    hosts = {one.upper: one.lower[5:] for one in facts.relations if one.how == "on" and one.lower.startswith("node:")}
    for rank in missing:
        first = timeouts[0] if timeouts else facts.by_kind["progress"][0]
        host = facts.resolver.host(hosts.get(f"rank:{rank}", ""))
        text = f"rank {rank} reports nothing, {len(said)} others do"
        attributes = {"rank": str(rank), "peer_host": host}
        yield (
            derive_at(first, "collective", "absent", text, attributes, node="", entity=f"rank:{rank}"),
            list(timeouts[:3]) or [first],
        )


def _make(code: str, one: Observation, attributes: dict[str, str], *, whole: bool = False) -> Observation:
    rank = "" if whole else one.attributes.get("rank", "")
    text = f"rank {rank or 'all'} {code}: " + ", ".join(f"{name} {value}" for name, value in attributes.items())
    return derive_at(
        one, "collective", code, text, {**attributes, "rank": rank}, node="" if whole else None,
        entity=f"rank:{rank}" if rank else "",
    )  # fmt: skip
