"""What the network of a cloud's machine type should give, and whether a job got all of its adapters.

Reads `instance` (the machine type that a network plug-in found) and `provider` (how many adapters it found there). Yields
`instance-network` for each host: code `whole` or `part` of the adapters that the type has, `unknown` where the plug-in does not
say how many it found; `gbps` of the whole type, `cards`, `found`.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_whole

_OLD_NAMES = {"P3dn": "p3dn.24xlarge", "P4d": "p4d.24xlarge", "P4de": "p4de.24xlarge"}  # aws-ofi-nccl up to 1.5


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield an `instance-network` observation for each host whose machine type is known."""
    hosts: dict[str, Observation] = {}
    for one in facts.by_kind.get("instance", ()):
        hosts.setdefault(one.node, one)
    counted: dict[str, Observation] = {}
    for one in facts.by_kind.get("provider", ()):
        counted.setdefault(one.node, one)
    for host, one in sorted(hosts.items()):
        known = facts.reference.instances.get(_OLD_NAMES.get(one.code, one.code))
        if known is None:
            continue
        provider = counted.get(host)
        found = read_whole(provider, "nics") if provider is not None else None
        code = "unknown" if found is None else "part" if found < known.cards else "whole"
        attributes = {"gbps": f"{known.gbps:g}", "cards": str(known.cards), **({"found": str(found)} if found else {})}
        yield (
            derive_at(one, "instance-network", code, attributes=attributes, entity=one.entity),
            [one, *([provider] if provider is not None else [])],
        )
