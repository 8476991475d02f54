"""What the service counts, for Prometheus. Every label has a closed set of values: nothing that a sender writes becomes one."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ROUTES = (
    "/", "/reports/{id}", "/cases/{id}", "/static", "/login", "/v1/triage", "/v1/reports/{id}", "/v1/reports/{id}/markdown",
    "/v1/cases", "/v1/cases/{id}", "/v1/rules", "/v1/rules/{id}", "/v1/ingest/{kind}", "/v1/alerts/alertmanager",
    "/v1/alerts/recent", "/healthz", "/readyz", "/metrics", "/openapi.json",
)  # fmt: skip


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("faultwalk_requests", "Answered requests.", ["route", "status"], registry=self.registry)
        self.seconds = Histogram(
            "faultwalk_request_seconds", "Time from head to answer.", ["route"], registry=self.registry
        )
        self.reports = Counter("faultwalk_reports", "Diagnoses.", ["face", "outcome"], registry=self.registry)
        self.alerts = Counter("faultwalk_alerts", "Alerts received.", ["status"], registry=self.registry)
        self.lines = Counter("faultwalk_ingested_lines", "Lines of evidence kept.", registry=self.registry)
        self.refused = Counter("faultwalk_refused_busy", "Requests refused for being too many.", registry=self.registry)
        self.running = Gauge("faultwalk_running", "Diagnoses running now.", registry=self.registry)
        self.waiting = Gauge("faultwalk_waiting", "Requests waiting for a turn.", registry=self.registry)

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count one answer; a route that is not ours counts as `other`."""
        known = route if route in ROUTES else "other"
        self.requests.labels(known, f"{status // 100}xx").inc()
        self.seconds.labels(known).observe(seconds)

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)
