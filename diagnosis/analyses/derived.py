"""How an analysis states what it derives: as a fact that stands where one of the facts behind it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collectors.observation import Observation

Derived = tuple[Observation, Sequence[Observation]]
"""A fact that an analysis derives, and the facts that a report cites for it."""


def derive_at(
    place: Observation,
    kind: str,
    code: str = "",
    text: str = "",
    attributes: Mapping[str, str] | None = None,
    *,
    node: str | None = None,
    entity: str = "",
) -> Observation:
    """Return a derived fact in the place and time of another.

    Its host is that of `place` unless it is given. Attributes without a value are left out; a `text` that is not given
    names the kind and the attributes.
    """
    known = {name: value for name, value in (attributes or {}).items() if value}
    return Observation(
        "derived", kind, place.input, place.line, place.line_end,
        text or " ".join([kind, *(f"{name}={value}" for name, value in known.items())]),
        code=code, time=place.time, node=place.node if node is None else node, entity=entity, attributes=known, raw=place.raw,
    )  # fmt: skip
