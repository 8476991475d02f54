"""What a collective reached against what this topology should give, from the rows of nccl-tests.

Reads `test-device`, `test-row` and `test-start`, and, for the network, `adapter`, `graph`, `channel` and `interfaces` of NCCL,
`port` of the verbs tools and `instance-network`. Yields one `bandwidth` fact for each test: code `low`, `as-expected` or
`unknown` (nothing says what to expect), with `busbw` at the largest message, `expected`, `share`, `bound` (nvlink or network),
`hosts`, `ranks`, `operation`.

Expected is what a ring gives, as in NCCL's own model (`src/graph/tuning.cc`: channels x speed of the slowest hop, one direction;
per NVLink 20.0 GB/s on SM70 and SM80, 20.6 on SM90, 40.1 on SM100, `src/graph/topo.h`): measured rings reach 0.94 to 0.99 of
it inside a host and about 0.92 of the adapters' rates between hosts. NVLS lifts all-reduce above a ring, so that
a run without it is as expected. Small messages say nothing: only those of 1 GiB and more count, and of 16 MiB a rank.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import parse_whole, read_number, read_ranks, read_whole

_LEAST, _LEAST_PER_RANK = 1 << 30, 16 << 20  # bytes of the smallest message that is judged
# of the expected; clouds with their own transports reach 0.6 to 0.7 between hosts
_LOW = {"nvlink": 0.8, "network": 0.6, "sockets": 1.0}
_LEAST_GPUS, _BOARD = (
    4,
    8,
)  # fewer than a whole board may stand on one of four, a mesh, where rings find two thirds of the links
_MESH = 2 / 3
_ONE_ADAPTER = 12.5  # GB/s of one of 100 Gb/s, less than which no job on such GPUs is meant to have
_LINKS: tuple[
    tuple[str, int, float], ...
] = (  # boards on NVSwitch or a full mesh: NVLinks of a GPU, GB/s of a link one way
    (r"B[23]00|HGX B\d00", 18, 40.1),
    (r"H800", 8, 20.6),
    (r"A800", 8, 20.0),
    (r"H100|H200|H20\b", 18, 20.6),
    (r"A100", 12, 20.0),
)
_NO_BOARD = re.compile(r"PCIe?\b|NVL\b|MIG|GH200|GB\d|vGPU|GRID", re.I)  # cards, bridges, racks: other topologies
_TOLERANCE = 0.03
_SEVERAL = 4  # adapters of a host from which using one alone is odd
_MOST_CITED = 2  # beside the row


@dataclass(slots=True)
class _Test:
    """One run of a test: its devices and rows."""

    devices: list[Observation]
    rows: list[Observation]
    name: str = ""
    said: dict[str, str] = field(default_factory=dict)  # what the test prints of itself: ranks, model

    def hosts(self) -> list[str]:
        """Return the hosts; "" for the one of a test that names none and needs no more than one."""
        found = sorted({one.node for one in self.devices})
        return found or ([""] if 0 < self.ranks() <= _BOARD else [])

    def ranks(self) -> int:
        """Return how many GPUs took part; lines of devices may be missing in an excerpt."""
        named = [rank + 1 for one in self.devices if (rank := read_ranks(one, "rank")) is not None]
        return max(named, default=parse_whole(self.said.get("ranks", "")) or 0)

    def model(self) -> str:
        models = {one.attributes.get("model", "") for one in self.devices} or {self.said.get("model", "")}
        return next(iter(models)) if len(models) == 1 else ""


def read_size(row: Observation) -> int:
    """Return the bytes of the message of a `test-row`, 0 for a size that none has."""
    return read_whole(row, "size") or 0


def read_busbw(row: Observation) -> float:
    """Return the bus bandwidth of a `test-row` in GB/s, the better of out of place and in place."""
    return max(read_number(row, "busbw") or 0.0, read_number(row, "in_place") or 0.0)


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `bandwidth` fact for each test with a message large enough."""
    for test in _read_tests(facts):
        largest = max(test.rows, key=read_size)
        size, ranks = read_size(largest), test.ranks()
        if size < max(_LEAST, _LEAST_PER_RANK * ranks):
            continue
        operation = _find_operation(test, largest)
        expected, bound, proof = _expect(test, operation, facts)
        busbw = read_busbw(largest)
        share = busbw / expected if expected else 0.0
        code = "unknown" if not expected else "low" if share < _LOW[bound] else "as-expected"
        attributes = {
            "busbw": f"{busbw:.2f}", "size": str(size), "operation": operation,
            "ranks": str(ranks or ""), "hosts": str(len(test.hosts()) or ""),
            "model": test.model(), "bound": bound, "used": _count_used(test.hosts(), facts),
            **({"expected": f"{expected:.0f}", "share": f"{share:.2f}"} if expected else {}),
        }  # fmt: skip
        text = f"{operation} of {size >> 20} MiB over {ranks} GPUs: {busbw:g} GB/s" + (
            f", {expected:.0f} expected of the {bound}" if expected else ""
        )
        hosts = test.hosts()
        where = hosts[0] if len(hosts) == 1 else ""
        yield (
            derive_at(largest, "bandwidth", code, text, attributes, node=where),
            [largest, *proof[:_MOST_CITED]],
        )


