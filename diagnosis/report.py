"""Tell: from ranked hypotheses to the report, in one language."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from casebase.match import cite
from diagnosis.citations import MOST_LINES, cite_effects, cite_findings, cite_line, show_time
from diagnosis.context import Context
from diagnosis.model import (
    CONCERN,
    LAYERS,
    SHOWN,
    CasePart,
    CausePart,
    Explained,
    Hypothesis,
    LayerPart,
    Report,
    ScorePartOut,
    Status,
    SymptomPart,
    UnexplainedPart,
)
from diagnosis.next_checks import fill_check, find_next_checks
from diagnosis.redaction import hide_secrets
from diagnosis.templates import group_lines
from diagnosis.verdict import decide, state

MOST_CAUSES = 12
_MOST_UNEXPLAINED = 12
_CASE_KINDS = {"event": "kube"}  # how cases spell the kinds of their signals


def build_report(ranked: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context) -> Report:
    """Return the report of a diagnosis. The same facts in any order give the same report, `id` and `created` aside."""
    language = context.language
    shown = [one for one in ranked if one.probability >= SHOWN][:MOST_CAUSES]
    roots = [one for one in shown if one.verdict == "root"]
    outcome = decide(roots, symptoms, context)
    causes = [_cause(rank, one, symptoms, context) for rank, one in enumerate(shown, 1)]
    cited = {(line.input, line.line) for cause in causes for line in cause.evidence}
    symptom_parts = [_symptom(one, context) for one in symptoms]
    body = Report(
        id="",
        created=show_time(context.now),
        language=language,
        outcome=outcome,
        verdict=state(outcome, roots, symptoms, context),
        inputs=list(context.inputs),
        symptoms=symptom_parts,
        causes=causes,
        walk=_walk(shown, context),
        next_checks=find_next_checks(outcome, roots, symptoms, context),
        unexplained=_unexplained(context, cited),
    )
    digest = hashlib.sha256(body.model_dump_json(exclude={"id"}).encode()).hexdigest()
    return body.model_copy(update={"id": digest[:32]})


def _cause(rank: int, one: Hypothesis, symptoms: Sequence[Hypothesis], context: Context) -> CausePart:
    language, rulebook = context.language, context.rulebook
    rule = rulebook.causes[one.id]
    return CausePart(
        rank=rank,
        cause=one.id,
        title=rule.title.in_language(language),
        summary=rule.summary.in_language(language) if rule.summary else "",
        layer=one.layer,  # type: ignore[arg-type]
        entity=one.place,
        also_on=list(one.others),
        probability=round(min(max(one.probability, 0.0), 1.0), 3),
        verdict=one.verdict,
        because_of=one.because_of.id if one.because_of else None,
        action=rule.action,
        score=[
            ScorePartOut(part=part.part, value=part.value, because=hide_secrets(part.because)) for part in one.parts
        ],
        evidence=cite_findings(one) + cite_effects(one, context),
        explains=[_explained(other, context) for other in one.explains],
        path=one.path,
        checks=[fill_check(check, one, language) for check in rule.checks],
        fix=[text.in_language(language) for text in rule.fix],
        cases=_cases(one, symptoms, context),
        references=rule.references,
    )


def _explained(one: Hypothesis, context: Context) -> Explained:
    return Explained(id=one.id, title=context.rulebook.title(one.id, context.language), entity=one.entity)


def _symptom(one: Hypothesis, context: Context) -> SymptomPart:
    return SymptomPart(
        symptom=one.id,
        title=context.rulebook.title(one.id, context.language),
        entity=one.entity,
        evidence=cite_findings(one)[:MOST_LINES],
    )


def _cases(one: Hypothesis, symptoms: Sequence[Hypothesis], context: Context) -> list[CasePart]:
    signals = {one.id, *(other.id for other in one.explains if other.layer)}
    for observation in one.observations():
        if observation.kind != "text" and observation.code:
            signals.add(f"{_CASE_KINDS.get(observation.kind, observation.kind)}:{observation.code}")
    names = {
        name: context.rulebook.title(name, context.language)
        for name in (*context.rulebook.causes, *context.rulebook.symptoms)
    }
    citations = cite(
        context.library,
        one.id,
        signals=signals,
        symptoms={symptom.id for symptom in symptoms},
        language=context.language,
        names=names,
    )
    return [CasePart(case=c.case, title=c.title, similarity=round(c.similarity, 3), why=c.why) for c in citations]


def _walk(shown: Sequence[Hypothesis], context: Context) -> list[LayerPart]:
    parts = []
    for layer in LAYERS:
        found = [one for one in shown if one.layer == layer]
        blamed = [one for one in found if one.verdict == "root" and one.probability >= CONCERN]
        looked_at = sorted(context.looked_at.get(layer, ()))
        status: Status = "fault" if blamed else "suspect" if found else "clear" if looked_at else "no-data"
        titles = list(dict.fromkeys(context.rulebook.title(one.id, context.language) for one in found))
        parts.append(LayerPart(layer=layer, status=status, looked_at=looked_at, findings=titles))  # type: ignore[arg-type]
    return parts


def _unexplained(context: Context, cited: set[tuple[str, int]]) -> list[UnexplainedPart]:
    lines = [one for one in context.facts.by_kind.get("unexplained", ()) if (one.input, one.line) not in cited]
    groups = group_lines([hide_secrets(one.text) for one in lines])
    parts = [
        UnexplainedPart(template=template, count=len(members), first=cite_line(lines[members[0]]))
        for template, members in groups
    ]
    parts.sort(key=lambda part: (-part.count, part.first.input, part.first.line))
    return parts[:_MOST_UNEXPLAINED]
