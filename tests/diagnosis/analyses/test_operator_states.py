"""A state that stays not ready is stuck; one that goes ready, or changes, is an installation."""

from __future__ import annotations

import pytest

from collectors.observation import Observation
from diagnosis.analyses import operator_states
from diagnosis.facts import Facts


def state(code: str, minutes: float, summary: str = "yes") -> Observation:
    return Observation(
        "gpu-operator", "operator-state", "log", int(minutes) + 1, int(minutes) + 1, "", code=code, time=minutes * 60,
        attributes={"summary": summary},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "stuck"),
    [
        ([("state-driver", 0), ("state-driver", 8), ("state-driver", 20)], ["state-driver"]),
        ([("state-driver", 0), ("state-driver", 8)], []),
        ([("state-driver", 0), ("state-operator-validation", 20)], []),
        ([("state-driver", 0), ("state-driver", 20), ("ready", 21)], []),
    ],
)
def test_stuck(seen: list[tuple[str, float]], stuck: list[str]) -> None:
    facts = Facts([state(code, minutes) for code, minutes in seen])
    assert [one.code for one, _ in operator_states.derive(facts)] == stuck
