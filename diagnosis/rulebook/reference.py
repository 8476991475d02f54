"""The figures that facts are held against, from the tables beside the rules (`rules/tables/`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from diagnosis.rulebook.instances import Instance, load_instances
from diagnosis.rulebook.peaks import load_peaks
from diagnosis.rulebook.priors import load_priors


@dataclass(frozen=True, slots=True)
class Reference:
    """`priors`: by cause, its share of all faults that were counted; `peaks`: by GPU model, dense TFLOP/s; `instances`: by a
    cloud's machine type, what its adapters carry."""

    priors: Mapping[str, float] = field(default_factory=dict)
    peaks: Mapping[str, float] = field(default_factory=dict)
    instances: Mapping[str, Instance] = field(default_factory=dict)


def load_reference(folder: Path) -> Reference:
    """Read the tables of a folder of rules. Raises RuleError naming file:line of the first bad row."""
    tables = folder / "tables"
    return Reference(
        load_priors(tables / "priors.csv"),
        load_peaks(tables / "gpu-peaks.csv"),
        load_instances(tables / "instance-networks.csv"),
    )
