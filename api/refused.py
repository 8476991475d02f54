"""What could not be read stands in the report too: among its inputs, by name and reason."""

from __future__ import annotations

from collectors.archives import Opened
from collectors.notes import in_language
from diagnosis.model import InputPart, Report


def note_refused(report: Report, opened: Opened) -> Report:
    """Return the report with what was refused behind its inputs."""
    refused = [
        InputPart(
            input=name,
            kind="refused",
            lines=0,
            recognised=0,
            unrecognised_errors=0,
            notes=[in_language(reason, report.language)],
        )
        for name, reason in opened.refused
    ]
    return report.model_copy(update={"inputs": [*report.inputs, *refused]}) if refused else report
