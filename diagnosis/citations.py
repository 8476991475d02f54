"""Which lines a report cites, and how."""

from __future__ import annotations

from datetime import UTC, datetime

from collectors.observation import Observation
from diagnosis.context import Context
from diagnosis.model import EvidencePart, Finding, Hypothesis
from diagnosis.redaction import hide_secrets
from diagnosis.wording import say

MOST_LINES = 6  # cited lines of one finding
_MOST_EFFECT_LINES, _MOST_EFFECTS = 2, 12  # cited lines of one effect of a cause, and of all of them


def cite_findings(one: Hypothesis) -> list[EvidencePart]:
    """Cite each finding's lines: the first ones, and the last so that the span is seen; a line once."""
    parts: dict[tuple[str, int], EvidencePart] = {}
    for finding in one.findings:
        lines = sorted(finding.observations(), key=lambda item: (item.input, item.line))
        for item in [*lines[: MOST_LINES - 1], *lines[MOST_LINES - 1 :][-1:]]:
            parts.setdefault((item.input, item.line), cite_line(item, finding))
    return list(parts.values())


def cite_effects(one: Hypothesis, context: Context) -> list[EvidencePart]:
    """Cite the first lines of what this cause brought about, so that the chain can be followed from the loudest line down."""
    known = {(item.input, item.line) for item in one.observations()}
    parts: dict[tuple[str, int], EvidencePart] = {}
    for effect in one.explains:
        title = context.rulebook.title(effect.id, context.language)
        why = say("brought-about", context.language, title=title)
        lines = [item for item in effect.observations() if (item.input, item.line) not in known]
        for item in lines[:_MOST_EFFECT_LINES]:
            line = cite_line(item).model_copy(update={"signal": effect.id, "why": why})
            parts.setdefault((item.input, item.line), line)
    return list(parts.values())[:_MOST_EFFECTS]


def cite_line(one: Observation, finding: Finding | None = None) -> EvidencePart:
    """Return the citation of an observation."""
    return EvidencePart(
        input=one.input,
        line=one.line,
        line_end=one.line_end if one.line_end > one.line else None,
        text=hide_secrets((one.raw or one.text)[:2000]),
        signal=finding.key if finding else one.kind,
        role="supports" if finding is None or finding.supports else "contradicts",
        why=finding.because if finding else "",
        time=show_time(one.time) if one.time else None,
    )


def show_time(seconds: float) -> str:
    """Return a moment as reports write it: ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
