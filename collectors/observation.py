"""The facts that collectors produce: observations, metric samples and relations between entities.

An entity is written `kind:name` (`gpu:0000:3b:00.0`, `rank:11`, `pod:train/worker-0`, `nic:mlx5_3`); the kinds are those of
`rules/taxonomy.yaml`. Names that mean something only on one host stand beside a `node`.

Only the intake completes a record, before anyone else holds it; from then on it does not change, so that it may be hashed. (A
frozen dataclass takes three times as long to make, and there are hundreds of thousands.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any


@dataclass(slots=True)
class Observation:
    """One typed fact and where it stands.

    `time` is in seconds since the epoch (UTC), None when the text does not tell; `line` counts from 1 in `input`;
    `text` is the message with launcher and logger prefixes taken off, joined when it was folded over several lines.
    """

    source: str
    kind: str
    input: str
    line: int
    line_end: int
    text: str
    code: str = ""
    time: float | None = None
    node: str = ""
    entity: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    raw: str = ""  # the line as it stands in the input; filled in by the intake

    def __hash__(self) -> int:
        return hash((self.input, self.line, self.kind, self.code))

    def __reduce__(self) -> tuple[type[Observation], tuple[Any, ...]]:
        return Observation, _fields_of_observation(self)


@dataclass(slots=True, unsafe_hash=True)
class Sample:
    """One value of one metric series; `entity` and `node` come from its labels."""

    source: str
    metric: str
    value: float
    input: str
    line: int
    time: float | None = None
    node: str = ""
    entity: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    raw: str = ""  # the line as it stands in the input; filled in by the intake

    def __reduce__(self) -> tuple[type[Sample], tuple[Any, ...]]:
        return Sample, _fields_of_sample(self)


@dataclass(slots=True, unsafe_hash=True)
class Relation:
    """`lower` carries `upper`: a rank rests on a GPU, a GPU on its node, a pod on its node, a NIC on its link.

    With `how="same"` the two are names of one thing (a GPU's index and its PCI address). Names that are bound to a host and
    not qualified yet (`kind:node/name`) belong to `node`.
    """

    upper: str
    lower: str
    how: str
    input: str
    line: int
    node: str = ""

    def __reduce__(self) -> tuple[type[Relation], tuple[Any, ...]]:
        return Relation, _fields_of_relation(self)


# Records cross from process to process by the hundred thousand; `pickle` alone takes three times as long over slots.
_fields_of_observation = attrgetter(*(one.name for one in fields(Observation)))
_fields_of_sample = attrgetter(*(one.name for one in fields(Sample)))
_fields_of_relation = attrgetter(*(one.name for one in fields(Relation)))

Record = Observation | Sample | Relation

# Names of these kinds repeat from host to host, so that an identity needs the host as well.
HOST_KINDS = frozenset(
    {"gpu", "mig_instance", "nvlink", "nvswitch", "pcie_device", "nic", "link", "process", "container", "volume"}
)


def qualify(entity: str, node: str) -> str:
    """Return the entity's full identity: `gpu:node-a/0000:3b:00.0` when its kind is bound to a host that is known."""
    kind, _, name = entity.partition(":")
    return f"{kind}:{node}/{name}" if node and kind in HOST_KINDS and "/" not in name else entity
