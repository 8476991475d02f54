"""Propose: from the evidence that holds to hypotheses, one for each cause on each entity, and the symptoms seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from diagnosis.entities import kind_of, node_of
from diagnosis.evidence import Conditions
from diagnosis.facts import Facts
from diagnosis.graph import JOB
from diagnosis.model import STRENGTHS, Finding, Hypothesis, Match
from diagnosis.rulebook import CauseRule, Rulebook, SymptomRule

MOST_ENTITIES = 4  # beyond that many, one cause on many entities is told as one finding


def propose(facts: Facts, rulebook: Rulebook, *, language: str = "en") -> tuple[list[Hypothesis], list[Hypothesis]]:
    """Return (hypotheses for causes, symptoms seen), each sorted by id and entity."""
    conditions = Conditions(facts, rulebook)
    causes = [
        hypothesis
        for rule in rulebook.causes.values()
        if rule.status != "deprecated"
        for hypothesis in _propose_rule(rule, conditions, rulebook, language)
    ]
    symptoms = [
        hypothesis
        for symptom in rulebook.symptoms.values()
        for hypothesis in _propose_rule(symptom, conditions, rulebook, language)
    ]
    return causes, symptoms


def _propose_rule(
    rule: CauseRule | SymptomRule, conditions: Conditions, rulebook: Rulebook, language: str
) -> list[Hypothesis]:
    found: list[tuple[int, float, str, list[Match]]] = []
    weight = 0.5 if isinstance(rule, CauseRule) and rule.status == "draft" else 1.0
    for number, evidence in enumerate(rule.evidence):
        matches = conditions.find(evidence.when)
        if matches:
            why = evidence.why.in_language(language) if evidence.why else ""
            found.append((number, STRENGTHS[evidence.strength] * weight, why, matches))
    if not found:
        return []
    groups: dict[str, list[Finding]] = defaultdict(list)
    for number, strength, why, matches in found:
        by_entity: dict[str, list[Match]] = defaultdict(list)
        for match in matches:
            by_entity[_entity(match, rule.evidence[number].entity or rule.entity, conditions.facts)].append(match)
        for entity, chosen in by_entity.items():
            groups[entity].append(Finding(f"{rule.id}#{number}", strength, why, tuple(chosen)))
    merged = _merge_vague(groups)
    against = _find_against(rule, conditions, language) if isinstance(rule, CauseRule) else []
    layer = rulebook.layer_of(rule.id) if isinstance(rule, CauseRule) else ""
    hypotheses = []
    for entity, others, findings in merged:
        contradictions = [
            Finding(key, strength, why, tuple(kept), supports=False)
            for key, strength, why, matches in against
            if (kept := [match for match in matches if _concerns(match, entity, rule.entity, conditions.facts)])
        ]
        hypothesis = Hypothesis(rule.id, entity, _node(entity, findings), layer, [*findings, *contradictions], others)
        hypotheses.append(hypothesis)
    return sorted(hypotheses, key=lambda one: one.key)


def _find_against(rule: CauseRule, conditions: Conditions, language: str) -> list[tuple[str, float, str, list[Match]]]:
    return [
        (f"{rule.id}!{number}", STRENGTHS[entry.strength], entry.why.in_language(language), matches)
        for number, entry in enumerate(rule.against)
        if (matches := conditions.find(entry.when))
    ]


def _entity(match: Match, kind: str, facts: Facts) -> str:
    """Return which entity of the rule's kind a match is about; the common host when it names several or none."""
    if match.subject is not None and (name := facts.resolver.entity_of(match.subject, kind)):
        return name
    named = dict.fromkeys(name for one in match.observations if (name := facts.resolver.entity_of(one, kind)))
    if kind == "job" and not named:
        return JOB  # a job is on no host
    if len(named) == 1:
        return next(iter(named))
    hosts = dict.fromkeys(one.node for one in match.observations if one.node)
    if len(named) > 1 and len(hosts) != 1:
        return next(iter(named)) if len(hosts) == 0 else ""
    return f"node:{next(iter(hosts))}" if len(hosts) == 1 else ""


def _merge_vague(groups: dict[str, list[Finding]]) -> list[tuple[str, tuple[str, ...], list[Finding]]]:
    """Give findings that name no entity (or only a host) to the entities that they may belong to, and bundle crowds."""
    exact = sorted(name for name in groups if name and kind_of(name) != "node")
    whole = [JOB] if JOB in exact and len(exact) > 1 else []  # of the job as a whole, while some of it name a rank
    exact = [name for name in exact if name not in whole]
    hosts = sorted(name for name in groups if kind_of(name) == "node")
    rows: dict[str, list[str]] = {}  # which groups make up each row
    taken: set[str] = set()
    for name in exact:
        host = node_of(name)
        vague = [one for one in ([f"node:{host}"] if host else hosts if len(hosts) == 1 else []) if one in groups]
        rows[name] = [name, *vague]
        taken.update(vague)
    for name in hosts:
        if name not in taken:
            rows[name] = [name]
    if whole:
        rows = {name: [*parts, JOB] for name, parts in rows.items()}
    if "" in groups:
        rows = {name: [*parts, ""] for name, parts in rows.items()} or {"": [""]}
    names = sorted(rows)
    if len(names) > MOST_ENTITIES:
        nodes = {node_of(name) for name in names}
        best = max(names, key=lambda name: len({one.key for part in rows[name] for one in groups[part]}))
        entity = f"node:{next(iter(nodes))}" if len(nodes) == 1 and "" not in nodes else best
        every = dict.fromkeys(part for name in names for part in rows[name])
        return [(entity, tuple(name for name in names if name != entity), _join(groups, every))]
    return [(name, (), _join(groups, rows[name])) for name in names]


def _join(groups: Mapping[str, Sequence[Finding]], names: Iterable[str]) -> list[Finding]:
    """Return the findings of several groups, those of one piece of evidence as one."""
    by_key: dict[str, list[Finding]] = defaultdict(list)
    for name in names:
        for one in groups[name]:
            by_key[one.key].append(one)
    joined = []
    for key in sorted(by_key, key=lambda key: (len(key), key)):  # evidence 2 before evidence 10
        first, *more = by_key[key]
        matches = tuple(dict.fromkeys(match for one in by_key[key] for match in one.matches)) if more else first.matches
        joined.append(replace(first, matches=matches))
    return joined


def _concerns(match: Match, entity: str, kind: str, facts: Facts) -> bool:
    other = _entity(match, kind, facts)
    if not other or not entity or other == entity:
        return True
    if kind_of(other) == "node" or kind_of(entity) == "node":
        return node_of(other) == node_of(entity) or not node_of(entity) or not node_of(other)
    return False


def _node(entity: str, findings: Sequence[Finding]) -> str:
    host = node_of(entity)
    if host:
        return host
    hosts = {one.node for finding in findings for one in finding.observations() if one.node}
    return next(iter(hosts)) if len(hosts) == 1 else ""
