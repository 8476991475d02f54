"""`POST /v1/alerts/alertmanager`: a notification in, the diagnosis of what it concerns out, kept before the answer goes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from api.bodies import choose_language, content_type, read_body
from api.deps import ServiceDep
from api.enrich import enrich
from api.notification import NotificationAnswer, iso, read_notification
from api.problems import ProblemError, responses
from api.reports import load_notifications, save_notification, save_reports
from api.strict_json import parse_json
from collectors.store import Store
from diagnosis.engine import Knowledge
from diagnosis.model import Report

router = APIRouter(tags=["alerts"])
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Notification"}}},
    },
    "parameters": [{"name": "language", "in": "query", "schema": {"type": "string", "enum": ["en", "zh"]}}],
}


class RecentAnswers(BaseModel):
    """Answers to notifications, newest first."""

    notifications: list[NotificationAnswer]


@router.post(
    "/v1/alerts/alertmanager",
    response_model=NotificationAnswer,
    responses=responses(408, 413, 415, 422, 503),
    openapi_extra=_BODY,
)
async def alertmanager(request: Request, service: ServiceDep) -> NotificationAnswer:
    """Diagnose what Alertmanager's webhook message (version 4) is about, from the evidence that is kept."""
    settings = service.settings
    if content_type(request) != "application/json":
        raise ProblemError(415, "content-type", "Send application/json.")
    language = choose_language(request.query_params.get("language"))
    notification = read_notification(parse_json(await read_body(request, settings.most_body)))

    def job(knowledge: Knowledge, store: Store) -> tuple[NotificationAnswer, list[Report]]:
        now = service.clock()
        diagnoses, reports, rest = enrich(
            notification, knowledge, store, now=now, language=language, most_groups=settings.most_groups, public_url=settings.public_url
        )  # fmt: skip
        answer = NotificationAnswer(
            id=notification.name(),
            received=iso(now),
            receiver=notification.receiver[:200],
            status=notification.status,
            alerts=len(notification.alerts),
            diagnoses=diagnoses,
            not_diagnosed=rest,
        )
        statements = [
            statement
            for report in reports
            for statement in save_reports([report], face="alert", received=now, keep=settings.keep_reports)
        ]
        kept = save_notification(answer.id, answer.model_dump_json(), received=now, keep=settings.keep_notifications)
        service.write(store, [*statements, *kept])
        return answer, reports

    answer, reports = await service.work(job)
    for alert in notification.alerts:
        service.metrics.alerts.labels(alert.status).inc()
    for report in reports:
        service.count_report("alert", report)
    return answer


@router.get("/v1/alerts/recent", responses=responses(422))
async def recent(service: ServiceDep, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> RecentAnswers:
    """Return the newest answers to notifications."""
    found = await service.read(lambda store: load_notifications(store, limit))
    return RecentAnswers(notifications=[NotificationAnswer.model_validate(one) for one in found])
