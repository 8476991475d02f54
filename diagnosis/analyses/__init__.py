"""Arithmetic over facts: each module derives observations that no single line states, and cites those behind them.

A module has `derive(facts) -> Iterator[(Observation, observations behind it)]`; it never knows what its result means.
"""

from __future__ import annotations

from types import ModuleType

from diagnosis.analyses import (
    bandwidth,
    bootstrap_networks,
    collectives,
    cpu_throttling,
    data_wait,
    driver_build,
    flight_recorder,
    gangs,
    gid_choice,
    gpu_peers,
    gpu_use,
    group_runs,
    hang,
    instance_network,
    job_hosts,
    job_limits,
    kubelet_devices,
    last_xid,
    links,
    master_address,
    memory_trend,
    named_peers,
    operator_states,
    outages,
    port_counters,
    power_budget,
    probe_port,
    rails,
    recorder_peers,
    save_time,
    scheduling,
    selector_labels,
    slow_rank,
    slowdown,
    stack_phases,
    stalls,
    step_shares,
    step_work,
    weights_load,
    xid_places,
)
from diagnosis.facts import Facts

ANALYSES: tuple[ModuleType, ...] = (
    xid_places,
    last_xid,
    gpu_peers,
    power_budget,
    driver_build,
    operator_states,
    memory_trend,
    named_peers,
    master_address,
    outages,
    save_time,
    data_wait,
    step_shares,
    slowdown,
    step_work,
    slow_rank,
    weights_load,
    kubelet_devices,
    probe_port,
    links,
    port_counters,
    collectives,
    flight_recorder,
    recorder_peers,
    stalls,
    stack_phases,
    hang,
    job_hosts,
    job_limits,
    rails,
    instance_network,
    bootstrap_networks,
    gid_choice,
    bandwidth,
    group_runs,
    scheduling,
    selector_labels,
    gangs,
    gpu_use,
    cpu_throttling,
)


def derive_all(facts: Facts) -> None:
    """Run every analysis in order and add what it derives to the facts."""
    for module in ANALYSES:
        for derived, because in list(module.derive(facts)):
            facts.add(derived, because)
