"""The real Alertmanager sends its webhook to a running service; the service answers with the diagnosis."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.running import ROOT, XID, Server, free_port, program, start_server, wait_for

TOKEN = "alertmanager-sends-this-token-0123456789"
DOCUMENT = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def documented_config(url: str, token: Path) -> str:
    """Return the configuration that the documentation shows, for this service and with shorter waits."""
    text: str
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT, re.S | re.M)
    for shown, here in (
        ("http://127.0.0.1:8080", url),
        ("/etc/alertmanager/faultwalk.token", str(token)),
        ("group_wait: 30s", "group_wait: 1s"),
        ("group_interval: 5m", "group_interval: 1s"),
    ):
        assert shown in text
        text = text.replace(shown, here)
    return text


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_server(tmp_path_factory.mktemp("service"), token=TOKEN)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def alertmanager(service: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a running Alertmanager that notifies the service."""
    folder: Path = tmp_path_factory.mktemp("alertmanager")
    config = folder / "alertmanager.yml"
    config.write_text(documented_config(service.url, service.log.with_name("token")), encoding="utf-8")
    port = free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                program("prometheus-alertmanager"),
                f"--config.file={config}",
                f"--storage.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
                "--cluster.listen-address=",
            ],
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"

    def ready() -> bool:
        assert process.poll() is None, (folder / "log").read_text(encoding="utf-8")
        try:
            return httpx.get(f"{url}/-/ready", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    try:
        wait_for(ready, "Alertmanager")
        yield url
    finally:
        process.terminate()
        process.wait(30)


def answers(service: Server, name: str) -> list[dict[str, Any]]:
    with service.client() as client:
        found = client.get("/v1/alerts/recent", params={"limit": 100}).json()["notifications"]
    return [one for one in found if any(each["alertname"] == name for d in one["diagnoses"] for each in d["alerts"])]


def test_a_fired_alert_is_diagnosed_and_its_end_too(service: Server, alertmanager: str) -> None:
    now = datetime.now(UTC)
    line = XID.replace(
        "2026-01-31T04:15:00.123456+00:00", (now - timedelta(minutes=3)).isoformat(timespec="microseconds")
    )
    with service.client() as client:
        kept = client.post("/v1/ingest/kernel", content=line).json()
    labels = {
        "alertname": "GPUXidError",
        "Hostname": "node-a",
        "gpu": "3",
        "pci_bus_id": "00000000:3B:00.0",
        "severity": "critical",
    }
    fired = {"labels": labels, "annotations": {"summary": "掉卡"}, "startsAt": now.isoformat()}
    httpx.post(f"{alertmanager}/api/v2/alerts", json=[fired], timeout=10).raise_for_status()
    (answer,) = wait_for(lambda: answers(service, "GPUXidError"), "the notification")
    (diagnosis,) = answer["diagnoses"]
    assert (answer["status"], answer["receiver"], answer["alerts"]) == ("firing", "faultwalk", 1)
    assert len(diagnosis["alerts"][0]["fingerprint"]) == 16
    assert diagnosis["entities"] == ["gpu:0000:3b:00.0", "node:node-a"]
    assert diagnosis["outcome"] == "diagnosed"
    cause = diagnosis["cause"]
    assert (cause["cause"], cause["entity"], cause["action"]) == (
        "gpu.fell-off-bus",
        "gpu:node-a/0000:3b:00.0",
        "reboot",
    )
    assert cause["evidence"][0]["input"] == kept["input"] and cause["evidence"][0]["text"] == line
    assert cause["cases"] and diagnosis["next_checks"] and cause["probability"] > 0.9

    ended = {**fired, "endsAt": datetime.now(UTC).isoformat()}
    httpx.post(f"{alertmanager}/api/v2/alerts", json=[ended], timeout=10).raise_for_status()

    def both() -> list[dict[str, Any]] | None:
        found = answers(service, "GPUXidError")
        return found if len(found) > 1 else None

    assert {one["status"] for one in wait_for(both, "the end of the alert")} == {"firing", "resolved"}


def test_two_thousand_alerts_arrive_and_are_all_told(service: Server, alertmanager: str) -> None:
    now = datetime.now(UTC).isoformat()
    storm = [
        {
            "labels": {"alertname": "Storm", "node": f"node-{number % 40}", "gpu": str(number)},
            "annotations": {"text": "x" * 100},
            "startsAt": now,
        }
        for number in range(2000)
    ]
    httpx.post(
        f"{alertmanager}/api/v2/alerts",
        content=json.dumps(storm),
        headers={"Content-Type": "application/json"},
        timeout=60,
    ).raise_for_status()
    (answer,) = wait_for(lambda: answers(service, "Storm")[:1], "the storm")
    assert answer["alerts"] == 2000
    assert sum(len(one["alerts"]) for one in answer["diagnoses"]) + len(answer["not_diagnosed"]) == 2000
