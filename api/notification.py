"""Alertmanager's webhook message (version 4) and our answer to it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from api.problems import ProblemError, names_of, refuse_content
from diagnosis.model import Action, CasePart, EvidencePart, NextCheck, Outcome

Name = Annotated[str, StringConstraints(max_length=1 << 16)]


class Alert(BaseModel):
    """One alert of a message; what we don't know is ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    status: Literal["firing", "resolved"] = "firing"
    labels: dict[str, str]
    annotations: dict[str, str] = Field(default_factory=dict)
    starts_at: AwareDatetime = Field(alias="startsAt")
    ends_at: AwareDatetime | None = Field(default=None, alias="endsAt")
    fingerprint: Name = ""

    def window(self, now: float) -> tuple[float, float]:
        """Return when it began and when it ended.

        A firing alert ends now; year 1 means that no end is known, and neither is one before the beginning. A beginning in
        the future is a clock that runs ahead: it is taken for now.
        """
        start = min(_seconds(self.starts_at), now)
        if self.status == "resolved" and self.ends_at is not None and self.ends_at >= self.starts_at:
            return start, max(start, min(_seconds(self.ends_at), now))
        return start, now


class Notification(BaseModel):
    """A webhook message of Alertmanager, version 4; unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    version: Literal["4"]
    group_key: Name = Field(default="", alias="groupKey")
    status: Literal["firing", "resolved"] = "firing"
    receiver: Name = ""
    common_labels: dict[str, str] = Field(default_factory=dict, alias="commonLabels")
    truncated_alerts: Annotated[int, Field(ge=0)] = Field(default=0, alias="truncatedAlerts")
    alerts: list[Alert]

    def name(self) -> str:
        """Return an id that the same message, sent again, has too."""
        parts = sorted(
            f"{one.fingerprint}|{one.status}|{one.starts_at}|{sorted(one.labels.items())}" for one in self.alerts
        )
        return hashlib.sha256(
            "\n".join([self.group_key, self.receiver, *parts]).encode("utf-8", "replace")
        ).hexdigest()[:32]


class AlertRef(BaseModel):
    """An alert that a diagnosis is about."""

    alertname: str
    fingerprint: str
    status: Literal["firing", "resolved"]
    starts_at: str


class CauseAnswer(BaseModel):
    """A root cause, with what proves it and what to do."""

    cause: str
    title: str
    entity: str
    probability: float
    action: Action
    fix: list[str]
    evidence: list[EvidencePart]
    cases: list[CasePart]


class Diagnosis(BaseModel):
    """What is wrong with the things that one or several alerts are about."""

    alerts: list[AlertRef]
    entities: list[str] = Field(description="What the alerts are about, from their labels.")
    nodes: list[str] = Field(description="Hosts whose evidence was looked at.")
    since: str
    until: str
    report: str = Field(description="Id of the whole report.")
    url: str
    outcome: Outcome
    verdict: str
    cause: CauseAnswer | None = Field(description="The root cause; absent when nothing was found.")
    also: list[CauseAnswer] = Field(default_factory=list, description="Further root causes in this view.")
    next_checks: list[NextCheck]
    notes: list[str] = Field(default_factory=list)


class NotificationAnswer(BaseModel):
    """The answer to a message. It is on disk before the sender gets it."""

    id: str
    received: str
    receiver: str
    status: Literal["firing", "resolved"]
    alerts: int
    diagnoses: list[Diagnosis]
    not_diagnosed: list[AlertRef] = Field(
        default_factory=list, description="Alerts beyond the number of diagnoses that one message gets."
    )


def read_notification(value: Any) -> Notification:
    """Return the message. Raises a 400 problem for another version, a 422 one for another shape."""
    if not isinstance(value, dict) or value.get("version") != "4":
        raise ProblemError(
            400,
            "alert-version",
            'Expected Alertmanager\'s webhook message with version "4"; custom payloads are not read.',
        )
    try:
        return Notification.model_validate(value)
    except ValidationError as error:
        refuse_content(error, names_of(Notification, Alert))


def iso(seconds: float) -> str:
    """Return a time as ISO 8601, UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _seconds(moment: datetime) -> float:
    """Return seconds since the epoch, not before 1970 and so that it can be written again."""
    return min(max(moment.timestamp(), 0.0), 253402300000.0)
