"""What the network adapters of a cloud's machine types carry, from the clouds' own documentation."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from diagnosis.rulebook.document import RuleError


class Instance(NamedTuple):
    """A machine type: Gb/s of all its adapters one way, and how many cards it has."""

    gbps: float
    cards: int


def load_instances(path: Path) -> dict[str, Instance]:
    """Read `instance,gbps,cards,source` rows; return what each machine type has.

    Raises RuleError naming file:line for a row without a name, two whole numbers or a source.
    """
    found: dict[str, Instance] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            name, gbps, cards = row.get("instance") or "", row.get("gbps") or "", row.get("cards") or ""
            if not (name and gbps.isdecimal() and cards.isdecimal() and row.get("source")) or name in found:
                raise RuleError(
                    [f"{path.name}:{number}: expected instance, whole Gb/s, number of cards and source: {dict(row)}"]
                )
            found[name] = Instance(float(gbps), int(cards))
    return found
