"""Whether any node carries the labels that a pod selects, where a table of nodes shows them (`kubectl get nodes -L`).

Reads `pod` facts with a selector and `row` facts of nodes. Derives `selector-unmet`, its code the label, with the value that is
`wanted` and those that are `offered`, for each label of which the table has a column and no node the value.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts

_MOST_ROWS = 3  # cited of the table


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `selector-unmet` for each label of a pod that no listed node has."""
    nodes = [one for one in facts.by_kind.get("row", ()) if one.code == "Node"]
    if not nodes:
        return
    told: set[tuple[str, str, str]] = set()
    for pod in facts.by_kind.get("pod", ()):
        for pair in pod.attributes.get("selector", "").split(","):
            label, _, wanted = pair.strip().partition("=")
            key = (pod.entity, label, wanted)
            if wanted and key not in told:
                told.add(key)
                yield from _compare(pod, label, wanted, nodes)


def _compare(pod: Observation, label: str, wanted: str, nodes: list[Observation]) -> Iterator[Derived]:
    column = label.rpartition("/")[2].lower()  # a column's heading is the label's name in capitals
    rows = [one for one in nodes if column in one.attributes]
    offered = sorted({value for one in rows if (value := one.attributes[column]) and not value.startswith("<")})
    if not rows or wanted in offered:
        return
    text = f"no node has {label}={wanted}; they have {', '.join(offered) or 'none'}"
    attributes = {"wanted": wanted, "offered": " ".join(offered)[:400], "nodes": str(len(rows))}
    yield derive_at(pod, "selector-unmet", label, text, attributes, entity=pod.entity), [pod, *rows[:_MOST_ROWS]]
