"""GPUs that may draw nearly all that the power supplies give."""

from __future__ import annotations

from diagnosis.analyses import power_budget
from tests.diagnosis.analyses.test_job_network import read

SUPPLY = "System Power Supply\n\tName: PSU1\n\tMax Power Capacity: {} W\n\tStatus: Present, OK\n"
LIMITS = "$ nvidia-smi --query-gpu=name,power.limit --format=csv\nname, power.limit [W]\nNVIDIA A, 290.00 W\nNVIDIA B, 170.00 W\n"


def codes(*texts: str) -> list[tuple[str, str]]:
    return [(one.code, one.attributes["gpu_watts"]) for one, _ in power_budget.derive(read(*texts))]


def test_supply_that_the_gpus_may_use_up() -> None:
    assert codes(SUPPLY.format(490), LIMITS) == [("short", "460")]
    assert codes(SUPPLY.format(490), LIMITS + LIMITS) == [("short", "460")]


def test_supply_that_is_enough_or_unknown() -> None:
    assert codes(SUPPLY.format(750), LIMITS) == []
    assert codes(SUPPLY.format(490) + SUPPLY.format(490), LIMITS) == []
    assert codes(LIMITS) == []
    assert codes(SUPPLY.format(490)) == []
