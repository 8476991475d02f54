"""From an alert notification to diagnoses: which things it is about, which hosts and window to look at, what was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from api.alert_labels import Victim, find_victim
from api.notification import Alert, AlertRef, CauseAnswer, Diagnosis, Notification, iso
from api.scope import Index, Scope
from collectors.store import Store
from diagnosis.engine import Knowledge, diagnose
from diagnosis.model import CausePart, Language, Report

BEFORE, AFTER = 40 * 60.0, 5 * 60.0  # seconds: a cause may be half an hour older than the time-out that fires
MOST_EVIDENCE, MOST_ALSO, MOST_CASES = 8, 3, 3


@dataclass(slots=True)
class Group:
    """Alerts about the same things, and the window that covers them all."""

    scope: Scope
    alerts: list[Alert] = field(default_factory=list)
    victims: list[Victim] = field(default_factory=list)
    since: float = float("inf")
    until: float = 0.0


def group_alerts(notification: Notification, index: Index, now: float) -> list[Group]:
    """Return the alerts grouped by what they are about: firing groups first, then the oldest."""
    groups: dict[tuple[str, ...], Group] = {}
    for alert in notification.alerts:
        victim = find_victim({**notification.common_labels, **alert.labels})
        scope = index.scope_of(victim)
        group = groups.setdefault(scope.key, Group(scope))
        group.alerts.append(alert)
        if victim not in group.victims:
            group.victims.append(victim)
        start, end = alert.window(now)
        group.since, group.until = min(group.since, start - BEFORE), max(group.until, end + AFTER)
        group.scope = group.scope.joined(scope)

    def order(group: Group) -> tuple[bool, float, tuple[str, ...]]:
        return (all(one.status == "resolved" for one in group.alerts), group.since, group.scope.key)

    return sorted(groups.values(), key=order)


def enrich(
    notification: Notification, knowledge: Knowledge, store: Store, *, now: float, language: Language, most_groups: int, public_url: str
) -> tuple[list[Diagnosis], list[Report], list[AlertRef]]:  # fmt: skip
    """Return a diagnosis and a report for each group of alerts, and the alerts of the groups beyond `most_groups`."""
    index = Index.read(store)
    groups = group_alerts(notification, index, now)
    diagnoses, reports = [], []
    for group in groups[:most_groups]:
        report = diagnose(
            store, knowledge, now=now, language=language, since=group.since, until=group.until,
            nodes=group.scope.nodes, entities=group.scope.entities,
        )  # fmt: skip
        reports.append(report)
        diagnoses.append(_answer(group, report, index, public_url))
    return diagnoses, reports, [_ref(alert) for group in groups[most_groups:] for alert in group.alerts]


def _answer(group: Group, report: Report, index: Index, public_url: str) -> Diagnosis:
    roots = [cause for cause in report.causes if cause.verdict == "root"]
    concerned = {cause.rank: index.find_concerned(cause, group.victims) for cause in roots}
    roots.sort(key=lambda cause: (not concerned[cause.rank], cause.rank))
    entities = dict.fromkeys(name for victim in group.victims for name in victim.entities())
    return Diagnosis(
        alerts=_refs(group.alerts),
        entities=list(entities),
        nodes=list(group.scope.nodes or ()),
        since=iso(group.since),
        until=iso(group.until),
        report=report.id,
        url=f"{public_url.rstrip('/')}/reports/{report.id}",
        outcome=report.outcome,
        verdict=report.verdict,
        cause=_cause(roots[0], concerned[roots[0].rank]) if roots else None,
        also=[_cause(one, concerned[one.rank]) for one in roots[1 : 1 + MOST_ALSO]],
        next_checks=report.next_checks,
        notes=list(group.scope.notes),
    )


def _cause(cause: CausePart, concerned: str) -> CauseAnswer:
    """Return a cause as an answer about the device that the alert names, where it is one of several that have it."""
    return CauseAnswer(
        cause=cause.cause,
        title=cause.title,
        entity=concerned or cause.entity,
        probability=cause.probability,
        action=cause.action,
        fix=cause.fix,
        evidence=cause.evidence[:MOST_EVIDENCE],
        cases=cause.cases[:MOST_CASES],
    )


def _refs(alerts: Iterable[Alert]) -> list[AlertRef]:
    """Return each alert once, however often it was sent."""
    found: dict[tuple[str, str], AlertRef] = {}
    for alert in alerts:
        ref = _ref(alert)
        found[(ref.fingerprint or str(sorted(alert.labels.items())), ref.alertname)] = ref
    return list(found.values())


def _ref(alert: Alert) -> AlertRef:
    return AlertRef(
        alertname=alert.labels.get("alertname", "")[:200],
        fingerprint=alert.fingerprint[:64],
        status=alert.status,
        starts_at=alert.starts_at.isoformat().replace("+00:00", "Z"),
    )
