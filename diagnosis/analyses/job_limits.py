"""Whether a batch job ended at its time limit, or at the signal that it asked for some time before the limit.

Slurm ends a job that runs over its limit in state TIMEOUT; a script that asked for a signal ahead of the limit (`--signal=USR2@120`)
often ends or requeues itself before, so that the accounting says REQUEUED, CANCELLED or FAILED. Slurm may send the signal up to 60
seconds early (sbatch documentation, --signal).

Derived: `job-limit` with code `reached` (ran as long as allowed) or `signalled` (ended within the time that the signal gives).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_DURATION = re.compile(r"(?:(?P<days>\d{1,5})-)?(?P<hours>\d{1,5}):(?P<minutes>\d\d)(?::(?P<seconds>\d\d)(?:\.\d+)?)?")
_ENDED = ("REQUEUED", "CANCELLED", "FAILED", "TIMEOUT", "DEADLINE")
_EARLY = 60.0  # seconds: the signal may come this much before its time


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `job-limit` for each job whose accounting shows that its time was over."""
    signals = facts.by_kind.get("slurm-signal", ())
    for one in facts.by_kind.get("slurm-job", ()):
        if not one.code.upper().startswith(_ENDED):
            continue
        limit = parse_duration(one.attributes.get("timelimit", ""))
        ran = parse_duration(one.attributes.get("elapsed") or one.attributes.get("runtime", ""))
        if not limit or ran is None:
            continue
        ahead = max((read_number(signal, "seconds") or 0.0 for signal in signals), default=0.0)
        if ran >= limit:
            yield _make(one, "reached"), [one]
        elif signals and limit - ran <= ahead + _EARLY:
            yield _make(one, "signalled"), [one, *signals[:2]]


def parse_duration(text: str) -> float | None:
    """Return the seconds of Slurm's `[days-]hours:minutes:seconds`; None for UNLIMITED and what is none.

    >>> parse_duration("1-00:00:00"), parse_duration("23:58:00"), parse_duration("UNLIMITED")
    (86400.0, 86280.0, None)
    """
    match = _DURATION.fullmatch(text.strip())
    if not match:
        return None
    if match["seconds"] is None and match["days"] is None:  # minutes:seconds
        return float(match["hours"]) * 60 + float(match["minutes"])
    return (
        float(match["days"] or 0) * 86400
        + float(match["hours"]) * 3600
        + float(match["minutes"]) * 60
        + float(match["seconds"] or 0)
    )


def _make(one: Observation, code: str) -> Observation:
    return replace(one, kind="job-limit", code=code)
