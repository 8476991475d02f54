"""What differs between the hosts of one job: NCCL versions, network modules; and whether a host's identity is used twice.

Yields `nccl-versions-differ`, `networks-differ` (hosts of one job use unlike NCCL networks; code: what the odd ones have) and
`duplicate-gpu-hosts` (code other-host where the two ranks of a "Duplicate GPU" message run on different hosts, same-host where
they share one).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield the differences between hosts."""
    yield from _differ(facts, "nccl-version", "nccl-versions-differ")
    yield from _differ(facts, "network", "networks-differ")
    yield from _duplicates(facts)


def _differ(facts: Facts, kind: str, name: str) -> Iterator[Derived]:
    values: dict[str, dict[str, dict[str, Observation]]] = defaultdict(lambda: defaultdict(dict))  # one of each input
    for one in facts.by_kind.get(kind, ()):
        if one.node and one.code:
            values[one.node][one.code].setdefault(one.input, one)
    sets = {node: frozenset(found) for node, found in values.items()}
    if len(set(sets.values())) < 2 or any(
        one <= other or other <= one for one in sets.values() for other in sets.values() if one != other
    ):
        return
    common = max(
        sorted(set(sets.values()), key=sorted),
        key=lambda one: (sum(1 for other in sets.values() if other == one), "Socket" not in one),
    )
    odd = sorted(node for node, found in sets.items() if found != common)
    order = [*odd, *sorted(node for node in sets if node not in odd)]
    proof = [one for node in order for said in values[node].values() for one in said.values()]
    where = odd[0] if len(odd) == 1 else ""
    alone = sorted({code for node in odd for code in values[node]}) if kind == "network" else []
    text = "; ".join(f"{node}: {', '.join(sorted(found))}" for node, found in sorted(sets.items())[:8])
    code = alone[0] if len(alone) == 1 else ""
    attributes = {"hosts": str(len(sets)), "kinds": str(len(set(sets.values())))}
    yield derive_at(proof[0], name, code, text, attributes, node=where), proof[:8]


def _duplicates(facts: Facts) -> Iterator[Derived]:
    hosts: dict[str, str] = {}
    for one in (*facts.by_kind.get("init", ()), *facts.by_kind.get("duplicate-gpu", ())):
        if one.node and one.attributes.get("rank"):
            hosts.setdefault(one.attributes["rank"], one.node)
    for code in ("other-host", "same-host"):
        found = [
            one for one in facts.by_kind.get("duplicate-gpu", ())
            if (other := hosts.get(one.attributes.get("other", "")))
            and (own := hosts.get(one.attributes.get("rank", "")) or one.node)
            and (other != own) == (code == "other-host")
        ]  # fmt: skip
        if found:
            first = found[0]
            text = f"ranks of one GPU message: {code}"
            yield (
                derive_at(first, "duplicate-gpu-hosts", code, text, first.attributes, entity=first.entity),
                found[:6],
            )
