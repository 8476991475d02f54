"""How long a file server was silent: from its first "not responding" to its "OK", by host and server.

Derives `outage` with code nfs, lustre, ceph or smb, `ended` (yes or no), `seconds` where both ends carry a time, and `brief`: yes
when it ended within half a minute, unknown when it ended and no time tells when. A silence that nothing ends is not brief.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_BRIEF = 30.0  # seconds: what a failover of a healthy server, or a busy second of it, takes


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield one `outage` observation for each silence, citing its first line and the one that ends it."""
    servers: dict[tuple[str, ...], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("file-server", ()):
        names = tuple(one.attributes.get(name, "") for name in ("system", "filesystem", "target"))
        servers[one.input, one.node, *names].append(one)
    for _, lines in sorted(servers.items()):
        start: Observation | None = None
        for one in sorted(lines, key=lambda line: line.line):
            if one.code == "silent":
                start = start or one
            elif start is not None:
                yield _make(start, one)
                start = None
        if start is not None:
            yield _make(start, None)


def _make(start: Observation, end: Observation | None) -> Derived:
    seconds = _measure(start, end) if end is not None else None
    brief = "no" if end is None else "unknown" if seconds is None else "yes" if seconds <= _BRIEF else "no"
    attributes = {name: value for name, value in start.attributes.items() if name != "uptime"}
    attributes |= {"ended": "no" if end is None else "yes", "brief": brief}
    if seconds is not None:
        attributes["seconds"] = f"{seconds:.0f}"
    derived = derive_at(start, "outage", attributes.get("system", ""), attributes=attributes, entity=start.entity)
    return derived, [start] if end is None else [start, end]


def _measure(start: Observation, end: Observation) -> float | None:
    if start.time is not None and end.time is not None:
        return end.time - start.time
    down, up = read_number(start, "uptime"), read_number(end, "uptime")
    return up - down if up is not None and down is not None else None
