"""Tell: from ranked hypotheses to the report, in one language."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from casebase.library import Library
from casebase.match import cite
from collectors.observation import Observation
from diagnosis.entities import kind_of, node_of
from diagnosis.facts import Facts
from diagnosis.model import (
    CONCERN,
    LAYERS,
    SHOWN,
    CasePart,
    CausePart,
    CheckPart,
    EvidencePart,
    Explained,
    Finding,
    Hypothesis,
    InputPart,
    Language,
    LayerPart,
    NextCheck,
    Outcome,
    Report,
    ScorePartOut,
    Status,
    SymptomPart,
    UnexplainedPart,
)
from diagnosis.redaction import hide_secrets
from diagnosis.rulebook import Rulebook
from diagnosis.rulebook.schema import Check
from diagnosis.templates import group_lines
from diagnosis.wording import describe_entity, percent, say

MOST_LINES = 6  # cited lines of one finding
MOST_EFFECT_LINES, MOST_EFFECTS = 2, 12  # cited lines of one effect of a cause, and of all of them
MOST_CAUSES = 12
MOST_CHECKS = 6
MOST_UNEXPLAINED = 12


@dataclass(frozen=True, slots=True)
class Context:
    """What the report needs beside the hypotheses."""

    facts: Facts
    rulebook: Rulebook
    library: Library
    inputs: Sequence[InputPart]
    looked_at: Mapping[str, Sequence[str]]  # layer -> inputs that let one judge it
    language: Language
    now: float


def build_report(ranked: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context) -> Report:
    """Return the report of a diagnosis. The same facts in any order give the same report, `id` and `created` aside."""
    language = context.language
    shown = [one for one in ranked if one.probability >= SHOWN][:MOST_CAUSES]
    roots = [one for one in shown if one.verdict == "root"]
    outcome = _decide(roots, symptoms, context)
    causes = [_cause(rank, one, symptoms, context) for rank, one in enumerate(shown, 1)]
    cited = {(line.input, line.line) for cause in causes for line in cause.evidence}
    symptom_parts = [_symptom(one, context) for one in symptoms]
    created = datetime.fromtimestamp(context.now, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    body = Report(
        id="",
        created=created,
        language=language,
        outcome=outcome,
        verdict=_verdict(outcome, roots, symptoms, context) + _caution(outcome, context),
        inputs=list(context.inputs),
        symptoms=symptom_parts,
        causes=causes,
        walk=_walk(shown, context),
        next_checks=_next_checks(outcome, roots, symptoms, context),
        unexplained=_unexplained(context, cited),
    )
    digest = hashlib.sha256(body.model_dump_json(exclude={"id"}).encode()).hexdigest()
    return body.model_copy(update={"id": digest[:32]})


def _decide(roots: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context) -> Outcome:
    if not roots:
        return "undecided" if symptoms else "nothing-found"
    first = roots[0]
    if first.probability < CONCERN or context.rulebook.causes[first.id].inconclusive:
        return "undecided"
    rivals = [one for one in roots[1:] if _are_rivals(first, one)]
    close = rivals and first.probability < 0.9 and first.probability - rivals[0].probability < 0.1
    return "undecided" if close else "diagnosed"


def _are_rivals(one: Hypothesis, other: Hypothesis) -> bool:
    """Tell whether two roots explain the same thing or rest on the same lines."""
    if {id(item) for item in one.explains} & {id(item) for item in other.explains}:
        return True
    return bool(set(one.observations()) & set(other.observations()))


def _verdict(outcome: Outcome, roots: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context) -> str:
    language, rulebook = context.language, context.rulebook
    if outcome == "diagnosed":
        first = roots[0]
        where = first.entity or (f"node:{first.node}" if first.node else "")
        values = {"title": rulebook.title(first.id, language), "probability": percent(first.probability)}
        return (
            say("diagnosed", language, entity=describe_entity(where, language), **values)
            if where
            else say("diagnosed-nowhere", language, **values)
        )
    if outcome == "undecided" and roots:
        first = roots[0]
        ended = next((part for part in first.parts if part.part == "ended"), None)
        if ended is not None:
            where = describe_entity(first.entity or f"node:{first.node}", language)
            return say("over", language, title=rulebook.title(first.id, language), entity=where, because=ended.because)
        rivals = [one for one in roots[1:3] if first.probability - one.probability < 0.1]
        if rivals and not rulebook.causes[first.id].inconclusive:
            titles = say("or", language).join(rulebook.title(one.id, language) for one in (first, *rivals))
            return say("undecided", language, titles=titles)
        return say(
            "suspected", language, title=rulebook.title(first.id, language), probability=percent(first.probability)
        )
    if outcome == "undecided":
        titles = ", ".join(dict.fromkeys(rulebook.title(one.id, language) for one in symptoms))
        return say("symptoms-only", language, titles=titles)
    return say("nothing-found", language, count=len(context.inputs), lines=sum(one.lines for one in context.inputs))


def _caution(outcome: Outcome, context: Context) -> str:
    """Return a sentence on inputs that were filtered, where nothing was proven: what they lack proves nothing."""
    filtered = context.facts.by_kind.get("filtered", ())
    if outcome == "diagnosed" or not filtered:
        return ""
    language = context.language
    sources = say("or", language).join(sorted({one.source for one in filtered}))
    words = ", ".join(sorted({one.code for one in filtered}))
    return ("" if language == "zh" else " ") + say("filtered", language, sources=sources, words=words)


def _cause(rank: int, one: Hypothesis, symptoms: Sequence[Hypothesis], context: Context) -> CausePart:
    language, rulebook = context.language, context.rulebook
    rule = rulebook.causes[one.id]
    return CausePart(
        rank=rank,
        cause=one.id,
        title=rule.title.in_language(language),
        summary=rule.summary.in_language(language) if rule.summary else "",
        layer=one.layer,  # type: ignore[arg-type]
        entity=one.entity or (f"node:{one.node}" if one.node else ""),
        also_on=list(one.others),
        probability=round(min(max(one.probability, 0.0), 1.0), 3),
        verdict=one.verdict,
        because_of=one.because_of.id if one.because_of else None,
        action=rule.action,
        score=[
            ScorePartOut(part=part.part, value=part.value, because=hide_secrets(part.because)) for part in one.parts
        ],
        evidence=_evidence(one) + _explained_lines(one, context),
        explains=[_explained(other, context) for other in one.explains],
        path=one.path,
        checks=[_check(check, one, language) for check in rule.checks],
        fix=[text.in_language(language) for text in rule.fix],
        cases=_cases(one, symptoms, context),
        references=rule.references,
    )


def _evidence(one: Hypothesis) -> list[EvidencePart]:
    """Cite each finding's lines: the first ones, and the last so that the span is seen; a line once."""
    parts: dict[tuple[str, int], EvidencePart] = {}
    for finding in one.findings:
        lines = sorted(finding.observations(), key=lambda item: (item.input, item.line))
        for item in [*lines[: MOST_LINES - 1], *lines[MOST_LINES - 1 :][-1:]]:
            parts.setdefault((item.input, item.line), cite_line(item, finding))
    return list(parts.values())


