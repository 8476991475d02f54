"""Which host the others name when connections to peers fail: the one that went first, seen by several.

Reads `closed-by-peer`, `connect` and `completion` facts that name a peer. Yields one `peer-named` fact (attributes `peer_host`,
`hosts`: how many name it) for the host that at least two others name, more than name any other; the earliest complaint breaks
a draw. Who printed a complaint is a survivor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts

_MOST_CITED = 4


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield at most one `peer-named` fact."""
    named: dict[str, dict[str, Observation]] = defaultdict(dict)  # by peer, who names it
    for kind in ("closed-by-peer", "connect", "completion"):
        for one in facts.by_kind.get(kind, ()):
            peer = facts.resolver.host(one.attributes.get("peer_host", ""))
            if peer and one.node and peer != one.node:
                known = named[peer].get(one.node)
                if known is None or _order(one) < _order(known):
                    named[peer][one.node] = one
    if not named:
        return
    ranked = sorted(named, key=lambda peer: (-len(named[peer]), min(_order(one) for one in named[peer].values()), peer))
    first = ranked[0]
    witnesses = sorted(named[first].values(), key=_order)
    if len(witnesses) < 2 or (
        len(ranked) > 1 and len(named[ranked[1]]) == len(witnesses) and witnesses[0].time is None
    ):
        return
    one = witnesses[0]
    text = f"{len(witnesses)} hosts name {first} as the peer that is gone or does not answer"
    attributes = {"peer_host": first, "hosts": str(len(witnesses))}
    yield derive_at(one, "peer-named", "", text, attributes, node=""), witnesses[:_MOST_CITED]


def _order(one: Observation) -> tuple[float, str, int]:
    return (one.time if one.time is not None else float("inf"), one.input, one.line)
