"""Which hosts of a job use fewer network adapters than their peers, and which adapters or interfaces a variable names in vain.

A host that lost an adapter prints no warning: NCCL leaves out ports that are not active and goes on with the others. Reads
`adapters` (the ports that NCCL uses), `port`, `rdma-device`, `adapter`, `interface`, `gpu_topology` and `env`. Yields
`adapters-differ` (code `port-down` where the host's own tools show the missing port down, else `fewer`) on a host,
`named-in-vain` (code `adapter` or `interface`; the variable's value fits nothing on a host whose devices a tool lists;
`part`: yes while something else fits), and
`peers-across-hosts` where ranks that cannot be on one host talk as if they were, and `gpudirect-differs` on a host none of whose
channels uses GPUDirect RDMA while all of its peers' do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_whole

_SIZES = (2, 4, 8, 16)
_LEAST_CHANNELS = 2


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `adapters-differ`, `named-in-vain`, `peers-across-hosts` and `gpudirect-differs` facts."""
    yield from _differ(facts)
    yield from _find_vain(facts)
    yield from _across_hosts(facts)
    yield from _direct_differs(facts)


def _differ(facts: Facts) -> Iterator[Derived]:
    used: dict[str, dict[str, Observation]] = defaultdict(dict)
    for one in facts.by_kind.get("adapters", ()):
        for port in one.attributes.get("ports", "").split() if one.node else ():
            used[one.node].setdefault(port, one)
    if len(used) < 2:
        return
    most = max(len(ports) for ports in used.values())
    whole = sorted(node for node, ports in used.items() if len(ports) == most)
    fewer = sorted(node for node, ports in used.items() if len(ports) < most)
    if not fewer or len(whole) < len(fewer):
        return
    usual = Counter(port for node in whole for port in used[node])
    states = {
        (one.node, f"{one.attributes.get('nic', '')}:{one.attributes.get('port', '1')}"): one
        for one in facts.by_kind.get("port", ())
    }
    for node in fewer[:8]:
        missing = sorted(port for port, count in usual.items() if count == len(whole) and port not in used[node])
        known = [states[node, port] for port in missing if (node, port) in states]
        down = [one for one in known if one.code not in ("active", "up")]
        first = next(iter(used[node].values()))
        peer = next(iter(used[whole[0]].values()))
        named = (missing[0] if missing else "").partition(":")
        attributes = {
            "count": str(len(used[node])), "usual": str(most), "missing": " ".join(missing),
            **({"nic": named[0], "port": named[2]} if len(missing) == 1 else {}),
        }  # fmt: skip
        text = f"{node} uses {len(used[node])} adapters, its peers {most}; missing: {', '.join(missing) or '?'}"
        code, link = "port-down" if down else "fewer", f"link:{missing[0]}" if len(missing) == 1 else ""
        yield (
            derive_at(first, "adapters-differ", code, text, attributes, node=node, entity=link),
            [*down[:2], first, peer],
        )


def _find_vain(facts: Facts) -> Iterator[Derived]:
    adapters, interfaces, used = _listed_adapters(facts), _listed_interfaces(facts), _used_adapters(facts)
    seen: set[tuple[str, str, str]] = set()
    for one in facts.by_kind.get("env", ()):
        value = one.attributes.get("value", "")
        key = (one.node, one.code, value)
        if key in seen or not value or value.startswith("^"):
            continue
        seen.add(key)
        if one.code == "NCCL_IB_HCA":
            known = adapters.get(one.node) or adapters.get("", {})
            yield from _compare(one, value, known, "adapter", used.get(one.node, frozenset()))
        elif one.code in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME"):
            known = interfaces.get(one.node) or interfaces.get("", {})
            yield from _compare(one, value, known, "interface")


def _compare(
    one: Observation, value: str, known: Mapping[str, Observation], code: str, used: frozenset[str] = frozenset()
) -> Iterator[Derived]:
    if not known:
        return
    exact = value.startswith("=") or one.code.startswith("GLOO")
    names = [name for part in value.lstrip("=").split(",") if (name := part.partition(":")[0].strip())]
    there = {*known, *used}
    vain = [name for name in names if not any(other == name if exact else other.startswith(name) for other in there)]
    if not vain or (
        len(vain) < len(names) and len(known) < 2
    ):  # what lists one device may have been asked for that one
        return
    attributes = {
        "variable": one.code, "value": value, "vain": " ".join(vain), "known": " ".join(sorted(known)[:16]),
        "part": "yes" if len(vain) < len(names) else "no",
    }  # fmt: skip
    text = f"{one.code}={value}: no {code} {', '.join(vain)} on {one.node or 'the host'}, which has {', '.join(sorted(known)[:16])}"
    listing = next(iter(known.values()))
    yield derive_at(one, "named-in-vain", code, text, attributes), [one, listing]


