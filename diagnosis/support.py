"""What a hypothesis's own evidence is worth: a noisy-OR over independent findings, `1 - Π(1 - s)`; contradictions multiply, `Π(1 - c)`."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis.adjustments import SENTENCES
from diagnosis.model import Finding, Hypothesis, ScorePart


def score_support(one: Hypothesis, language: str) -> None:
    """Set the probability of a hypothesis from its own evidence."""
    missing = 1.0
    for finding in _independent(one.findings):
        if finding.supports:
            missing *= 1.0 - finding.strength
            one.parts.append(
                ScorePart(
                    "evidence", round(finding.strength, 3), finding.because or _cite(finding.observations()[0].text)
                )
            )
    one.probability = 1.0 - missing
    for finding in one.findings:
        if not finding.supports:
            one.probability *= 1.0 - finding.strength
            one.parts.append(
                ScorePart("against", -round(finding.strength, 3), finding.because or SENTENCES["against"][language])
            )


def _independent(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings without those that say nothing but what a stronger one says of the same lines already."""
    told: set[tuple[str, int]] = set()
    kept: set[int] = set()
    for finding in sorted((one for one in findings if one.supports), key=lambda one: (-one.strength, one.key)):
        lines = {(one.input, one.line) for one in finding.observations()}
        if not lines <= told:
            kept.add(id(finding))
            told |= lines
    return [one for one in findings if not one.supports or id(one) in kept]


def _cite(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."
