"""Which rank is the odd one in the dumps of PyTorch's Flight Recorder, by process group.

Facts in: `collective` recorded (one for each rank and group) and `collective-entry` of the recorder. Yields `collective`
facts: `not-entered` and `behind` on a rank as `collectives` does from the watchdog's lines (with `agree: yes` when all others
wait in the same operation), `stopped` on a rank whose GPU did not start what others began, `no-dump` on one whose dump is missing,
`mismatch` on the ranks that differ from most (what: operation, size, dtype or order), `cycle` where groups wait for each other,
and `waiting` for each group that waits. Who waits in another group is no culprit in the first: the culprit is looked for there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived
from diagnosis.analyses.ranks import expand_ranks, make_collective, order_rank
from diagnosis.analyses.recorder_peers import find_peer_waits
from diagnosis.facts import Facts
from diagnosis.figures import read_whole

_MOST_CITED = 6
_MOST_NAMED = 8  # ranks that are named one by one
_FEW = 8  # at most every eighth rank may be missing or odd; more of them say nothing
_UNEVEN = (
    "all_to_all",
    "gather_",
    "scatter",
    "coalesced",
    "barrier",
)  # sizes may differ from rank to rank, or say nothing
_GATHERS = ("nccl:gather", "gloo:gather", "xccl:gather", "hccl:gather")


@dataclass(slots=True)
class _Group:
    """One process group: what each rank's recorder says."""

    name: str
    members: list[str] = field(default_factory=list)
    states: dict[str, Observation] = field(default_factory=dict)  # by rank
    entries: dict[str, dict[int, Observation]] = field(
        default_factory=lambda: defaultdict(dict)
    )  # by rank, then number
    stuck: int = -1  # the number of the operation in which ranks wait

    def description(self) -> str:
        return next((one.attributes.get("description", "") for one in self.states.values()), "")

    def number(self, rank: str, name: str) -> int:
        number = read_whole(self.states[rank], name)
        return -1 if number is None else number

    def waiters(self) -> list[str]:
        return [rank for rank in self.states if self.number(rank, "waiting") == self.stuck >= 0]

    def outside(self) -> list[str]:
        """Return the ranks that have not come to the operation in which the others wait."""
        return [rank for rank in self.states if self.number(rank, "enqueued") < self.stuck]


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `collective` facts from the dumps."""
    groups = _read_groups(facts)
    mismatched = False
    for group in groups:
        alike = [one for one in groups if one is not group and one.description() == group.description() != ""]
        for found in _find_mismatch(group, alike):
            mismatched = True
            yield found
    if mismatched:
        yield from (one for group in groups if group.stuck >= 0 for one in _tell_waiting(group))
        return
    waits_in = _find_waits(groups)
    elsewhere = _Group("p2p")  # where those wait that stand in a send or a receive before any collective
    waits_in |= dict.fromkeys(find_peer_waits(facts), elsewhere)
    cycle = _find_cycle(groups, waits_in)
    if cycle:
        yield _tell_cycle(cycle, waits_in)
    for group in groups:
        if group.stuck < 0:
            continue
        yield from _tell_waiting(group)
        if group not in cycle:
            yield from _find_odd_rank(group, waits_in)
            yield from _find_missing(group)


def _read_groups(facts: Facts) -> list[_Group]:
    groups: dict[tuple[str, str], _Group] = {}
    dumps: set[str] = set()
    for one in facts.by_kind.get("collective", ()):
        if one.code != "recorded":
            continue
        said = one.attributes
        rank = said.get("rank") or f"?{one.input}"
        dumps.add(one.input)
        group = groups.setdefault((said.get("group", ""), said.get("ranks", "")), _Group(said.get("group", "")))
        group.members = group.members or expand_ranks(said.get("ranks", ""))
        known = group.states.get(rank)
        if known is None or (known.time or 0.0) <= (one.time or 0.0):
            group.states[rank] = one
    by_place = {(one.input, rank, group.name): group for group in groups.values() for rank, one in group.states.items()}
    for one in facts.by_kind.get("collective-entry", ()):
        if "p2p" in one.attributes:
            continue
        rank = one.attributes.get("rank") or f"?{one.input}"
        place = by_place.get((one.input, rank, one.attributes.get("group", "")))
        number = read_whole(one, "sequence")
        if place is not None and number is not None and number >= 0:
            place.entries[rank][number] = one
    for group in groups.values():
        group.stuck = max((group.number(rank, "waiting") for rank in group.states), default=-1)
        if len(group.states) < 2:
            group.stuck = -1
    return [groups[key] for key in sorted(groups)]


def _kind(entry: Observation) -> str:
    return entry.attributes.get("operation", "")


def _find_mismatch(group: _Group, alike: Sequence[_Group]) -> Iterator[Derived]:
    """Compare the ranks' entries of one number, the first in which they differ; groups `alike` settle a draw."""
    numbers = sorted({number for entries in group.entries.values() for number in entries})
    for number in numbers:
        at = {rank: entries[number] for rank, entries in group.entries.items() if number in entries}
        if len(at) < 2:
            continue
        for what, look in (("operation", _kind), ("size", _sizes), ("dtype", _dtypes)):
            looks = {rank: look(entry) for rank, entry in at.items()}
            if "" in looks.values() or len(set(looks.values())) < 2:
                continue
            others = [look(entry) for one in alike for own in one.entries.values() if (entry := own.get(number))]
            yield from _tell_mismatch(group, number, what, looks, at, others)
            return


