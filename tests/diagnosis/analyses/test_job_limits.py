"""Whether a batch job ended at its time limit or at a signal ahead of it."""

from __future__ import annotations

import pytest

from diagnosis.analyses.job_limits import derive, parse_duration
from tests.diagnosis.analyses.test_scheduling import facts

HEAD = "JobID|State|Timelimit|Elapsed\n"
SIGNAL = "#SBATCH --signal=B:USR2@120\n"


@pytest.mark.parametrize(
    ("script", "row", "expected"),
    [
        ("", "7|TIMEOUT|1-00:00:00|1-00:00:12", ["reached"]),
        ("", "7|REQUEUED|1-00:00:00|23:58:00", []),
        (SIGNAL, "7|REQUEUED|1-00:00:00|23:58:00", ["signalled"]),
        (SIGNAL, "7|CANCELLED by 1000|1-00:00:00|23:57:20", ["signalled"]),
        (SIGNAL, "7|FAILED|1-00:00:00|23:50:00", []),
        (SIGNAL, "7|COMPLETED|1-00:00:00|23:59:00", []),
        (SIGNAL, "7|RUNNING|1-00:00:00|23:59:00", []),
        (SIGNAL, "7|FAILED|UNLIMITED|23:59:00", []),
        (SIGNAL, "7|FAILED||23:59:00", []),
    ],
)
def test_limits(script: str, row: str, expected: list[str]) -> None:
    assert [one.code for one, _ in derive(facts(script, f"{HEAD}{row}\n"))] == expected


def test_a_record_of_scontrol() -> None:
    text = "JobId=7 JobName=train\n   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)\n   RunTime=02:00:05 TimeLimit=02:00:00 TimeMin=N/A\n"
    ((one, because),) = derive(facts(text))
    assert (one.code, one.entity, len(because)) == ("reached", "job:7", 1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:30", 30.0), ("01:00:00", 3600.0), ("2-01:00:00", 176400.0), ("Partition_Limit", None), ("", None)],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == seconds
