"""What two readings of a port's counters say: how much an error counter grew, and how pause frames compare with packets.

One reading says nothing: counters run since the port was started. Yields `counter-rise` (code the counter; attributes rise,
seconds), `pause-storm` (more pause frames than packets between two readings) and `lossless-class` (code unused: no traffic at all
in the priorities that flow control protects while another priority carries it).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from collectors.observation import Observation, Sample
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts, observe_sample
from diagnosis.figures import parse_whole

_WATCHED = frozenset({
    "symbol_error", "link_error_recovery", "link_downed", "local_link_integrity_errors", "port_rcv_errors",
    "port_rcv_remote_physical_errors", "port_xmit_discards", "excessive_buffer_overrun_errors", "VL15_dropped",
    "link_down_events_phy", "rx_symbol_err_phy", "rx_pcs_symbol_err_phy", "rx_crc_errors_phy", "rx_discards_phy",
    "tx_discards_phy", "rx_corrected_bits_phy", "rx_out_of_buffer", "out_of_buffer", "out_of_sequence",
    "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "req_cqe_error", "resp_cqe_error",
    "implied_nak_seq_err", "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "roce_adp_retrans_to",
    "tx_pause_storm_warning_events", "tx_pause_storm_error_events", "rx_global_pause", "tx_global_pause",
    "node_infiniband_link_downed_total", "node_infiniband_symbol_error_total",
    "node_infiniband_link_error_recovery_total", "node_infiniband_port_errors_received_total",
    "node_network_carrier_down_changes_total", "effective_physical_errors", "bond_link_failures",
    "switch_fcs_errors", "switch_symbol_errors", "switch_rx_errors", "switch_rx_drops", "switch_tx_drops",
    "netdev_rx_errors", "netdev_rx_dropped", "netdev_rx_missed", "netdev_tx_errors", "netdev_tx_dropped", "netdev_tx_carrier",
    *(f"{way}_prio{priority}_{what}" for way in ("rx", "tx") for priority in range(8) for what in ("pause", "packets", "discards")),
})  # fmt: skip


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `counter-rise`, `pause-storm` and `lossless-class` facts."""
    series: dict[tuple[str, str], dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for name, samples in facts.by_metric.items():
        if name in _WATCHED or (name.endswith("_bytes") and "_prio" in name):
            for sample in samples:
                series[(sample.node, _entity(facts, sample))][name].append(sample)
    for (node, link), counters in sorted(series.items()):
        rises = {name: rise for name, samples in sorted(counters.items()) if (rise := _rise(samples)) is not None}
        for name, (first, last) in rises.items():
            if last.value > first.value and name in _WATCHED and not name.endswith("_packets"):
                seconds = f"{last.time - first.time:.0f}" if first.time is not None and last.time is not None else ""
                attributes = {
                    "rise": f"{last.value - first.value:.0f}",
                    "seconds": seconds,
                    "last": f"{last.value:.0f}",
                    **last.labels,
                }
                yield (
                    _make("counter-rise", name, last, node, link, attributes),
                    [observe_sample(first), observe_sample(last)],
                )
        yield from _storms(rises, node, link)
    yield from _unused_classes(facts, series)


def _entity(facts: Facts, sample: Sample) -> str:
    if sample.entity:
        return facts.resolver.resolve(sample.entity, sample.node)
    device = sample.labels.get("device", "")
    return facts.resolver.resolve(f"link:{device}:{sample.labels.get('port', '1')}", sample.node) if device else ""


def _rise(samples: Sequence[Sample]) -> tuple[Sample, Sample] | None:
    """Return the first and last reading of a counter; readings without a time count only when none has one."""
    timed = [one for one in samples if one.time is not None]
    usable = timed if len(timed) > 1 else samples
    if len(usable) < 2:
        return None
    ordered = sorted(usable, key=lambda one: (one.time or 0.0, one.input, one.line))
    return ordered[0], ordered[-1]


def _storms(rises: Mapping[str, tuple[Sample, Sample]], node: str, link: str) -> Iterator[Derived]:
    for priority in range(8):
        for way in ("rx", "tx"):
            pause = rises.get(f"{way}_prio{priority}_pause")
            packets = [rises[name] for kind in ("rx", "tx") if (name := f"{kind}_prio{priority}_packets") in rises]
            if pause is None or not packets:
                continue
            paused = pause[1].value - pause[0].value
            moved = sum(last.value - first.value for first, last in packets)
            if paused >= 1000 and paused > moved:
                attributes = {
                    "rise": f"{paused:.0f}",
                    "packets": f"{moved:.0f}",
                    "priority": str(priority),
                    **pause[1].labels,
                }
                yield (
                    _make("pause-storm", way, pause[1], node, link, attributes),
                    [observe_sample(pause[0]), observe_sample(pause[1])],
                )


def _unused_classes(facts: Facts, series: Mapping[tuple[str, str], Mapping[str, list[Sample]]]) -> Iterator[Derived]:
    for pfc in facts.by_kind.get("pfc", ()):
        lossless = {
            value for one in pfc.attributes.get("enabled", "").split() if (value := parse_whole(one)) is not None
        }
        link = facts.resolver.resolve(pfc.entity, pfc.node) if pfc.entity else ""
        counters = series.get((pfc.node, link))
        if not lossless or counters is None:
            continue
        last = {name: samples[-1] for name, samples in counters.items() if name.endswith("_bytes")}
        carried = {
            priority: sum(
                last[name].value for name in (f"rx_prio{priority}_bytes", f"tx_prio{priority}_bytes") if name in last
            )
            for priority in range(8)
            if f"rx_prio{priority}_bytes" in last or f"tx_prio{priority}_bytes" in last
        }
        total = sum(carried.values())
        if (
            total < 1e9
            or not lossless & carried.keys()
            or sum(carried.get(one, 0.0) for one in lossless) > 0.001 * total
        ):
            continue
        busiest = max(carried, key=lambda one: carried[one])
        proof = [observe_sample(last[name]) for way in ("rx", "tx") if (name := f"{way}_prio{busiest}_bytes") in last]
        proof += [observe_sample(last[name]) for one in sorted(lossless) if (name := f"rx_prio{one}_bytes") in last]
        attributes = {"lossless": " ".join(map(str, sorted(lossless))), "busiest": str(busiest), **dict(pfc.attributes)}
        yield (
            _make(
                "lossless-class", "unused", observe_sample(last[next(iter(sorted(last)))]), pfc.node, link, attributes
            ),
            [pfc, *proof],
        )


def _make(
    kind: str, code: str, at: Sample | Observation, node: str, link: str, attributes: dict[str, str]
) -> Observation:
    text = f"{code}: " + ", ".join(f"{name} {value}" for name, value in attributes.items())
    place = observe_sample(at) if isinstance(at, Sample) else at
    return derive_at(place, kind, code, text, attributes, node=node, entity=link)
