"""Reports and answers to alerts, kept beside the evidence in the store's file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from collectors.store import Store
from diagnosis.model import Report

Face = Literal["api", "page", "alert"]
Statement = tuple[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class KeptReport:
    """A report as it was answered; `twin` is the same diagnosis in the other language, "" without one."""

    report: Report
    twin: str


def save_reports(reports: Sequence[Report], *, face: Face, received: float, keep: int) -> list[Statement]:
    """Return the statements that keep reports (several are one diagnosis in several languages) and drop the oldest."""
    statements: list[Statement] = []
    for report in reports:
        twin = next((other.id for other in reports if other.id != report.id), "")
        body = report.model_dump_json(by_alias=True)
        statements.append(("DELETE FROM reports WHERE id = ?", [report.id]))
        statements.append(
            (
                "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?)",
                [report.id, received, face, report.language, twin, report.outcome, body],
            )
        )
    statements.append(_drop("reports", keep))
    return statements


def load_report(store: Store, report_id: str) -> KeptReport | None:
    """Return a kept report."""
    rows = store.query("SELECT body, twin FROM reports WHERE id = ?", [report_id])
    return KeptReport(Report.model_validate_json(rows[0][0]), rows[0][1]) if rows else None


def save_notification(name: str, answer: str, *, received: float, keep: int) -> list[Statement]:
    """Return the statements that keep the answer to a notification; the same one sent again takes its place."""
    return [
        ("DELETE FROM notifications WHERE id = ?", [name]),
        ("INSERT INTO notifications VALUES (?, ?, ?)", [name, received, answer]),
        _drop("notifications", keep),
    ]


def load_notifications(store: Store, limit: int) -> list[dict[str, Any]]:
    """Return the newest answers to notifications, newest first."""
    rows = store.query("SELECT body FROM notifications ORDER BY received DESC, id LIMIT ?", [limit])
    return [json.loads(row[0]) for row in rows]


def _drop(table: str, keep: int) -> Statement:
    oldest = f"SELECT min(received) FROM (SELECT received FROM {table} ORDER BY received DESC LIMIT ?)"  # noqa: S608
    return (f"DELETE FROM {table} WHERE received < ({oldest})", [keep])  # noqa: S608  the table is a constant
