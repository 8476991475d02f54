"""What is over by the time of the complaint: seen long before, in an earlier boot of the host, or ended by its remedy."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis.adjustments import SENTENCES, multiply
from diagnosis.consequences import lag_of
from diagnosis.figures import read_number
from diagnosis.model import CONCERN, Hypothesis
from diagnosis.recovery import Recovery, ended_by
from diagnosis.rulebook import Rulebook

_SAME_BOOT = 300.0  # seconds by which the start of one boot may differ, told from lines that syslog stamped late
_OLD = 86400.0  # seconds: a cause last seen this long before the first complaint is history


def put_back_old(one: Hypothesis, complaint: float | None, rulebook: Rulebook, language: str) -> None:
    """Halve what was last seen a day or more before the first complaint."""
    last = one.times()[1]
    if complaint is not None and last is not None and last < complaint - max(_OLD, lag_of(one, rulebook)):
        multiply(one, "old", 0.5, SENTENCES["old"][language])


def put_back_earlier_boots(roots: Sequence[Hypothesis], language: str) -> None:
    """Halve what was last seen in an earlier boot of a host on which another root is seen in a later one.

    Only lines with both a time and an uptime tell their boot; a root with evidence that does not stays as it is.
    """
    starts = {one.key: start for one in roots if (start := _last_start(one)) is not None}
    for one in roots:
        later = [
            other
            for other in roots
            if other.key in starts
            and one.key in starts
            and other.node == one.node
            and other.probability >= CONCERN
            and starts[other.key] > starts[one.key] + _SAME_BOOT
        ]
        if later and one.probability >= CONCERN:
            best = max(later, key=lambda other: (other.probability, other.key))
            multiply(one, "earlier-boot", 0.5, SENTENCES["earlier-boot"][language].format(other=best.id))


def put_back_ended(
    roots: Sequence[Hypothesis], recoveries: Sequence[Recovery], rulebook: Rulebook, language: str
) -> None:
    """Halve what was ended by its remedy (reboot, reset) and explains nothing beside its own lines: it is over.

    What a job or a pod complains of stays explained by it.
    """
    for one in roots:
        ended = ended_by(one, rulebook.causes[one.id].action, recoveries) if recoveries else None
        own = {(fact.input, fact.line) for fact in one.observations()}
        hurt = any((fact.input, fact.line) not in own for other in one.explains for fact in other.observations())
        if ended is not None and not hurt:
            multiply(one, "ended", 0.5, SENTENCES[f"ended-{ended.code}"][language])


def _last_start(one: Hypothesis) -> float | None:
    """Return when the host was started in whose boot the evidence was last seen, None when some of it does not tell."""
    starts = []
    for finding in one.findings:
        for seen in finding.observations() if finding.supports else ():
            uptime = read_number(seen, "uptime")
            if seen.time is None or uptime is None:
                return None
            starts.append(seen.time - uptime)
    return max(starts, default=None)