def _sizes(entry: Observation) -> str:
    name = _kind(entry).lower()
    if any(word in name for word in _UNEVEN) or name.startswith(_GATHERS):
        return ""
    return entry.attributes.get("input_sizes", "")


def _dtypes(entry: Observation) -> str:
    name = _kind(entry).lower()
    return "" if "coalesced" in name or "barrier" in name else entry.attributes.get("input_dtypes", "")


def _tell_mismatch(
    group: _Group,
    number: int,
    what: str,
    looks: Mapping[str, str],
    at: Mapping[str, Observation],
    others: Sequence[str],
) -> Iterator[Derived]:
    counts, elsewhere = Counter(looks.values()), Counter(others)
    usual = min(counts, key=lambda value: (-counts[value], -elsewhere[value], value))
    odd = sorted((rank for rank, value in looks.items() if value != usual), key=order_rank)
    rival = max(((counts[value], elsewhere[value]) for value in counts if value != usual), default=(0, 0))
    even = (counts[usual], elsewhere[usual]) <= rival or (
        2 * counts[usual] <= len(looks) and not elsewhere[usual]
    )  # half and half: nobody is the odd one
    usual_rank = min((rank for rank, value in looks.items() if value == usual), key=order_rank)
    if what == "operation" and any(_is_swapped(group, number, rank, usual_rank) for rank in odd):
        what = "order"
    table = "; ".join(f"{_say_ranks([r for r in looks if looks[r] == value])}: {value}" for value in sorted(counts))
    named = odd[:1] if even or len(odd) > _MOST_NAMED else odd
    for rank in named:
        attributes = {
            "what": what,
            "sequence": str(number),
            "usual": usual,
            "own": looks[rank],
            "even": "yes" if even else "no",
        }
        text = f"group {group.name}, operation {number}: {what} differs ({table})"[:1000]
        proof = [at[rank], at[usual_rank]]
        yield make_collective("mismatch", at[rank], "" if even else rank, attributes, text, whole=even), proof


def _is_swapped(group: _Group, number: int, one: str, other: str) -> bool:
    """Tell whether each of two ranks issues soon what the other issues now."""
    left, right = group.entries[one], group.entries[other]
    soon = (number + 1, number + 2)
    return any(_kind(left[at]) == _kind(right[number]) for at in soon if at in left) and any(
        _kind(right[at]) == _kind(left[number]) for at in soon if at in right
    )


def _find_waits(groups: Sequence[_Group]) -> dict[str, _Group]:
    """Return in which group each rank waits: the one whose waiting entry it created first."""
    found: dict[str, tuple[float, _Group]] = {}
    for group in groups:
        for rank in group.states:
            number = group.number(rank, "waiting")
            entry = group.entries[rank].get(number) if number >= 0 else None
            if entry is None:
                continue
            time = entry.time or 0.0
            if rank not in found or time < found[rank][0]:
                found[rank] = (time, group)
    return {rank: group for rank, (_, group) in found.items()}


def _find_cycle(groups: Sequence[_Group], waits_in: Mapping[str, _Group]) -> list[_Group]:
    """Return groups each of which waits for a rank that waits in the next one, in a circle."""
    next_of: dict[str, list[_Group]] = {}
    for group in groups:
        if group.stuck >= 0:
            others = {
                other.name: other
                for rank in group.outside()
                if (other := waits_in.get(rank)) and other in groups and other is not group
            }
            next_of[group.name] = [others[name] for name in sorted(others)]
    by_name = {group.name: group for group in groups}
    for start in sorted(next_of):
        trail, seen = [start], {start}
        while True:
            following = [one.name for one in next_of.get(trail[-1], ()) if one.name == start or one.name not in seen]
            if not following:
                break
            if start in following:
                return [by_name[name] for name in trail]
            trail.append(following[0])
            seen.add(following[0])
    return []


