"""Who waits for whom in sends and receives between two ranks, from the dumps of PyTorch's Flight Recorder (pipelines).

Facts in: `collective` recorded and `collective-entry` with `p2p`. The recorder names such an operation `nccl:recv 0<-1` or
`nccl:send 1->0`, by ranks in the group. Yields `collective` facts as `flight_recorder` does: `not-entered` on the rank at the end of a
chain of waits, when it waits for nobody; `no-dump` when it left no dump; `cycle` where ranks wait for one another in a circle;
and `waiting`. A send and the receive that answers it are one transfer: those two wait for the network, not for each other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived
from diagnosis.analyses.ranks import expand_ranks, make_collective, order_rank
from diagnosis.facts import Facts
from diagnosis.figures import parse_whole

_PAIR = re.compile(r":(?P<way>send|recv) (?P<own>\d{1,7})(?:->|<-)(?P<peer>\d{1,7})$")
_MOST_CITED, _LEAST_DUMPS = 6, 3


@dataclass(frozen=True, slots=True)
class Wait:
    """A rank waits to send to a peer or to receive from it."""

    peer: str
    way: str
    entry: Observation


def find_peer_waits(facts: Facts) -> dict[str, Wait]:
    """Return what each rank waits in, where the first operation that it has not completed is a send or a receive."""
    lists = {
        (one.input, one.attributes.get("group", "")): one.attributes.get("ranks", "")
        for one in facts.by_kind.get("collective", ())
        if one.code == "recorded"
    }
    members: dict[str, list[str]] = {}
    first: dict[str, Observation] = {}
    for one in facts.by_kind.get("collective-entry", ()):
        rank = one.attributes.get("rank", "")
        if one.code != "completed" and rank and (rank not in first or _order(one) < _order(first[rank])):
            first[rank] = one
    found: dict[str, Wait] = {}
    for rank, one in first.items():
        pair = _PAIR.search(one.attributes.get("operation", "")) if "p2p" in one.attributes else None
        if pair is not None:
            text = lists.get((one.input, one.attributes.get("group", "")), "")
            known = members.setdefault(text, members.get(text) or expand_ranks(text))
            place = parse_whole(pair["peer"])
            named = known[place] if place is not None and place < len(known) else pair["peer"]
            found[rank] = Wait(named, pair["way"], one)
    return found


def _order(one: Observation) -> tuple[float, int]:
    return (one.time if one.time is not None else 0.0, one.line)


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `collective` facts for ranks that wait for a peer."""
    waits = find_peer_waits(facts)
    if not waits:
        return
    states: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("collective", ()):
        if one.code == "recorded" and one.attributes.get("rank"):
            states[one.attributes["rank"]].append(one)
    ordered = sorted(waits, key=order_rank)
    proof = [waits[rank].entry for rank in ordered[:_MOST_CITED]]
    if len(waits) > 1:
        text = f"{len(waits)} ranks wait for a peer"
        yield (
            make_collective("waiting", proof[0], "", {"ranks": str(len(waits)), "operation": "p2p"}, text, whole=True),
            proof,
        )
    ends: dict[str, list[str]] = defaultdict(list)
    for rank in ordered:
        trail = _follow(rank, waits)
        circle = trail[trail.index(trail[-1]) : -1] if trail[-1] in trail[:-1] else []
        if not circle:
            ends[trail[-1]].append(rank)
        elif rank == min(circle, key=order_rank) and not _is_transfer(circle, waits):
            said = "; ".join(f"rank {one} waits to {waits[one].way} with rank {waits[one].peer}" for one in circle[:8])
            entries = [waits[one].entry for one in circle[:_MOST_CITED]]
            yield (
                make_collective(
                    "cycle", entries[0], "", {"groups": "p2p", "ranks": " ".join(circle[:32])}, said, whole=True
                ),
                entries,
            )
    if len(ends) == 1:  # all that wait for somebody wait for the same rank in the end
        yield from _tell_end(*next(iter(ends.items())), waits, states)


def _follow(rank: str, waits: Mapping[str, Wait]) -> list[str]:
    trail, seen = [rank], {rank}
    while trail[-1] in waits:
        peer = waits[trail[-1]].peer
        trail.append(peer)
        if peer in seen:
            break
        seen.add(peer)
    return trail


def _is_transfer(circle: list[str], waits: Mapping[str, Wait]) -> bool:
    return len(circle) == 2 and waits[circle[0]].way != waits[circle[1]].way


def _tell_end(
    rank: str, waiters: list[str], waits: Mapping[str, Wait], states: Mapping[str, list[Observation]]
) -> Iterator[Derived]:
    proof = [waits[one].entry for one in waiters[:3]]
    said = f"{len(waiters)} ranks wait for rank {rank} in the end"
    attributes = {
        "agree": "yes" if len(waiters) > 1 else "no",
        "waiters": str(len(waiters)),
        "recorder": "yes",
        "sequence": "p2p",
    }
    if rank not in states:
        if len(states) >= _LEAST_DUMPS:
            yield make_collective("no-dump", proof[0], rank, attributes, f"{said}; it left no dump", whole=True), proof
        return
    idle = not any("waiting" in one.attributes for one in states[rank])
    if idle:
        state = states[rank][0]
        yield make_collective("not-entered", proof[0], rank, attributes, said, place=state), [state, *proof]
