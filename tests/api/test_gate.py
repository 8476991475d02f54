"""Who may ask: host names, origins, the token; and what every answer carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.settings import Settings, SettingsError, read_token
from tests.api.conftest import MakeClient
from tests.api.running import XID

TOKEN = "0123456789abcdef0123456789abcdef"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HTML = {"Accept": "text/html"}


def test_every_answer_carries_the_security_headers(make_client: MakeClient) -> None:
    client = make_client()
    for path in ("/", "/v1/rules", "/nothing", "/static/style.css", "/healthz"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:8080"])
def test_another_host_name_is_refused(make_client: MakeClient, host: str) -> None:
    client = make_client()
    assert client.get("/v1/rules", headers={"Host": host}).status_code == 421
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "triage.example.com"])
def test_known_host_names_are_answered(make_client: MakeClient, host: str) -> None:
    client = make_client(allowed_hosts="triage.example.com, other.example.com")
    assert client.get("/v1/rules", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_page_is_refused(make_client: MakeClient, headers: dict[str, str]) -> None:
    client = make_client()
    for path in ("/", "/v1/triage", "/v1/ingest/auto"):
        answer = client.post(path, data={"text": XID}, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (403, "urn:faultwalk:problem:other-origin")
    assert client.post("/v1/triage", content=XID, headers={"Origin": "http://127.0.0.1"}).status_code == 200


def test_the_token_is_wanted_everywhere_but_for_probes(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN)
    for path in ("/v1/rules", "/metrics", "/openapi.json", "/v1/alerts/recent", "/nothing"):
        answer = client.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get(path, headers=BEARER).status_code in (200, 404)
    for path in ("/healthz", "/readyz", "/static/style.css"):
        assert client.get(path).status_code == 200
    assert client.post("/v1/triage", content=XID).status_code == 401
    assert client.post("/v1/triage", content=XID, headers=BEARER).status_code == 200


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN]
)
def test_a_wrong_token_is_refused(make_client: MakeClient, value: str) -> None:
    client = make_client(token=TOKEN)
    answer = client.get("/v1/rules", headers={"Authorization": value})
    assert answer.status_code == 401 and TOKEN[:8] not in answer.text
    assert client.get("/v1/rules", params={"token": TOKEN}).status_code == 401


def test_a_person_signs_in_with_the_token(make_client: MakeClient) -> None:
    client = make_client(token=TOKEN)
    assert client.get("/", headers=HTML).headers["location"] == "/login"
    assert client.get("/login", headers=HTML).status_code == 200
    wrong = client.post("/login", files={"x": ("", b"")}, data={"token": "not the token"})
    assert wrong.status_code == 403 and "set-cookie" not in wrong.headers
    right = client.post("/login", files={"x": ("", b"")}, data={"token": TOKEN})
    assert (right.status_code, right.headers["location"]) == (303, "/")
    cookie = right.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie
    assert client.get("/", headers=HTML).status_code == 200
    client.cookies.clear()
    client.cookies.set("faultwalk_session", "guessed")
    assert client.get("/v1/rules").status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "faultwalk.example.com"])
def test_beyond_loopback_a_token_is_required(host: str) -> None:
    with pytest.raises(SettingsError, match="token"):
        Settings(host=host).check()
    assert Settings(host=host, token=TOKEN).check().token is not None  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="too short"):
        Settings(host=host, token="short").check()  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"])
def test_on_loopback_it_is_not(host: str) -> None:
    Settings(host=host).check()


def test_settings_come_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULTWALK_PORT", "9001")
    monkeypatch.setenv("FAULTWALK_ALLOWED_HOSTS", "a.example, b.example")
    monkeypatch.setenv("FAULTWALK_TOKEN", TOKEN)
    settings = Settings()
    assert (settings.port, settings.allowed_hosts) == (9001, ("a.example", "b.example"))
    assert TOKEN not in repr(settings)


def test_a_token_file_holds_one_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    assert read_token(path).get_secret_value() == TOKEN
    for text in ("two words here ok", "ümläut" * 5):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(SettingsError):
            read_token(path)
    with pytest.raises(SettingsError):
        read_token(tmp_path / "missing")