def _explained_lines(one: Hypothesis, context: Context) -> list[EvidencePart]:
    """Cite the first lines of what this cause brought about, so that the chain can be followed from the loudest line down."""
    known = {(item.input, item.line) for item in one.observations()}
    parts: dict[tuple[str, int], EvidencePart] = {}
    for effect in one.explains:
        title = context.rulebook.title(effect.id, context.language)
        why = say("brought-about", context.language, title=title)
        lines = [item for item in effect.observations() if (item.input, item.line) not in known]
        for item in lines[:MOST_EFFECT_LINES]:
            line = cite_line(item).model_copy(update={"signal": effect.id, "why": why})
            parts.setdefault((item.input, item.line), line)
    return list(parts.values())[:MOST_EFFECTS]


def cite_line(one: Observation, finding: Finding | None = None) -> EvidencePart:
    """Return the citation of an observation."""
    time = (
        datetime.fromtimestamp(one.time, UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if one.time else None
    )
    return EvidencePart(
        input=one.input,
        line=one.line,
        line_end=one.line_end if one.line_end > one.line else None,
        text=hide_secrets((one.raw or one.text)[:2000]),
        signal=finding.key if finding else one.kind,
        role="supports" if finding is None or finding.supports else "contradicts",
        why=finding.because if finding else "",
        time=time,
    )


def _explained(one: Hypothesis, context: Context) -> Explained:
    return Explained(id=one.id, title=context.rulebook.title(one.id, context.language), entity=one.entity)


def _symptom(one: Hypothesis, context: Context) -> SymptomPart:
    return SymptomPart(
        symptom=one.id,
        title=context.rulebook.title(one.id, context.language),
        entity=one.entity,
        evidence=_evidence(one)[:MOST_LINES],
    )


def _check(check: Check, one: Hypothesis, language: Language) -> CheckPart:
    return CheckPart(
        run=_fill(check.run, one),
        on=_fill(check.on, one),
        confirms=check.confirms,
        tells=check.tells.in_language(language) if check.tells else "",
    )


def _fill(template: str, one: Hypothesis) -> str:
    """Fill `{node}`, `{pci}`, `{pod}`, ... from the hypothesis; what is not known stays as `<node>`, or is what stands behind a bar:
    `{peer_host|the host of the named peer}`."""
    values: dict[str, str] = {}
    derived = [
        m.subject
        for finding in one.findings
        if finding.supports
        for m in finding.matches[:MOST_LINES]
        if m.subject is not None
    ]
    for observation in (*reversed(one.observations()), *reversed(derived)):
        values.update({name: value for name, value in observation.attributes.items() if value})
    name = one.entity.partition(":")[2].rpartition("/")[2]
    values[kind_of(one.entity)] = name.removeprefix("dcgm-")  # what dcgmi's own commands take
    node = node_of(one.entity) or one.node
    if node:
        values["node"] = node
    if kind_of(one.entity) in ("gpu", "pcie_device", "nvswitch") and name.count(":") >= 2:
        values["pci"] = name
    filled, position = "", 0
    while (start := template.find("{", position)) >= 0 and (end := template.find("}", start)) >= 0:
        key, _, otherwise = template[start + 1 : end].partition("|")
        whole = template[start : end + 1]
        known = (values.get(key) or otherwise or f"<{key}>") if key.isidentifier() else whole
        filled += template[position:start] + known
        position = end + 1
    return filled + template[position:]


_CASE_KINDS = {"event": "kube"}  # how cases spell the kinds of their signals


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


def _next_checks(
    outcome: Outcome, roots: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context
) -> list[NextCheck]:
    language, rulebook = context.language, context.rulebook
    checks: dict[str, NextCheck] = {}
    for place, one in enumerate(roots[:3]):
        rival = next((other for other in roots[:3] if other is not one), None)
        title = rulebook.title(one.id, language)
        for check in rulebook.causes[one.id].checks[: 2 if place else 3]:
            run = _fill(check.run, one)
            separates = [one.id, *([rival.id] if rival and outcome == "undecided" else [])]
            because = check.tells.in_language(language) if check.tells else ""
            if not because and len(separates) > 1 and rival is not None:
                because = say("check-separates", language, first=title, second=rulebook.title(rival.id, language))
            because = because or say("check-confirms", language, first=title)
            checks.setdefault(run, NextCheck(run=run, on=_fill(check.on, one), separates=separates, because=because))
    if outcome != "diagnosed":
        for missing in (*_whole_checks(context), *_missing_checks(symptoms, context)):
            checks.setdefault(missing.run, missing)
    return list(checks.values())[:MOST_CHECKS]


_LOOK = (  # what to fetch for a layer of which nothing was seen
    ("node", "dmesg -T", "node"),
    ("fabric", "ibstat; rdma link; perfquery -x", "node"),
    ("platform", "kubectl describe pod <pod>; kubectl get events --sort-by=.lastTimestamp", "control plane"),
    ("hardware", "nvidia-smi -q", "node"),
    ("storage", "mount; df -h; df -i; dmesg -T | grep -iE 'nfs|lustre|ceph|nvme'", "node"),
)


_WHOLE = {"kernel": "dmesg -T", "driver": "lsmod", "lspci": "lspci -nn", "nvidia-smi": "nvidia-smi -q"}


def _whole_checks(context: Context) -> list[NextCheck]:
    """For sources of which only filtered lines were seen: the command that shows all of them."""
    found = []
    for one in context.facts.by_kind.get("filtered", ()):
        if one.source in _WHOLE:
            because = say("look-whole", context.language, words=one.code)
            found.append(NextCheck(run=_WHOLE[one.source], on=one.node or "node", separates=[], because=because))
    return found


def _missing_checks(symptoms: Sequence[Hypothesis], context: Context) -> list[NextCheck]:
    """For symptoms without a proven cause: the layers that could bring them about and that nobody looked at."""
    rulebook, found = context.rulebook, []
    for layer, run, on in _LOOK:
        if context.looked_at.get(layer):
            continue
        able = [
            symptom
            for symptom in symptoms
            if any(
                symptom.id in rulebook.reach(cause) for cause in rulebook.causes if rulebook.layer_of(cause) == layer
            )
        ]
        if able:
            title = rulebook.title(able[0].id, context.language)
            because = say("look-at", context.language, layer=layer, first=title)
            host = next((one.node for one in symptoms if one.node), "")
            found.append(NextCheck(run=run, on=host if on == "node" and host else on, separates=[], because=because))
    return found


def _unexplained(context: Context, cited: set[tuple[str, int]]) -> list[UnexplainedPart]:
    lines = [one for one in context.facts.by_kind.get("unexplained", ()) if (one.input, one.line) not in cited]
    groups = group_lines([hide_secrets(one.text) for one in lines])
    parts = [
        UnexplainedPart(template=template, count=len(members), first=cite_line(lines[members[0]]))
        for template, members in groups
    ]
    parts.sort(key=lambda part: (-part.count, part.first.input, part.first.line))
    return parts[:MOST_UNEXPLAINED]
