"""Generated incidents: the culprit's host and rank are found in nearly all of them, and a seed always gives the same bytes."""

from __future__ import annotations

import pickle

from collectors.jobs import plain_pickle
from diagnosis.engine import Knowledge
from diagnosis.rulebook import load_rulebook
from tests.incidents.generate import FAULTS, make_incident
from tests.incidents.measure import NODE_BAR, RANK_BAR, measure, share
from tests.incidents.stages import cost

SMALL = (8, 16, 16, 32)


def test_a_seed_gives_the_same_bytes() -> None:
    assert make_incident(7, sizes=SMALL) == make_incident(7, sizes=SMALL)
    assert make_incident(7, sizes=SMALL) != make_incident(19, sizes=SMALL)


def test_every_fault_comes_up() -> None:
    assert {make_incident(seed, sizes=(8, 16)).fault for seed in range(len(FAULTS))} == set(FAULTS)


def test_dumps_are_plain_pickles() -> None:
    incident = next(one for seed in range(200) if (one := make_incident(seed, sizes=(8,))).inputs[0][1][:1] == b"\x80")
    data = incident.inputs[0][1]
    assert plain_pickle.loads(data) == pickle.loads(data)


def test_culprit_is_found() -> None:
    outcomes = measure(range(1000, 1024), SMALL)
    wrong = [(one.incident.seed, one.incident.fault, one.cause, one.entity) for one in outcomes if not one.rank_right]
    assert share(outcomes, "node") >= NODE_BAR, wrong
    assert share(outcomes, "rank") >= RANK_BAR, wrong


def test_work_grows_with_the_facts() -> None:
    knowledge = Knowledge.build(load_rulebook(), cached=True)
    seeds = (3, 11)
    small, large = cost(32, seeds, knowledge), cost(256, seeds, knowledge)
    assert large.calls / small.calls <= 1.2 * large.facts / small.facts