def _read_tests(facts: Facts) -> list[_Test]:
    """Put devices and rows of each input into runs: a new one begins with its devices, or where the sizes start anew."""
    by_input: dict[str, list[Observation]] = defaultdict(list)
    for kind in ("test-device", "test-row", "test-start"):
        for one in facts.by_kind.get(kind, ()):
            by_input[one.input].append(one)
    found: list[_Test] = []
    for _, parts in sorted(by_input.items()):
        test, name = _Test([], []), ""
        said: dict[str, str] = {}
        for one in sorted(parts, key=lambda one: one.line):
            if one.kind == "test-start":
                name, said = one.code or name, said | dict(one.attributes)
                continue
            again = one.kind == "test-row" and test.rows and read_size(one) < read_size(test.rows[-1])
            if test.rows and (one.kind == "test-device" or again):
                found.append(test)
                test = _Test(test.devices if again else [], [])
            test.name, test.said = test.name or name, said
            (test.rows if one.kind == "test-row" else test.devices).append(one)
        found.append(test)
    return [test for test in found if test.rows]


def _find_operation(test: _Test, row: Observation) -> str:
    """Name the operation: by the test's name, else by busbw / algbw, which is 2 (n - 1) / n for all-reduce alone."""
    name = test.name.removesuffix("_perf").replace("_", "-")
    if name:
        return name
    ranks, factor = test.ranks(), read_number(row, "factor") or 0.0
    part = (ranks - 1) / ranks if ranks else 0.0
    if row.attributes.get("operation") not in (None, "none") and (
        abs(factor - 2 * part) < _TOLERANCE if ranks > 2 else factor > 1.0 + _TOLERANCE
    ):
        return "all-reduce"
    if ranks > 2 and row.attributes.get("operation") not in (None, "none") and abs(factor - part) < _TOLERANCE:
        return "reduce-scatter"
    return "collective"


def _links_of(model: str) -> float:
    """Return what the NVLinks of one GPU of a board carry one way, in GB/s; 0 for others."""
    if not model or _NO_BOARD.search(model):
        return 0.0
    return next((links * speed for regex, links, speed in _LINKS if re.search(rf"\b(?:{regex})", model)), 0.0)


def _expect(test: _Test, operation: str, facts: Facts) -> tuple[float, str, list[Observation]]:
    """Return (GB/s, what bounds it, lines that say so); 0 where nothing tells."""
    hosts, nvlink = test.hosts(), _links_of(test.model())
    if operation not in ("all-reduce", "all-gather", "reduce-scatter") or not hosts:
        return 0.0, "", []
    if test.ranks() / len(hosts) < _BOARD:
        nvlink *= _MESH
    if len(hosts) == 1:
        return (nvlink, "nvlink", test.devices[:1]) if nvlink and test.ranks() >= _LEAST_GPUS else (0.0, "", [])
    network, proof = _network(hosts, facts)
    networks = facts.by_kind.get("network", ())
    if nvlink and networks and all(one.code == "Socket" for one in networks):
        return _ONE_ADAPTER, "sockets", list(networks[:2])
    per_host = test.ranks() / len(hosts)
    if not network or (per_host > 1 and not nvlink):  # between the GPUs of a host other paths may bound
        return 0.0, "", []
    return (
        (network, "network", proof) if not nvlink or network <= nvlink or per_host == 1 else (nvlink, "network", proof)
    )


def _network(hosts: Sequence[str], facts: Facts) -> tuple[float, list[Observation]]:
    """Return the GB/s of the adapters of the host that has least, as far as each adapter in use has a known rate."""
    rates: dict[str, dict[str, tuple[float, Observation]]] = defaultdict(dict)
    for one in facts.by_kind.get("port", ()):
        if one.code in ("active", "up") and one.entity.startswith("link:") and (gbps := read_number(one, "gbps")):
            rates[one.node][_nic(one)] = (gbps / 8, one)
    for one in (*facts.by_kind.get("topology-net", ()), *facts.by_kind.get("adapter", ())):
        if (mbps := read_whole(one, "mbps")) is not None:
            rates[one.node][_nic(one)] = (mbps / 8000, one)
    used = _used(facts)
    totals, several = _of_instances(facts), []
    for host in hosts:
        known = rates.get(host) or rates.get("", {})
        wanted = used.get(host, set(known))
        if len(wanted) == 1 and len(known) >= _SEVERAL:  # one was named, which is what the job is to be told
            best = max(rate for rate, _ in known.values())
            wanted = {nic for nic, (rate, _) in known.items() if rate == best}
            several.append(host)
        chosen = {nic: known[nic] for nic in sorted(wanted) if nic in known}
        if chosen and len(chosen) == len(wanted):
            totals[host] = (sum(rate for rate, _ in chosen.values()), [one for _, one in chosen.values()])
    chosen_hosts = [host for host in several if host in totals] or sorted(totals)
    return min((totals[host] for host in chosen_hosts), key=lambda row: row[0], default=(0.0, []))


def _of_instances(facts: Facts) -> dict[str, tuple[float, list[Observation]]]:
    """Return, by host, the GB/s that its cloud gives a machine of this type."""
    known = facts.by_kind.get("instance-network", ())
    return {one.node: (gbps / 8, [one]) for one in known if (gbps := read_number(one, "gbps"))}


def _count_used(hosts: Sequence[str], facts: Facts) -> str:
    used = _used(facts)
    return str(min((len(used[host]) for host in hosts if host in used), default="")) if len(hosts) > 1 else ""


def _nic(one: Observation) -> str:
    return one.attributes.get("nic") or one.entity.partition(":")[2].partition(":")[0]


def _used(facts: Facts) -> Mapping[str, set[str]]:
    """Return, by host, the adapters that NCCL says it uses."""
    used: dict[str, set[str]] = defaultdict(set)
    for one in facts.by_kind.get("adapters", ()):
        used[one.node].update(one.attributes.get("nics", "").split())
    return {host: nics for host, nics in used.items() if nics}
