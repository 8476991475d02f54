"""Order hypotheses: support, contradiction, root told from consequence. Pure; every number is a named part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import networkx as nx

from collectors.observation import HOST_KINDS
from diagnosis.adjustments import SENTENCES, multiply
from diagnosis.bygones import put_back_earlier_boots, put_back_ended, put_back_old
from diagnosis.consequences import depth_of, fits, root_of, tell_consequences
from diagnosis.entities import kind_of
from diagnosis.model import CONCERN, EVIDENCED, Hypothesis, ScorePart
from diagnosis.paths import trace_path
from diagnosis.recovery import Recovery
from diagnosis.rulebook import Rulebook
from diagnosis.support import score_support


def rank(
    causes: Sequence[Hypothesis],
    symptoms: Sequence[Hypothesis],
    graph: nx.DiGraph,
    rulebook: Rulebook,
    *,
    priors: Mapping[str, float] | None = None,
    recoveries: Sequence[Recovery] = (),
    language: str = "en",
) -> list[Hypothesis]:
    """Score the hypotheses, tell roots from consequences and return them best first.

    Sets `probability`, `parts`, `verdict`, `because_of`, `explains` and `path` on each hypothesis.
    """
    complaint = min((time for one in symptoms if (time := one.times()[0]) is not None), default=None)
    for one in causes:
        score_support(one, language)
        put_back_old(one, complaint, rulebook, language)
    tell_consequences(causes, graph, rulebook)
    roots = [one for one in causes if one.verdict == "root"]
    _explain_away(roots, rulebook, language)
    for one in roots:
        one.explains = sorted(
            [other for other in causes if root_of(other) is one and other is not one]
            + [
                symptom
                for symptom in symptoms
                if symptom.id in rulebook.reach(one.id) and fits(symptom, one, graph, rulebook)
            ],
            key=lambda other: other.key,
        )
        _score_reach(one, symptoms, language)
    put_back_earlier_boots(roots, language)
    put_back_ended(roots, recoveries, rulebook, language)
    prior = priors or {}
    ordered = _join_siblings(sorted(causes, key=lambda one: _order(one, prior)))
    for one in ordered:
        one.path = trace_path(one, graph)
    return ordered


def _explain_away(roots: Sequence[Hypothesis], rulebook: Rulebook, language: str) -> None:
    """A root that rests only on lines which a stronger root explains too has nothing of its own."""
    ordered = sorted(roots, key=lambda root: root.key)
    lines = {id(one): {(fact.input, fact.line) for fact in one.observations()} for one in ordered}
    holders: dict[tuple[str, int], list[Hypothesis]] = {}
    for one in ordered:
        for line in lines[id(one)]:
            holders.setdefault(line, []).append(one)
    for one in ordered:
        own = lines[id(one)]
        fewest: list[Hypothesis] = min((holders[line] for line in own), key=len, default=[])
        for other in fewest:
            if other.id == one.id or (other.probability, _own_strength(other)) <= (one.probability, _own_strength(one)):
                continue
            if own <= lines[id(other)]:
                title = rulebook.title(other.id, language)
                multiply(one, "shared", 0.6, SENTENCES["shared"][language].format(other=title))
                break


def _own_strength(one: Hypothesis) -> float:
    return max((finding.strength for finding in one.findings if finding.supports), default=0.0)


def _score_reach(one: Hypothesis, symptoms: Sequence[Hypothesis], language: str) -> None:
    others = [other for other in one.explains if other.layer and other.probability >= EVIDENCED]
    if others:
        before = one.probability
        one.probability = 1.0 - (1.0 - before) * 0.7 ** min(len(others), 2)
        sentence = SENTENCES["explains"][language].format(count=len(others))
        one.parts.append(ScorePart("explains", round(one.probability - before, 3), sentence))
    if symptoms and not any(not other.layer for other in one.explains):
        multiply(one, "unrelated", 0.85, SENTENCES["unrelated"][language])


def _order(one: Hypothesis, priors: Mapping[str, float]) -> tuple[object, ...]:
    first = one.times()[0]
    # what the job suffers from comes before a fault that it does not feel
    felt = one.probability >= CONCERN and any(
        not other.layer and kind_of(other.entity) == "job" for other in one.explains
    )
    return (
        one.verdict != "root",
        not felt,
        -round(one.probability, 2),
        -len(one.explains),
        -sum(1 for finding in one.findings if finding.supports),
        depth_of(one),
        -priors.get(one.id, 0.0),
        first if first is not None else math.inf,
        one.key,
    )


def _join_siblings(ordered: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Tell one cause on several GPUs, NICs or disks of one host, or on several hosts by the same lines, once.

    The best stands, with the others' names and lines. Blamed ones join blamed ones only, so that a hint on one thing never rides
    on the proof on another.
    """
    kept: list[Hypothesis] = []
    firsts: dict[tuple[object, ...], Hypothesis] = {}
    stands_in: dict[int, Hypothesis] = {}
    for one in ordered:
        if one.because_of is not None:
            one.because_of = stands_in.get(id(one.because_of), one.because_of)
        kind, root = kind_of(one.entity), one.because_of
        shared = frozenset((fact.input, fact.line) for fact in one.observations()) if kind == "node" else one.node
        place = (one.id, kind, shared, root.key if root else None, one.probability >= CONCERN)
        first = firsts.setdefault(place, one)
        if first is one or (kind not in HOST_KINDS and kind != "node"):
            kept.append(one)
            continue
        stands_in[id(one)] = first
        first.others = tuple(dict.fromkeys((*first.others, one.entity, *one.others)))
        first.add_findings(one.findings)
        first.explains.extend(one.explains)
    for one in kept:
        one.explains = list(
            {id(other): other for each in one.explains if (other := stands_in.get(id(each), each)) is not one}.values()
        )
    return kept