def _listed_adapters(facts: Facts) -> Mapping[str, Mapping[str, Observation]]:
    """Return, by host, the adapters that a tool lists: what NCCL uses is already filtered by the variable."""
    found: dict[str, dict[str, Observation]] = defaultdict(dict)
    for one in (*facts.by_kind.get("port", ()), *facts.by_kind.get("rdma-device", ())):
        if name := one.attributes.get("nic", ""):
            found[one.node].setdefault(name, one)
    for one in facts.by_kind.get("gpu_topology", ()):
        for name in one.attributes.get("nics", "").split(","):
            if name and not name.startswith("NIC"):
                found[one.node].setdefault(name, one)
    return found


def _used_adapters(facts: Facts) -> Mapping[str, frozenset[str]]:
    """Return, by host, the adapters that NCCL says it uses."""
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for one in facts.by_kind.get("adapters", ()):
        found[one.node] |= {port.partition(":")[0] for port in one.attributes.get("ports", "").split()}
    return found


def _listed_interfaces(facts: Facts) -> Mapping[str, Mapping[str, Observation]]:
    """Return, by host, the interfaces that `ip` or `ifconfig` lists; one alone may be a single look-up."""
    found: dict[str, dict[str, Observation]] = defaultdict(dict)
    for one in facts.by_kind.get("interface", ()):
        if name := one.attributes.get("name", "") or one.attributes.get("nic", ""):
            found[one.node].setdefault(name.partition("@")[0], one)
    return {node: names for node, names in found.items() if len(names) > 1}


def _across_hosts(facts: Facts) -> Iterator[Derived]:
    """Find two ranks of unlike hosts that talk peer to peer: every rank sits on device rank % size, and the two are a host apart."""
    pairs = [one for one in facts.by_kind.get("channel", ()) if one.code == "P2P" and "left" in one.attributes]
    places: dict[int, set[int]] = defaultdict(set)
    for one in pairs:
        for side in ("left", "right"):
            rank, device = read_whole(one, side), read_whole(one, f"{side}_device")
            if rank is not None and device is not None:
                places[rank].add(device)
    size = max((device for devices in places.values() for device in devices), default=0) + 1
    if size not in _SIZES or any(devices != {rank % size} for rank, devices in places.items()):
        return
    for one in pairs:
        left, right = read_whole(one, "left"), read_whole(one, "right")
        if left is not None and right is not None and left // size != right // size:
            attributes = {"left": str(left), "right": str(right), "size": str(size)}
            text = f"ranks {left} and {right} of hosts with {size} GPUs talk as if they shared one"
            yield derive_at(one, "peers-across-hosts", "", text, attributes), [one]
            return


def _direct_differs(facts: Facts) -> Iterator[Derived]:
    channels: dict[str, dict[str, list[Observation]]] = defaultdict(lambda: defaultdict(list))
    for one in facts.by_kind.get("channel", ()):
        if one.node and one.code.startswith("IB") and "direct" in one.attributes:
            channels[one.node][one.attributes["direct"]].append(one)
    without = sorted(
        node for node, found in channels.items() if not found["yes"] and len(found["no"]) >= _LEAST_CHANNELS
    )
    direct = sorted(
        node for node, found in channels.items() if not found["no"] and len(found["yes"]) >= _LEAST_CHANNELS
    )
    if not without or len(without) > len(direct):
        return
    for node in without[:8]:
        first, peer = channels[node]["no"][0], channels[direct[0]]["yes"][0]
        text = f"no channel of {node} uses GPUDirect RDMA, those of {len(direct)} other hosts do"
        attributes = {"hosts": str(len(direct)), "channels": str(len(channels[node]["no"]))}
        yield derive_at(first, "gpudirect-differs", "", text, attributes, node=node), [first, peer]
