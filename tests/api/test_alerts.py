"""Notifications are answered with the diagnosis of what they concern, from the evidence that is kept, and kept first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import MakeClient
from tests.api.running import XID, sample_files

OTHER = XID.replace("node-a", "node-z").replace("3b:00", "5e:00")
UUID = "GPU-6f3a1c2e-0d4b-4f5a-9c7e-1b2d3e4f5a6b"
PODS = """$ kubectl get pods -n ml -o wide
NAME             READY   STATUS    RESTARTS   AGE   IP          NODE     NOMINATED NODE   READINESS GATES
train-worker-0   1/1     Running   0          46m   10.0.0.12   node-b   <none>           <none>
train-worker-1   1/1     Running   0          46m   10.0.0.11   node-a   <none>           <none>
"""
JSON = {"Content-Type": "application/json"}


def alert(labels: Mapping[str, str], *, starts: str = "2026-01-31T04:16:00.123456789Z", **more: Any) -> dict[str, Any]:
    return {"status": "firing", "labels": {"alertname": "GPUXidError", **labels}, "annotations": {}, "startsAt": starts,
            "endsAt": "0001-01-01T00:00:00Z", "generatorURL": "http://127.0.0.1:1/never-fetched", "fingerprint": "f1", **more}  # fmt: skip


def message(*alerts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": "4", "groupKey": '{}:{alertname="GPUXidError"}', "status": "firing", "receiver": "faultwalk",
            "groupLabels": {}, "commonLabels": {}, "commonAnnotations": {}, "externalURL": "http://127.0.0.1:9093",
            "truncatedAlerts": 0, "alerts": list(alerts), **more}  # fmt: skip


def send(client: TestClient, value: object, status: int = 200) -> Any:
    answer = client.post("/v1/alerts/alertmanager", content=json.dumps(value), headers=JSON)
    assert answer.status_code == status, answer.text
    return answer.json()


def ingest(client: TestClient, text: str, kind: str = "auto", **query: str) -> Any:
    answer = client.post(f"/v1/ingest/{kind}", params=query, content=text)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_alert_is_answered_with_its_diagnosis(client: TestClient) -> None:
    kept = ingest(client, XID)
    assert (kept["kind"], kept["lines"], kept["already_kept"]) == ("kernel", 1, False)
    answer = send(client, message(alert({"Hostname": "node-a", "gpu": "3"})))
    (diagnosis,) = answer["diagnoses"]
    cause = diagnosis["cause"]
    assert (diagnosis["outcome"], cause["cause"], cause["entity"]) == (
        "diagnosed",
        "gpu.fell-off-bus",
        "gpu:node-a/0000:3b:00.0",
    )
    assert cause["probability"] >= 0.9 and cause["action"] == "reboot" and cause["fix"]
    assert cause["evidence"][0]["text"] == XID
    assert cause["evidence"][0]["input"] == kept["input"]
    assert [one["case"] for one in cause["cases"]]
    assert diagnosis["next_checks"]
    assert diagnosis["alerts"][0]["alertname"] == "GPUXidError"
    assert (diagnosis["since"], diagnosis["until"]) == ("2026-01-31T03:36:00Z", "2026-01-31T04:25:00Z")
    assert client.get(f"/v1/reports/{diagnosis['report']}").json()["verdict"] == diagnosis["verdict"]
    assert client.get("/v1/alerts/recent").json()["notifications"] == [answer]


def test_only_the_evidence_of_the_alerts_node_counts(client: TestClient) -> None:
    ingest(client, XID)
    ingest(client, OTHER)
    for node, pci in (("node-a", "3b"), ("node-z.example.com", "5e")):
        (diagnosis,) = send(client, message(alert({"node": node})))["diagnoses"]
        assert diagnosis["cause"]["entity"].endswith(f"0000:{pci}:00.0")
        assert diagnosis["also"] == []
    (diagnosis,) = send(client, message(alert({"node": "node-q"})))["diagnoses"]
    assert (diagnosis["outcome"], diagnosis["cause"]) == ("nothing-found", None)
    assert "no evidence is kept" in diagnosis["notes"][0]


def test_without_an_entity_all_evidence_of_the_window_is_looked_at(client: TestClient) -> None:
    ingest(client, XID)
    (diagnosis,) = send(client, message(alert({"severity": "page"})))["diagnoses"]
    assert diagnosis["cause"]["cause"] == "gpu.fell-off-bus"
    assert diagnosis["nodes"] == [] and "name no node" in diagnosis["notes"][0]


def test_evidence_outside_the_window_does_not_count(client: TestClient) -> None:
    ingest(client, XID.replace("2026-01-31T04:15", "2026-01-31T01:15"))
    (diagnosis,) = send(client, message(alert({"node": "node-a"})))["diagnoses"]
    assert diagnosis["outcome"] == "nothing-found"
    resolved = alert(
        {"node": "node-a"}, starts="2026-01-31T01:50:00Z", status="resolved", endsAt="2026-01-31T02:00:00Z"
    )
    (diagnosis,) = send(client, message(resolved))["diagnoses"]
    assert diagnosis["cause"]["cause"] == "gpu.fell-off-bus"
    assert diagnosis["until"] == "2026-01-31T02:05:00Z"


@pytest.mark.parametrize(
    ("starts", "ends", "status", "since", "until"),
    [
        ("2099-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "firing", "2026-01-31T03:40:00Z", "2026-01-31T04:25:00Z"),
        ("2026-01-31T04:00:00Z", "2026-01-31T03:00:00Z", "resolved", "2026-01-31T03:20:00Z", "2026-01-31T04:25:00Z"),
        (
            "2026-01-31T04:00:00+08:00",
            "2026-01-31T04:30:00+08:00",
            "resolved",
            "2026-01-30T19:20:00Z",
            "2026-01-30T20:35:00Z",
        ),
        ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "resolved", "1969-12-31T23:20:00Z", "2026-01-31T04:25:00Z"),
    ],
)
def test_odd_times_give_a_sane_window(
    client: TestClient, starts: str, ends: str, status: str, since: str, until: str
) -> None:
    (diagnosis,) = send(client, message(alert({"node": "node-a"}, starts=starts, endsAt=ends, status=status)))[
        "diagnoses"
    ]
    assert (diagnosis["since"], diagnosis["until"]) == (since, until)


def test_alerts_of_one_node_are_one_diagnosis(client: TestClient) -> None:
    ingest(client, XID)
    ingest(client, OTHER)
    answer = send(
        client,
        message(
            alert({"node": "node-a", "alertname": "GPUXidError"}, fingerprint="1"),
            alert({"Hostname": "node-a", "alertname": "KubeNodeNotReady"}, fingerprint="2"),
            *[alert({"node": "node-z"}, fingerprint="3")] * 1000,
        ),
    )
    assert answer["alerts"] == 1002
    assert [[one["fingerprint"] for one in each["alerts"]] for each in answer["diagnoses"]] == [["1", "2"], ["3"]]


def test_the_alerts_own_gpu_comes_first(client: TestClient) -> None:
    ingest(client, XID + "\n" + XID.replace("3b:00", "5e:00"))
    for pci in ("3b", "5e"):
        (diagnosis,) = send(client, message(alert({"node": "node-a", "pci_bus_id": f"00000000:{pci.upper()}:00.0"})))[
            "diagnoses"
        ]
        assert diagnosis["cause"]["entity"] == f"gpu:node-a/0000:{pci}:00.0"


def test_a_pods_node_is_found_and_its_fellows(client: TestClient) -> None:
    ingest(client, XID)
    ingest(client, PODS)
    (diagnosis,) = send(client, message(alert({"pod": "train-worker-0", "namespace": "ml"})))["diagnoses"]
    assert set(diagnosis["nodes"]) == {"node-a", "node-b"}
    assert diagnosis["cause"]["entity"] == "gpu:node-a/0000:3b:00.0"


def test_the_sample_incident_is_found_from_the_loud_pod(client: TestClient) -> None:
    for path in sample_files():
        ingest(client, path.read_text(encoding="utf-8"), name=path.name)
    loud = alert({"pod": "llm-pretrain-worker-1", "namespace": "train"}, starts="2025-11-26T02:24:30Z", status="resolved",
                 endsAt="2025-11-26T02:30:00Z")  # fmt: skip
    (diagnosis,) = send(client, message(loud))["diagnoses"]
    assert set(diagnosis["nodes"]) == {"node-a", "node-b"}
    assert diagnosis["cause"]["cause"] == "fabric.link-flapping" and "node-b" in diagnosis["cause"]["entity"]


def test_a_cards_uuid_leads_to_its_node(client: TestClient) -> None:
    ingest(client, XID)
    ingest(client, OTHER)
    ingest(client, f"$ nvidia-smi -L\nGPU 0: NVIDIA H100 80GB HBM3 (UUID: {UUID})\n", node="node-z")
    (diagnosis,) = send(client, message(alert({"UUID": UUID})))["diagnoses"]
    assert diagnosis["nodes"] == ["node-z"]
    assert diagnosis["cause"]["entity"] == "gpu:node-z/0000:5e:00.0"


def test_a_node_named_by_hand_places_lines_that_name_none(client: TestClient) -> None:
    line = "[12345.678901] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus."
    kept = ingest(client, line, kind="kernel", node="Node-A.example.com", name="dmesg")
    assert kept["input"].startswith("dmesg#")
    (diagnosis,) = send(client, message(alert({"node": "node-a"})))["diagnoses"]
    assert diagnosis["cause"]["entity"] == "gpu:node-a/0000:3b:00.0"
    assert send(client, message(alert({"node": "node-z"})))["diagnoses"][0]["cause"] is None


def test_the_same_text_sent_again_is_kept_once(client: TestClient) -> None:
    first, second = ingest(client, XID), ingest(client, XID)
    assert (first["batch"], second["already_kept"]) == (second["batch"], True)
    with client.app.state.service.cursor() as store:  # type: ignore[attr-defined]
        assert store.query("SELECT count(*) FROM inputs") == [(1,)]


def test_an_unknown_kind_is_refused_with_the_known_ones(client: TestClient) -> None:
    answer = client.post("/v1/ingest/no-such-kind", content=XID)
    assert answer.status_code == 404
    assert "kernel" in answer.json()["detail"] and "no-such-kind" not in answer.text


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ({**message(), "version": "5"}, 400),
        ({**message(), "version": 4}, 400),
        ({"text": "a custom payload"}, 400),
        ([message()], 400),
        ({**message(), "alerts": "none"}, 422),
        (message({"labels": {}}), 422),
        (message({"startsAt": "2026-01-31T04:00:00Z"}), 422),
        (message(alert({}, starts="yesterday")), 422),
        (message(alert({"node": 7})), 422),  # type: ignore[dict-item]
    ],
)
def test_other_messages_are_refused(client: TestClient, value: object, status: int) -> None:
    send(client, value, status)
    assert client.get("/v1/alerts/recent").json() == {"notifications": []}


def test_unknown_keys_are_ignored_and_no_alert_is_fine(client: TestClient) -> None:
    answer = send(client, message(notification_reason="repeat", routeLabels={"a": "b"}))
    assert (answer["alerts"], answer["diagnoses"]) == (0, [])


def test_hostile_labels_do_no_harm(client: TestClient) -> None:
    ingest(client, XID)
    labels = {f"l{number}": "x" for number in range(10_000)} | {
        "node": "' OR 1=1; DROP TABLE reports; --", "pod": "<script>alert(1)</script>", "namespace": "{{7*7}}", "big": "x" * 1_000_000,
    }  # fmt: skip
    (diagnosis,) = send(client, message(alert(labels, generatorURL="http://169.254.169.254/latest/meta-data")))[
        "diagnoses"
    ]
    assert diagnosis["outcome"] == "nothing-found"
    page = client.get(f"/reports/{diagnosis['report']}", headers={"Accept": "text/html"})
    assert page.status_code == 200 and "<script>alert" not in page.text


def test_a_storm_is_answered_and_grouped(make_client: MakeClient) -> None:
    client = make_client(most_groups=4)
    ingest(client, XID)
    alerts = [
        alert({"node": f"node-{number % 10}", "gpu": str(number % 8)}, fingerprint=str(number))
        for number in range(2000)
    ]
    answer = send(client, message(*alerts))
    assert answer["alerts"] == 2000 and len(answer["diagnoses"]) == 4
    told = sum(len(one["alerts"]) for one in answer["diagnoses"]) + len(answer["not_diagnosed"])
    assert told == 2000


def test_the_same_notification_sent_again_takes_the_place_of_the_first(client: TestClient) -> None:
    send(client, message(alert({"node": "node-a"})))
    ingest(client, XID)
    second = send(client, message(alert({"node": "node-a"})))
    assert client.get("/v1/alerts/recent").json()["notifications"] == [second]


def test_links_are_whole_where_the_address_is_known(make_client: MakeClient) -> None:
    client = make_client(public_url="https://faultwalk.example.com/")
    (diagnosis,) = send(client, message(alert({"node": "node-a"})))["diagnoses"]
    assert diagnosis["url"] == f"https://faultwalk.example.com/reports/{diagnosis['report']}"
