"""Which hypotheses are consequences of others: what an evidenced cause brings about, on something that rests on that cause's
entity, and not before it.
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx

from diagnosis.graph import rests_on
from diagnosis.model import CONCERN, EVIDENCED, LAYERS, Hypothesis
from diagnosis.rulebook import Rulebook

_SLACK = 900.0  # seconds beyond the timeout: clocks differ, and what brought it about may have lasted
_BEFORE, _AFTER = 600.0, 300.0  # seconds: how long before its effect a cause may end, and how long after it may begin


def tell_consequences(causes: Sequence[Hypothesis], graph: nx.DiGraph, rulebook: Rulebook) -> None:
    """Set `verdict` and `because_of` of what another cause brings about; that is always a root."""
    for one in causes:
        rule = rulebook.causes[one.id]
        stands_for = set(rule.stands_for)
        explaining = []
        for other in causes:
            needed = EVIDENCED if rule.inconclusive or one.probability < CONCERN else CONCERN
            if other.id == one.id or other.probability < needed:
                continue
            reach = rulebook.reach(other.id)
            stand_in = bool(rulebook.causes[other.id].stands_for)
            known = one.id in reach or (bool(stands_for & reach) and not stand_in)
            if known and fits(one, other, graph, rulebook):
                explaining.append(other)
        if explaining:
            one.verdict = "consequence"
            one.because_of = min(
                explaining, key=lambda other: (-round(other.probability, 3), depth_of(other), other.key)
            )
    for one in causes:  # a stand-in and what it leads to may explain each other: one of them has to be the root
        loop = _find_loop(one)
        if loop:
            root = min(
                loop,
                key=lambda other: (
                    bool(rulebook.causes[other.id].stands_for),
                    -round(other.probability, 3),
                    depth_of(other),
                    other.key,
                ),
            )
            root.verdict, root.because_of = "root", None
    for one in causes:  # follow each chain to its root, which is never a consequence itself
        if one.because_of is not None:
            one.because_of = root_of(one)


def _find_loop(one: Hypothesis) -> list[Hypothesis]:
    """Return the hypotheses that explain one another in a circle, where the chain from this one runs into such."""
    trail: list[Hypothesis] = []
    places: dict[int, int] = {}
    step: Hypothesis | None = one
    while step is not None:
        if id(step) in places:
            return trail[places[id(step)] :]
        places[id(step)] = len(trail)
        trail.append(step)
        step = step.because_of
    return []


def root_of(one: Hypothesis) -> Hypothesis:
    """Return the root of the chain that a hypothesis stands in, itself when it is one."""
    while one.because_of is not None:
        one = one.because_of
    return one


def fits(effect: Hypothesis, cause: Hypothesis, graph: nx.DiGraph, rulebook: Rulebook) -> bool:
    """Tell whether cause and effect agree in place and time."""
    upper, lower = effect.place, cause.place
    if not rests_on(graph, upper, lower):
        return False
    effect_first, effect_last = effect.times()
    cause_first, cause_last = cause.times()
    if effect_first is None or effect_last is None or cause_first is None or cause_last is None:
        return True
    lag = max(_BEFORE, lag_of(effect, rulebook), lag_of(cause, rulebook))
    return cause_first <= effect_last + _AFTER and cause_last >= effect_first - lag


def lag_of(one: Hypothesis, rulebook: Rulebook) -> float:
    """Return how long before or after a hypothesis its counterpart may stand: where its lines state a timeout, that and some more."""
    rule = rulebook.causes.get(one.id) or rulebook.symptoms.get(one.id)
    lag = rule.lag if rule is not None else _BEFORE
    return one.waited() + _SLACK if lag > _BEFORE and one.waited() else lag


def depth_of(one: Hypothesis) -> int:
    """Return a key that sorts deeper layers, nearer to the hardware, first."""
    return -LAYERS.index(one.layer) if one.layer in LAYERS else 0
