"""Find the host of a job that announces an address of another network than its peers, where connections fail.

Reads `interfaces` (what NCCL took for its bootstrap on each host) and `connect` (a peer's address that was not reached). Yields
`bootstrap-differs` for a host whose interface has another name than that of most others, or of its one peer, and an address in
another network, when that address is what was not reached. Names alone say nothing: hosts of one network may name it differently.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts

_IPV4 = re.compile(r"(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}")


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `bootstrap-differs` fact for each such host; code its interface, attributes interface, address and usual."""
    hosts: dict[str, Observation] = {}
    for one in facts.by_kind.get("interfaces", ()):
        if one.code == "bootstrap" and one.node and _network(one):
            hosts.setdefault(one.node, one)
    refused = {one.attributes.get("peer_host", ""): one for one in reversed(facts.by_kind.get("connect", ()))}
    if len(hosts) < 2 or not refused:
        return
    names = Counter(_first(one, "interfaces") for one in hosts.values())
    networks = Counter(_network(one) for one in hosts.values())
    for host, one in sorted(hosts.items()):
        failed = refused.get(_first(one, "addresses"))
        others = [
            other for name, other in sorted(hosts.items()) if _first(other, "interfaces") != _first(one, "interfaces")
        ]
        alone = 2 * names[_first(one, "interfaces")] <= len(hosts) and networks[_network(one)] == 1
        if failed is None or not others or not alone or failed.node == host:
            continue
        usual = Counter(_first(other, "interfaces") for other in others).most_common(1)[0][0]
        attributes = {"interface": _first(one, "interfaces"), "address": _first(one, "addresses"), "usual": usual}
        peer = next(other for other in others if _first(other, "interfaces") == usual)
        yield (
            derive_at(one, "bootstrap-differs", attributes["interface"], attributes=attributes, entity=one.entity),
            [one, failed, peer],
        )


def _first(one: Observation, name: str) -> str:
    return one.attributes.get(name, "").partition(" ")[0]


def _network(one: Observation) -> str:
    """Return the first three numbers of an IPv4 address, "" for any other."""
    match = _IPV4.fullmatch(_first(one, "addresses"))
    return match[1] if match else ""
