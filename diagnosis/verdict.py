"""The outcome of a diagnosis and the sentence that tells it."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis.context import Context
from diagnosis.model import CONCERN, Hypothesis, Outcome
from diagnosis.wording import describe_entity, percent, say


def decide(roots: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context) -> Outcome:
    """Return whether the first root is the answer, or leaves it open."""
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


def state(outcome: Outcome, roots: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context) -> str:
    """Return the verdict in one or two sentences, in the report's language."""
    return _tell(outcome, roots, symptoms, context) + _caution(outcome, context)


def _tell(outcome: Outcome, roots: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context) -> str:
    language, rulebook = context.language, context.rulebook
    if outcome == "diagnosed":
        first = roots[0]
        where = first.place
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
            where = describe_entity(first.place, language)
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
