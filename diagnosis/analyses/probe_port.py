"""Compare the port on which a server says that it listens with the port on which a probe is refused.

Yields `probe-port`, code `differs`, attributes probed, listening: a probe of a port that no server of these inputs opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived
from diagnosis.facts import Facts

_REFUSED = re.compile(r"probe failed: .*?dial tcp [\w.:\[\]-]*?:(?P<port>\d+): connect: connection refused")
_MOST = 200


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield one observation for each refused port when servers listen on other ports only."""
    listening = {
        one.attributes["port"]: one for one in facts.by_kind.get("serving-listen", ()) if one.attributes.get("port")
    }
    if not listening:
        return
    done: set[str] = set()
    for one in facts.by_kind.get("event", ())[:_MOST]:
        match = _REFUSED.search(one.text)
        if not match or match["port"] in listening or match["port"] in done:
            continue
        done.add(match["port"])
        attributes = {"probed": match["port"], "listening": ",".join(sorted(listening))}
        derived = Observation(
            one.source, "probe-port", one.input, one.line, one.line_end, one.text, code="differs", time=one.time, node=one.node,
            entity=one.entity, attributes=attributes,
        )  # fmt: skip
        yield derived, [one, *(listening[port] for port in sorted(listening))]
