"""The OpenAPI document says what the service does: schemathesis tries it with a fixed seed."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.api.conftest import MakeClient

METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS = [
    ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics"), ("POST", "/v1/triage"), ("GET", "/v1/reports/{id}"),
    ("GET", "/v1/reports/{id}/markdown"), ("GET", "/v1/cases"), ("GET", "/v1/cases/{id}"), ("GET", "/v1/rules"), ("GET", "/v1/rules/{id}"),
    ("POST", "/v1/ingest/{kind}"), ("POST", "/v1/alerts/alertmanager"), ("GET", "/v1/alerts/recent"),
]  # fmt: skip


def document(client: TestClient) -> dict[str, Any]:
    return dict(client.get("/openapi.json").json())


def test_every_operation_is_described(client: TestClient) -> None:
    paths = document(client)["paths"]
    assert {(method.upper(), path) for path, item in paths.items() for method in item if method in METHODS} == set(
        OPERATIONS
    )
    for item in paths.values():
        for operation in item.values():
            assert operation["description"] and operation["tags"]
            assert (
                "422" not in operation["responses"]
                or "application/problem+json" in operation["responses"]["422"]["content"]
            )


def test_every_reference_leads_somewhere(client: TestClient) -> None:
    whole = document(client)
    text = json.dumps(whole)
    names = {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert names <= set(whole["components"]["schemas"])
    for name in ("Report", "TriageBody", "Notification", "NotificationAnswer", "ProblemBody"):
        jsonschema.Draft202012Validator.check_schema(whole["components"]["schemas"][name])


def test_the_documentation_needs_nothing_from_elsewhere(client: TestClient) -> None:
    assert client.get("/docs").status_code == 404 and client.get("/redoc").status_code == 404


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=str)
def test_the_service_keeps_to_its_document(make_client: MakeClient, method: str, path: str) -> None:
    client = make_client(waiting=64, allowed_hosts="testserver")
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)

    @seed(20261130)
    @settings(
        max_examples=25, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )  # fmt: skip
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        data.draw(schema[path][method].as_strategy()).call_and_validate()

    holds()
