"""Small rulebooks, written as files and loaded as any other, and facts to judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from collectors.observation import Observation, Record, Sample
from diagnosis.evidence import Conditions
from diagnosis.facts import Facts
from diagnosis.model import LAYERS, STRENGTHS, Finding, Hypothesis, Match
from diagnosis.rulebook import Rulebook, When, load_rulebook
from diagnosis.rulebook.schema import EntityKind

TAXONOMY = {
    "layers": dict.fromkeys(LAYERS, "a layer"),
    "entities": list(EntityKind.__args__),  # type: ignore[attr-defined]
    "symptoms": {name: f"it shows as {name}" for name in ("hang", "crash", "gone", "slow")},
    "causes": {
        "app.bug": ["application", "a bug in the code"],
        "nccl.timeout": ["framework", "nothing shows why it timed out"],
        "nccl.peer": ["framework", "a peer went away"],
        "pod.image": ["platform", "an image is missing"],
        "node.driver": ["node", "a driver bug"],
        "link.flap": ["fabric", "a link flaps"],
        "disk.full": ["storage", "a disk is full"],
        "gpu.lost": ["hardware", "a GPU is lost"],
        "gpu.hot": ["hardware", "a GPU is hot"],
    },
}


def text(english: str) -> dict[str, str]:
    """Return a text in both languages."""
    return {"en": english, "zh": f"中{english}"}


def evidence(when: Mapping[str, Any], strength: str = "strong", *, why: str = "", **fields: Any) -> dict[str, Any]:
    """Return a piece of evidence with an example."""
    found = {"when": dict(when), "strength": strength, "examples": {"match": ["an example"]}, **fields}
    return {**found, "why": text(why)} if why else found


def cause(name: str, *pieces: Mapping[str, Any], leads_to: Iterable[str] = ("crash",), **fields: Any) -> dict[str, Any]:
    """Return a rule for a cause; a piece without a strength is a condition."""
    return {
        "cause": name,
        "title": text(f"Title of {name}"),
        "entity": "gpu",
        "evidence": [dict(piece) if "strength" in piece else evidence(piece) for piece in pieces],
        "leads_to": list(leads_to),
        "checks": [{"run": f"check {name} {{node}}", "on": "{node}"}],
        "fix": [text(f"Mend {name}")],
        "action": "reboot",
        "references": ["a reference"],
        **fields,
    }


def symptom(name: str, *pieces: Mapping[str, Any], entity: str = "job") -> dict[str, Any]:
    """Return a rule for a symptom."""
    return {
        "symptom": name,
        "title": text(f"Title of {name}"),
        "entity": entity,
        "evidence": [dict(piece) if "strength" in piece else evidence(piece) for piece in pieces],
    }


def write_rules(folder: Path, *rules: Mapping[str, Any], file: str = "hardware/all.yaml") -> Path:
    """Write rules beside the small taxonomy; return the folder."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    (folder / "taxonomy.yaml").write_text(yaml.safe_dump(TAXONOMY), "utf-8")
    path.write_text(yaml.safe_dump([dict(rule) for rule in rules], allow_unicode=True, sort_keys=False), "utf-8")
    return folder


def make_rulebook(folder: Path, *rules: Mapping[str, Any]) -> Rulebook:
    """Write rules to files and load them."""
    return load_rulebook(write_rules(folder, *rules))


_LINES = count(1)


def fact(kind: str, code: str = "", **fields: Any) -> Observation:
    """Return an observation on a line of its own."""
    attributes = {name: value for name, value in fields.items() if name not in Observation.__dataclass_fields__}
    known = {name: value for name, value in fields.items() if name in Observation.__dataclass_fields__}
    line = known.pop("line", None) or next(_LINES)
    values: dict[str, Any] = {"source": "kernel", "input": "a.log", "line_end": line, "text": f"{kind} {code}", **known}
    return Observation(kind=kind, code=code, line=line, attributes=attributes, **values)


def sample(
    metric: str, value: float, time: float | None = None, *, node: str = "", entity: str = "", **labels: str
) -> Sample:
    """Return a sample on a line of its own."""
    return Sample("dcgm", metric, value, "m.prom", next(_LINES), time, node, entity, labels)


def make_facts(*records: Record) -> Facts:
    """Return facts of records."""
    return Facts(
        [one for one in records if isinstance(one, Observation)],
        [one for one in records if isinstance(one, Sample)],
        [one for one in records if not isinstance(one, Observation | Sample)],
    )


def find(when: Mapping[str, Any], rulebook: Rulebook, *records: Record) -> list[list[int]]:
    """Return, for each match of a condition, the lines that make it true."""
    matches = Conditions(make_facts(*records), rulebook).find(When.model_validate(when))
    return [[one.line for one in match.observations] for match in matches]


def hypothesis(
    name: str, entity: str = "", *facts: Observation, strength: str = "strong", layer: str | None = None, **fields: Any
) -> Hypothesis:
    """Return a hypothesis with one finding for each fact."""
    findings = [
        Finding(f"{name}#{number}", STRENGTHS[strength], "because", (Match((one,)),))
        for number, one in enumerate(facts)
    ]
    known: dict[str, Any] = TAXONOMY["causes"]  # type: ignore[assignment]
    found = layer if layer is not None else known[name][0] if name in known else ""
    node = fields.pop(
        "node", entity.partition(":")[2].partition("/")[0] if "/" in entity or entity.startswith("node:") else ""
    )
    return Hypothesis(name, entity, node, found, findings, **fields)
