"""The pages without a browser: what they hold, in both languages, and that log text stays text."""

from __future__ import annotations

import re
import threading

import pytest
from fastapi.testclient import TestClient

from api.page_words import _WORDS
from tests.api.conftest import MakeClient
from tests.api.running import XID, sample_files

HTML = {"Accept": "text/html"}
NO_FILE = {"files": ("", b"")}


def paste(client: TestClient, text: str, language: str = "en") -> str:
    answer = client.post("/", data={"text": text, "language": language}, files=NO_FILE, headers=HTML)
    assert answer.status_code == 303, answer.text
    page = client.get(answer.headers["location"].partition("#")[0], headers=HTML)
    assert page.status_code == 200
    return page.text


def test_the_start_page_speaks_both_languages(client: TestClient) -> None:
    english, chinese = client.get("/?lang=en").text, client.get("/?lang=zh").text
    assert '<html lang="en">' in english and "Paste logs" in english
    assert '<html lang="zh-Hans">' in chinese and "粘贴日志" in chinese
    assert "粘贴日志" in client.get("/", headers={"Accept-Language": "zh-CN,zh;q=0.9"}).text
    assert "Paste logs" in client.get("/", headers={"Accept-Language": "fr, de;q=0.5"}).text
    for page in (english, chinese):
        assert '<label for="text">' in page and 'enctype="multipart/form-data"' in page


def test_a_paste_leads_to_its_report(client: TestClient) -> None:
    page = paste(client, XID)
    assert page.count("<h1") == 1
    assert "GPU has fallen off the bus" in page and "reboot the node" in page
    assert f"<pre><code>{XID}</code></pre>" in page
    assert 'id="c1-e1"' in page and 'href="#c1-e1"' in page
    assert "/cases/xid79-node-rejects-eight-gpu-pods" in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_report_can_be_read_in_the_other_language(client: TestClient) -> None:
    page = paste(client, XID, "zh")
    assert "GPU 掉卡" in page and "重启节点" in page
    link = re.search(r'<a href="(/reports/[0-9a-f]+)" hreflang="en"', page)
    assert link is not None
    assert "reboot the node" in client.get(link[1]).text


def test_the_sample_is_one_click_away(client: TestClient) -> None:
    assert 'name="sample"' in client.get("/").text
    answer = client.post("/", data={"sample": "1", "language": "en"}, files=NO_FILE)
    page = client.get(answer.headers["location"].partition("#")[0]).text
    assert "fabric.link-flapping" in page
    assert all(path.name in page for path in sample_files())


def test_the_text_stays_in_the_box_when_something_is_wrong(make_client: MakeClient) -> None:
    client = make_client(most_files=1)
    answer = client.post("/", data={"text": "  ", "language": "zh"}, files=NO_FILE, headers=HTML)
    assert answer.status_code == 422 and 'role="alert"' in answer.text and "请粘贴文本" in answer.text
    answer = client.post(
        "/", data={"text": XID, "language": "en"}, files=[("f", ("a", b"x")), ("f", ("b", b"x"))], headers=HTML
    )
    assert answer.status_code == 400 and 'role="alert"' in answer.text


def test_a_busy_service_keeps_the_text_too(make_client: MakeClient) -> None:
    client = make_client(at_once=1, waiting=0)
    started, go_on = threading.Event(), threading.Event()

    def hold(*_: object) -> None:
        started.set()
        assert go_on.wait(60)

    assert client.portal is not None
    held = client.portal.start_task_soon(client.app.state.service.work, hold)  # type: ignore[attr-defined]
    assert started.wait(30)
    answer = client.post("/", data={"text": XID, "language": "en"}, files=NO_FILE, headers=HTML)
    assert answer.status_code == 503 and "Too many diagnoses" in answer.text and XID in answer.text
    go_on.set()
    held.result(60)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "{{7*7}}",
        "</textarea><img src=x onerror=alert(1)>",
        "\x1b]8;;http://x\x07",
        "\u202egnp.exe",
    ],
)
def test_log_text_stays_text(client: TestClient, hostile: str) -> None:
    page = paste(client, f"{XID} {hostile}\nerror: failed to {hostile}\n")
    assert "<script>alert" not in page and "<img src=x" not in page
    assert hostile != "{{7*7}}" or "{{7*7}}" in page
    assert "\x1b" not in page and "\u202e" not in page


def test_a_case_is_a_page(client: TestClient) -> None:
    english = client.get("/cases/xid79-node-rejects-eight-gpu-pods?lang=en").text
    assert "What was seen" in english and "<pre" in english and "gpu.fell-off-bus" in english
    assert "看到的现象" in client.get("/cases/xid79-node-rejects-eight-gpu-pods?lang=zh").text


def test_an_error_is_a_page_for_people(client: TestClient) -> None:
    answer = client.get("/reports/none", headers=HTML)
    assert answer.status_code == 404 and "<h1>" in answer.text
    assert client.get("/reports/none").headers["content-type"] == "application/problem+json"
    assert client.get("/cases/none", headers=HTML).status_code == 404


def test_nothing_comes_from_elsewhere(client: TestClient) -> None:
    pages = [
        client.get("/").text,
        paste(client, XID),
        client.get("/static/style.css").text,
        client.get("/static/page.js").text,
    ]
    for page in pages:
        assert not re.findall(
            r"(?:src|href|action)=\"(?:https?:)?//|url\(|@import|style=\"|<script>|on(?:click|load)=", page
        )


def test_every_word_is_written_in_both_languages() -> None:
    for key, texts in _WORDS.items():
        assert texts["en"] and texts["zh"], key
        assert sorted(re.findall(r"{\w+}", texts["en"])) == sorted(re.findall(r"{\w+}", texts["zh"])), key
