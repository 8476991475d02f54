"""What the network adapters of a cloud's machine types carry, from the clouds' own documentation."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from diagnosis.rulebook.rows import read_rows


class Instance(NamedTuple):
    """A machine type: Gb/s of all its adapters one way, and how many cards it has."""

    gbps: float
    cards: int


def load_instances(path: Path) -> dict[str, Instance]:
    """Read `instance,gbps,cards,source` rows; return what each machine type has.

    Raises RuleError naming file:line for a row without a name, two whole numbers or a source.
    """
    rows = read_rows(path, ("instance",), whole=("gbps", "cards"), unique="instance")
    return {row["instance"]: Instance(float(row["gbps"]), int(row["cards"])) for row in rows}
