"""`faultwalk serve` as a program: what it refuses, and what survives a kill."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.api.running import ROOT, XID, command, free_port, start_server

ALERT = {
    "version": "4",
    "alerts": [
        {
            "labels": {"node": "node-a"},
            "startsAt": "2026-01-31T04:16:00Z",
            "status": "resolved",
            "endsAt": "2026-01-31T04:20:00Z",
        }
    ],
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FAULTWALK_")}
    return subprocess.run(
        [*command(), "serve", *arguments], cwd=ROOT, env=clean, capture_output=True, text=True, timeout=60, check=False
    )


def test_beyond_loopback_without_a_token_is_refused(tmp_path: Path) -> None:
    done = run("--host", "0.0.0.0", "--store", str(tmp_path / "x.duckdb"))
    assert done.returncode == 2
    assert "--token-file" in done.stderr and len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "value"),
    [("--port", "99999"), ("--token-file", "/nonexistent/token"), ("--rules", "/nonexistent/rules")],
)
def test_settings_that_make_no_sense_are_named(tmp_path: Path, option: str, value: str) -> None:
    done = run("--store", str(tmp_path / "x.duckdb"), option, value)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr and ("PORT" in done.stderr or value in done.stderr)


def test_a_store_that_is_not_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.duckdb"
    path.write_bytes(b"these are my notes\n" * 1000)
    done = run("--store", str(path))
    assert done.returncode != 0
    assert str(path) in done.stderr and "Traceback" not in done.stderr
    assert path.read_bytes().startswith(b"these are my notes")


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    server = start_server(tmp_path)
    with server.client() as client:
        kept = client.post("/v1/ingest/kernel", content=XID).json()
        report = client.post("/v1/triage", content=XID).json()
        answer = client.post("/v1/alerts/alertmanager", json=ALERT).json()
    server.kill()
    again = start_server(tmp_path)
    try:
        with again.client() as client:
            assert client.get(f"/v1/reports/{report['id']}").json() == report
            assert client.get("/v1/alerts/recent").json()["notifications"] == [answer]
            assert client.post("/v1/ingest/kernel", content=XID).json()["already_kept"] is True
            (diagnosis,) = client.post("/v1/alerts/alertmanager", json=ALERT).json()["diagnoses"]
            assert diagnosis["cause"]["evidence"][0]["input"] == kept["input"]
    finally:
        again.stop()


def test_two_services_do_not_share_a_store(tmp_path: Path) -> None:
    server = start_server(tmp_path)
    try:
        done = run("--port", str(free_port()), "--store", str(tmp_path / "store.duckdb"))
        assert done.returncode != 0
        assert (
            "holds this store: stop it, send the input to that service" in done.stderr
            and "Traceback" not in done.stderr
        )
    finally:
        server.stop()
    assert server.process.returncode == 0


def test_the_token_of_a_file_is_wanted_and_not_logged(tmp_path: Path) -> None:
    token = "a-token-for-this-test-only-0123456789"
    server = start_server(tmp_path, token=token)
    try:
        with server.client() as client:
            assert client.get("/v1/rules").status_code == 200
            assert client.get("/v1/rules", headers={"Authorization": "Bearer wrong-wrong-wrong"}).status_code == 401
    finally:
        server.stop()
    assert token not in server.log.read_text(encoding="utf-8")
