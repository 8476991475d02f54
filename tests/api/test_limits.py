"""Limits before work: size, number, waiting; and what is counted."""

from __future__ import annotations

import gzip
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from api.metrics import ROUTES
from tests.api.conftest import MakeClient
from tests.api.running import XID, wait_for


@pytest.mark.parametrize("path", ["/v1/triage", "/v1/ingest/auto", "/v1/alerts/alertmanager", "/"])
def test_a_body_above_the_limit_is_refused(make_client: MakeClient, path: str) -> None:
    client = make_client(most_body=1024)
    headers = {"Content-Type": "application/json"} if "alerts" in path else {"Content-Type": "text/plain"}
    if path == "/":
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post(path, content=b"x" * 1025, headers=headers).status_code == 413
    in_parts = (b"y" * 100 for _ in range(11))  # without a declared length
    assert client.post(path, content=in_parts, headers=headers).status_code == 413


def test_a_bomb_is_refused_before_it_is_whole(make_client: MakeClient) -> None:
    client = make_client(most_body=1 << 20)
    bomb = gzip.compress(b"\n" * (64 << 20))
    assert len(bomb) < 1 << 17
    assert client.post("/v1/triage", content=bomb, headers={"Content-Encoding": "gzip"}).status_code == 413
    report = client.post("/v1/triage", files={"files": ("bomb.gz", bomb)}).json()
    assert sum(len(one["notes"]) for one in report["inputs"]) >= 1


def test_too_many_files_are_refused(make_client: MakeClient) -> None:
    client = make_client(most_files=3)
    assert client.post("/v1/triage", files=[("files", (f"{n}.log", b"x")) for n in range(4)]).status_code == 400
    body = {"inputs": [{"text": "x"}] * 4}
    assert client.post("/v1/triage", json=body).status_code == 413


def test_more_requests_than_may_wait_are_told_to_come_back(make_client: MakeClient) -> None:
    client = make_client(at_once=1, waiting=1, waiting_seconds=30)
    service = client.app.state.service  # type: ignore[attr-defined]
    started, go_on = threading.Event(), threading.Event()

    def hold(*_: object) -> None:
        started.set()
        assert go_on.wait(60)

    assert client.portal is not None
    held = client.portal.start_task_soon(service.work, hold)
    assert started.wait(30)
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(client.post, "/v1/triage", content=XID)
        wait_for(lambda: service._waiting, "the waiting request")
        refused = client.post("/v1/triage", content=XID)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.json()["type"] == "urn:faultwalk:problem:busy"
        assert client.get("/healthz").status_code == 200 and client.get("/readyz").status_code == 200
        go_on.set()
        assert waiting.result().status_code == 200
    held.result(60)


def test_who_waits_too_long_is_told_to_come_back(make_client: MakeClient) -> None:
    client = make_client(at_once=1, waiting=5, waiting_seconds=0.2)
    started, go_on = threading.Event(), threading.Event()

    def hold(*_: object) -> None:
        started.set()
        assert go_on.wait(60)

    assert client.portal is not None
    held = client.portal.start_task_soon(client.app.state.service.work, hold)  # type: ignore[attr-defined]
    assert started.wait(30)
    assert client.post("/v1/alerts/alertmanager", json={"version": "4", "alerts": []}).status_code == 503
    go_on.set()
    held.result(60)


def test_diagnoses_at_the_same_time_do_not_mix(make_client: MakeClient) -> None:
    client = make_client(at_once=4, waiting=64)

    def ask(number: int) -> bool:
        line = XID.replace("node-a", f"node-{number}")
        entity = client.post("/v1/triage", content=line).json()["causes"][0]["entity"]
        return bool(entity == f"gpu:node-{number}/0000:3b:00.0")

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(40)))


def test_old_reports_make_room(make_client: MakeClient) -> None:
    client = make_client(keep_reports=2)
    clock = iter(range(1_700_000_000, 1_700_000_100))
    client.app.state.service.clock = lambda: float(next(clock))  # type: ignore[attr-defined]
    ids = [client.post("/v1/triage", content=f"line {number}").json()["id"] for number in range(4)]
    assert [client.get(f"/v1/reports/{one}").status_code for one in ids] == [404, 404, 200, 200]


def test_metrics_have_closed_labels(client: TestClient) -> None:
    client.post("/v1/triage", content=XID)
    client.post("/v1/ingest/auto", content=XID)
    for number in range(30):
        client.get(f"/nothing/{number}")
        client.get(f"/v1/reports/{number}")
    families = {one.name: one for one in text_string_to_metric_families(client.get("/metrics").text)}
    routes = {sample.labels["route"] for sample in families["faultwalk_requests"].samples}
    assert routes <= {*ROUTES, "other"} and "/v1/reports/{id}" in routes and "other" in routes
    assert {sample.labels["status"] for sample in families["faultwalk_requests"].samples} <= {
        "2xx",
        "3xx",
        "4xx",
        "5xx",
    }
    reports = {
        (s.labels["face"], s.labels["outcome"]): s.value
        for s in families["faultwalk_reports"].samples
        if s.name.endswith("_total")
    }
    assert reports == {("api", "diagnosed"): 1.0}
    assert next(s.value for s in families["faultwalk_ingested_lines"].samples if s.name.endswith("_total")) == 1.0


def test_every_route_can_be_counted(client: TestClient) -> None:
    paths = {getattr(route, "path", "") for route in client.app.routes}  # type: ignore[attr-defined]
    assert paths - set(ROUTES) <= {""}
