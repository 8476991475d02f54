"""Logs in, the report out: every form of the body, the languages, and what comes back for what can't be read."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from typing import Any

import pytest
from fastapi.testclient import TestClient

from diagnosis.model import Report
from tests.api.running import XID, sample_files

JSON = {"Content-Type": "application/json"}
SECRET = "hunter2-do-not-repeat"


def post_json(client: TestClient, value: object) -> Any:
    return client.post("/v1/triage", content=json.dumps(value), headers=JSON)


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/plain; charset=utf-8", "application/octet-stream", "application/x-www-form-urlencoded"]
)
def test_plain_text_is_diagnosed(client: TestClient, kind: str) -> None:
    answer = client.post("/v1/triage", content=XID, headers={"Content-Type": kind})
    report = Report.model_validate_json(answer.content)
    assert answer.headers["content-type"] == "application/json"
    assert (report.outcome, report.causes[0].cause, report.causes[0].verdict) == (
        "diagnosed",
        "gpu.fell-off-bus",
        "root",
    )
    assert report.causes[0].entity == "gpu:node-a/0000:3b:00.0"
    assert report.causes[0].evidence[0].text == XID


def test_json_names_its_inputs(client: TestClient) -> None:
    answer = post_json(
        client, {"inputs": [{"name": "dmesg.txt", "text": XID}, {"text": "all quiet"}], "language": "zh"}
    )
    report = answer.json()
    assert [one["input"] for one in report["inputs"]] == ["dmesg.txt", "pasted"]
    assert report["language"] == "zh"
    assert "根因" in report["verdict"]


def test_files_are_diagnosed_and_equal_names_told_apart(client: TestClient) -> None:
    files = [("files", ("a.log", XID.encode())), ("files", ("a.log", b"nothing here\n"))]
    report = client.post("/v1/triage", files=files, data={"language": "en"}).json()
    assert [one["input"] for one in report["inputs"]] == ["a.log", "a.log (2)"]
    assert report["causes"][0]["evidence"][0]["input"] == "a.log"


def test_archives_are_opened(client: TestClient) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("logs/dmesg.log", XID)
        archive.writestr("logs/rank0.log.gz", gzip.compress(b"step 1\n", mtime=0))
    report = client.post("/v1/triage", files={"files": ("bundle.zip", packed.getvalue())}).json()
    assert report["causes"][0]["cause"] == "gpu.fell-off-bus"
    assert {one["lines"] for one in report["inputs"]} == {1}


def test_a_gzip_encoded_body_is_unpacked(client: TestClient) -> None:
    answer = client.post(
        "/v1/triage", content=gzip.compress(XID.encode(), mtime=0), headers={"Content-Encoding": "gzip"}
    )
    assert answer.json()["causes"][0]["cause"] == "gpu.fell-off-bus"


def test_the_sample_incident_is_told_right(client: TestClient) -> None:
    files = [("files", (path.name, path.read_bytes())) for path in sample_files()]
    report = Report.model_validate_json(client.post("/v1/triage", files=files).content)
    root = next(cause for cause in report.causes if cause.verdict == "root")
    assert (report.outcome, root.cause) == ("diagnosed", "fabric.link-flapping")
    assert "node-b" in root.entity
    assert any("Link DOWN" in line.text for line in root.evidence)


def test_a_report_is_kept(client: TestClient) -> None:
    report = client.post("/v1/triage", content=XID).json()
    assert client.get(f"/v1/reports/{report['id']}").json() == report
    markdown = client.get(f"/v1/reports/{report['id']}/markdown")
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert XID in markdown.text


def test_the_pasted_text_is_not_kept(client: TestClient) -> None:
    client.post("/v1/triage", content=XID)
    with client.app.state.service.cursor() as store:  # type: ignore[attr-defined]
        assert store.query("SELECT count(*) FROM observations") == [(0,)]


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"  \n", {}, 422, "empty"),
        (SECRET.encode(), {"Content-Type": "application/xml"}, 415, "content-type"),
        (SECRET.encode(), {"Content-Encoding": "br"}, 415, "content-encoding"),
        (SECRET.encode(), {"Content-Encoding": "gzip"}, 400, "gzip"),
        (gzip.compress(SECRET.encode(), mtime=0)[:-9], {"Content-Encoding": "gzip"}, 400, "gzip"),
        (f'{{"inputs": [{{"text": 7, "{SECRET}": 1}}]}}'.encode(), JSON, 422, "unexpected-content"),
        (f'{{"inputs": [], "language": "{SECRET}"}}'.encode(), JSON, 422, "unexpected-content"),
        (f'"{SECRET}"'.encode(), JSON, 422, "unexpected-content"),
        (f'{{"{SECRET}"'.encode(), JSON, 400, "json-syntax"),
        (SECRET.encode(), {"Content-Type": "multipart/form-data; boundary=x"}, 400, "form"),
        (SECRET.encode(), {"Content-Type": "multipart/form-data"}, 400, "form"),
    ],
)
def test_what_cannot_be_read_is_a_problem_that_repeats_nothing(
    client: TestClient, body: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    answer = client.post("/v1/triage", content=body, headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (status, f"urn:faultwalk:problem:{code}")
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["status"] == status
    assert SECRET not in answer.text


def test_an_unknown_language_is_refused(client: TestClient) -> None:
    answer = client.post("/v1/triage?language=fr", content=XID)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:faultwalk:problem:language")


def test_an_unknown_report_is_a_404(client: TestClient) -> None:
    answer = client.get("/v1/reports/0123456789abcdef")
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:faultwalk:problem:no-report")
    assert client.get("/nothing/here").headers["content-type"] == "application/problem+json"
    assert client.delete("/v1/triage").status_code == 405


def test_knowledge_can_be_looked_up(client: TestClient) -> None:
    rules = {one["id"]: one for one in client.get("/v1/rules").json()["rules"]}
    assert rules["gpu.fell-off-bus"]["layer"] == "hardware"
    rule = client.get("/v1/rules/gpu.fell-off-bus").json()
    assert rule["kind"] == "cause" and rule["rule"]["evidence"]
    assert client.get("/v1/rules/no.such-rule").status_code == 404
    found = client.get("/v1/cases", params={"search": "掉卡", "limit": 5}).json()
    assert found["cases"] and found["total"] >= len(found["cases"])
    by_cause = client.get("/v1/cases", params={"cause": "gpu.fell-off-bus"}).json()["cases"]
    assert "xid79-node-rejects-eight-gpu-pods" in [one["id"] for one in by_cause]
    assert client.get("/v1/cases/xid79-node-rejects-eight-gpu-pods").json()["cause"] == "gpu.fell-off-bus"
    assert client.get("/v1/cases/none").status_code == 404
    assert client.get("/v1/cases", params={"limit": 0}).status_code == 422
