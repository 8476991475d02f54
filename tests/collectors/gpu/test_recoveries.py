"""What ends a fault: the kernel's first line, a separator of boots, a reset; not the version that other commands print."""

from __future__ import annotations

import pytest

from collectors.gpu import recoveries
from collectors.prefix import peel

FIRST = "Linux version 5.15.0-91-generic (buildd@lcy02) (gcc 11) #101-Ubuntu SMP"


@pytest.mark.parametrize(
    ("line", "code", "entity"),
    [
        (f"Aug 20 12:00:00 node-a kernel: [    0.000000] {FIRST}", "boot", ""),
        (f"[    0.000000] {FIRST}", "boot", ""),
        ("-- Reboot --", "boot", ""),
        ("-- Boot 6d3b0b2f6f2c4d5f9d1c1c4b2f0a9e11 --", "boot", ""),
        ("GPU 00000000:3B:00.0 was successfully reset.", "reset", "gpu:0000:3b:00.0"),
    ],
)
def test_recoveries(line: str, code: str, entity: str) -> None:
    (one,) = recoveries.parse_line(peel("a", 1, line))
    assert (one.kind, one.code, one.entity) == ("recovery", code, entity)


@pytest.mark.parametrize("line", ["", FIRST, f"[90000.000000] {FIRST}", "GPU 3 could not be reset."])
def test_what_ends_nothing(line: str) -> None:
    assert not list(recoveries.parse_line(peel("a", 1, line)))
