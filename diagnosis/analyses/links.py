"""Whether a port went down once, is down now, or goes up and down; and whether many ports went down together.

Reads the kernel's `link` facts and NCCL's `async-event` facts. Yields `link-state` for each link that went down (code flapping,
bounced, down; attributes downs, recoveries, longest_s), `links-down-together` where links of several hosts went within seconds, and
`port-slower` for an active port at half the rate of its host's others or less.
A port that is down since it was found at boot and has never been up is left alone: unused ports look like that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_BOOT = 300.0  # seconds after the start of a host in which a link comes up for the first time
_TOGETHER = 15.0  # seconds within which downs of many links are one event
_SPAN = 12 * 3600.0  # seconds within which downs of one link belong together
_MOST_CITED = 24


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `link-state` for each link and `links-down-together` for each burst over several hosts."""
    events: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("link", ()):
        if one.entity:
            events[(one.node, facts.resolver.resolve(one.entity, one.node))].append(one)
    downs: list[tuple[str, str, Observation]] = []
    for (node, link), found in sorted(events.items()):
        ordered = sorted(found, key=_order)
        yield from _judge(node, link, ordered)
        downs += [(node, link, one) for one in _downs(ordered)]
    ports: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("async-event", ()):
        if one.code in ("port error", "port active"):
            entity = facts.resolver.resolve(one.entity, one.node) if one.entity else ""
            ports[(one.node, entity)].append(one)
    for (node, link), found in sorted(ports.items()):
        yield from _judge(node, link, sorted(found, key=_order))
    yield from _together(downs)
    yield from _slower((*facts.by_kind.get("port", ()), *facts.by_kind.get("interface", ())))


def _slower(ports: Sequence[Observation]) -> Iterator[Derived]:
    rates: dict[tuple[str, str], dict[str, tuple[float, Observation]]] = defaultdict(dict)
    for one in ports:
        if one.code in ("active", "up") and (gbps := read_number(one, "gbps")) is not None:
            layer = one.attributes.get("link_layer", "")
            if one.kind == "interface":  # a management port has another kind of name
                layer = re.sub(r"\d+", "0", one.attributes.get("name", ""))
            rates[(one.node, layer)][one.entity] = (gbps, one)
    for (node, _), found in sorted(rates.items()):
        usual = median(rate for rate, _ in found.values())
        for entity, (rate, one) in sorted(found.items()):
            if (
                len(found) >= 4
                and rate <= usual / 2
                and sum(1 for other, _ in found.values() if other >= usual) > len(found) / 2
            ):
                peer = next(other for value, other in found.values() if value >= usual)
                text = f"{entity}: {rate:g} Gb/s, its peers {usual:g}"
                attributes = {**one.attributes, "gbps": f"{rate:g}", "peers": f"{usual:g}"}
                yield derive_at(one, "port-slower", "", text, attributes, node=node, entity=entity), [one, peer]


def _order(one: Observation) -> tuple[float, str, int]:
    return (one.time if one.time is not None else read_number(one, "uptime") or 0.0, one.input, one.line)


def _is_down(one: Observation) -> bool:
    return one.code in ("down", "port error")


def _is_up(one: Observation) -> bool:
    return one.code in ("up", "port active")


def _downs(ordered: Sequence[Observation]) -> list[Observation]:
    """Return the first line of each time that the link went down; many processes print one event.

    A port without a cable says that it is down when the driver finds it, which is no loss of a link.
    """
    found: list[Observation] = []
    uptime = read_number(ordered[0], "uptime")
    up = uptime is None or uptime >= _BOOT
    for one in ordered:
        if one.code == "probe":
            up = False
        elif _is_up(one):
            up = True
        elif _is_down(one):
            if up:
                found.append(one)
            up = False
    return found


def _judge(node: str, link: str, ordered: Sequence[Observation]) -> Iterator[Derived]:
    downs = _downs(ordered)
    if not downs:
        return
    cited, recoveries, longest = [], 0, 0.0
    for number, down in enumerate(downs):
        end = downs[number + 1] if number + 1 < len(downs) else None
        later = [one for one in ordered if _order(one) > _order(down) and (end is None or _order(one) < _order(end))]
        up = next((one for one in later if _is_up(one)), None)
        cited += [down] if up is None else [down, up]
        if up is not None:
            recoveries += 1
            longest = max(longest, _order(up)[0] - _order(down)[0])
    last = next(one for one in reversed(ordered) if _is_up(one) or _is_down(one))
    known = [one.time for one in downs if one.time is not None]
    close = len(known) < 2 or any(later - earlier <= _SPAN for earlier, later in pairwise(known))
    code = "flapping" if len(downs) > 1 and recoveries and close else "down" if _is_down(last) else "bounced"
    attributes = {"downs": str(len(downs)), "recoveries": str(recoveries), "longest_s": f"{longest:.0f}"}
    first = downs[0]
    text = f"{link or 'a port'} of {node or 'the host'}: down {len(downs)} times, up again {recoveries} times"
    attributes |= {name: first.attributes.get(name, "") for name in ("nic", "port", "pcie_device")}
    yield derive_at(first, "link-state", code, text, attributes, node=node, entity=link), cited[:_MOST_CITED]


def _together(downs: Sequence[tuple[str, str, Observation]]) -> Iterator[Derived]:
    timed = sorted((one.time, node, link, one) for node, link, one in downs if one.time is not None and node)
    start = 0
    for end in range(len(timed)):
        while timed[end][0] - timed[start][0] > _TOGETHER:
            start += 1
        group = timed[start : end + 1]
        more = end + 1 < len(timed) and timed[end + 1][0] - timed[start][0] <= _TOGETHER
        if more or len({row[1] for row in group}) < 2 or len({row[2] for row in group}) < 3:
            continue
        first = group[0][3]
        hosts = sorted({row[1] for row in group})
        text = f"links of {len(hosts)} hosts down within seconds"
        attributes = {"links": str(len({row[2] for row in group})), "hosts": str(len(hosts))}
        yield (
            derive_at(first, "links-down-together", "", text, attributes, node=""),
            [row[3] for row in group][:_MOST_CITED],
        )
