"""Compare the address of the rendezvous with the addresses that the inputs show of the job's hosts.

Reads `rendezvous` facts that name an IPv4 address which was not reached, and `interface` facts with addresses. Yields
`master-address` (code unowned) where the addresses of two hosts or more are shown and none of them has it: a mistyped address,
one copied from an example, or one of a host that is gone. Network names and loopback addresses say nothing here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts

_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_MOST_CITED = 4


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield at most one `master-address` fact."""
    wanted = [
        one
        for one in facts.by_kind.get("rendezvous", ())
        if one.code in ("timed-out", "failed") and _IPV4.fullmatch(one.attributes.get("peer", ""))
    ]
    if not wanted:
        return
    owned: dict[str, set[str]] = defaultdict(set)
    shown: dict[str, Observation] = {}
    for one in facts.by_kind.get("interface", ()):
        for address in _IPV4.findall(one.attributes.get("addresses", "")):
            owned[one.node].add(address)
            if not address.startswith(("127.", "169.254.", "172.17.")) and one.code != "down":
                shown.setdefault(one.node, one)
    if len(shown) < 2:
        return
    known = set().union(*owned.values())
    for one in wanted:
        address = one.attributes["peer"]
        if address not in known and not address.startswith("127."):
            text = f"{address} is the address of none of {len(shown)} hosts"
            attributes = {"peer": address, "hosts": str(len(shown))}
            yield (
                derive_at(one, "master-address", "unowned", text, attributes, entity=one.entity),
                [one, *(shown[node] for node in sorted(shown)[:_MOST_CITED])],
            )
            return