def _tell_cycle(cycle: Sequence[_Group], waits_in: Mapping[str, _Group]) -> Derived:
    proof, said = [], []
    for group in cycle:
        for rank in group.outside():
            other = waits_in.get(rank)
            if other is not None and other in cycle and other is not group:
                entry = other.entries[rank].get(other.stuck)
                if entry is not None:
                    proof.append(entry)
                    said.append(f"rank {rank} is missing in group {group.name} and waits in group {other.name}")
                    break
    first = proof[0] if proof else next(iter(cycle[0].states.values()))
    attributes = {"groups": " ".join(group.name for group in cycle)}
    return make_collective("cycle", first, "", attributes, "; ".join(said)[:1000], whole=True), proof or [first]


def _tell_waiting(group: _Group) -> Iterator[Derived]:
    waiters = sorted(group.waiters(), key=order_rank)
    proof = [entry for rank in waiters[:_MOST_CITED] if (entry := group.entries[rank].get(group.stuck))]
    if len(waiters) > 1 and proof:
        attributes = {"sequence": str(group.stuck), "ranks": str(len(waiters)), "operation": _kind(proof[0])}
        text = f"group {group.name}: {len(waiters)} ranks wait in operation {group.stuck} ({_kind(proof[0])})"
        yield make_collective("waiting", proof[0], "", attributes, text, whole=True), proof


def _find_odd_rank(group: _Group, waits_in: Mapping[str, _Group]) -> Iterator[Derived]:
    waiters = sorted(group.waiters(), key=order_rank)
    outside = [rank for rank in group.outside() if waits_in.get(rank, group) is group]
    behind = [rank for rank in group.states if -1 < group.number(rank, "waiting") < group.stuck]
    agree = "yes" if len(waiters) >= 2 and len(waiters) + len(outside) == len(group.states) else "no"
    proof = [entry for rank in waiters[:2] if (entry := group.entries[rank].get(group.stuck))]
    for code, ranks in (("behind", behind), ("not-entered", [rank for rank in outside if rank not in behind])):
        most = max(1, len(group.states) // _FEW, 8 if len(group.states) >= 32 else 0)  # a host's share of a large group
        if len(ranks) > most:
            continue
        for rank in sorted(ranks, key=order_rank)[:_MOST_NAMED]:
            state = group.states[rank]
            attributes = {
                "sequence": str(group.stuck), "enqueued": str(group.number(rank, "enqueued")), "agree": agree,
                "completed": str(group.number(rank, "completed")), "waiters": str(len(waiters)), "recorder": "yes",
            }  # fmt: skip
            text = f"rank {rank} {code} in group {group.name}: {len(waiters)} ranks wait in operation {group.stuck}"
            yield (
                make_collective(code, proof[0] if proof else state, rank, attributes, text, place=state),
                [state, *proof],
            )
    yield from _find_stopped(group)


def _find_stopped(group: _Group) -> Iterator[Derived]:
    """Find who only scheduled what most others started: its stream stands still. Many dumps tell no starts at all."""
    at = {rank: entry for rank in group.waiters() if (entry := group.entries[rank].get(group.stuck))}
    started = [rank for rank, entry in at.items() if entry.code == "started"]
    held = [rank for rank, entry in at.items() if entry.code == "scheduled"]
    if not started or not held or len(held) > max(1, len(at) // _FEW):
        return
    for rank in sorted(held, key=order_rank):
        attributes = {"sequence": str(group.stuck), "started": str(len(started))}
        text = f"rank {rank} has not started operation {group.stuck} of group {group.name}, {len(started)} others have"
        yield (
            make_collective("stopped", at[rank], rank, attributes, text),
            [at[rank], *[at[one] for one in started[:2]]],
        )


def _find_missing(group: _Group) -> Iterator[Derived]:
    known = [rank for rank in group.states if not rank.startswith("?")]
    missing = [rank for rank in group.members if rank not in group.states]
    waiters = sorted(group.waiters(), key=order_rank)
    if len(known) < len(group.states) or len(known) < 3 or not waiters or group.outside():
        return
    if not missing or len(missing) > max(1, len(group.members) // _FEW):
        return
    proof = [entry for rank in waiters[:2] if (entry := group.entries[rank].get(group.stuck))]
    for rank in missing[:_MOST_NAMED]:
        attributes = {"sequence": str(group.stuck), "dumps": str(len(known)), "recorder": "yes"}
        text = f"no dump of rank {rank}; {len(known)} other ranks of group {group.name} have one and wait in operation {group.stuck}"
        first = proof[0] if proof else group.states[waiters[0]]
        yield make_collective("no-dump", first, rank, attributes, text, whole=True), proof or [first]


def _say_ranks(ranks: Sequence[str]) -> str:
    ordered = sorted(ranks, key=order_rank)
    return "rank " + ", ".join(ordered[:4]) + (f" and {len(ordered) - 4} more" if len(ordered) > 4 else "")
