"""DCGM's gauge of the last Xid keeps its value: only a change within the readings tells that it is new."""

from __future__ import annotations

import pytest

from collectors.observation import Sample
from diagnosis.analyses import last_xid
from diagnosis.facts import Facts

GPU = "gpu:0000:3b:00.0"


def readings(*values: float, metric: str = "DCGM_FI_DEV_XID_ERRORS") -> list[Sample]:
    return [
        Sample("metrics", metric, value, "m", place + 1, 60.0 * place, "node-a", GPU)
        for place, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (readings(0, 0, 79), [("79", "new")]),
        (readings(31, 48, 48), [("48", "new")]),
        (readings(79, 79, 79), [("79", "standing")]),
        (readings(79), [("79", "standing")]),
        (readings(79, 79) + readings(41, 42, metric="DCGM_FI_DEV_GPU_TEMP"), [("79", "stale")]),
        (readings(79, 79, 79) + readings(41, metric="DCGM_FI_DEV_GPU_TEMP"), [("79", "standing")]),
        (readings(48, 48) + readings(41, 42, metric="DCGM_FI_DEV_GPU_TEMP"), [("48", "standing")]),
        (readings(79, 0), []),
        (readings(9223372036854775794), []),
    ],
)
def test_state_of_the_gauge(samples: list[Sample], expected: list[tuple[str, str]]) -> None:
    found = [one for one, _ in last_xid.derive(Facts([], samples))]
    assert [(one.code, one.attributes["state"]) for one in found] == expected
    assert all((one.node, one.entity) == ("node-a", GPU) for one in found)
