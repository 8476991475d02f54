"""Arithmetic over facts: each module derives observations that no single line states, and cites those behind them.

A module has `derive(facts) -> Iterator[(Observation, observations behind it)]`; it never knows what its result means.
"""

from __future__ import annotations

from types import ModuleType

from diagnosis.facts import Facts

ANALYSES: tuple[ModuleType, ...] = ()


def derive_all(facts: Facts) -> None:
    """Run every analysis in order and add what it derives to the facts."""
    for module in ANALYSES:
        for derived, because in list(module.derive(facts)):
            facts.add(derived, because)
