"""The page in Chromium: paste or upload, with and without scripts, on a phone and on a desk, in both languages and colours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.api.running import XID, Server, program, sample_files

# SHOTS=folder keeps screenshots, to be looked at by a person.
SHOTS = os.environ.get("SHOTS", "")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
IN_VIEW = """selector => { const box = document.querySelector(selector).getBoundingClientRect();
  return box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth; }"""
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [
  `${document.documentElement.scrollWidth} of ${innerWidth}`,
  ...Array.from(document.querySelectorAll("body *")).filter(one => one.getBoundingClientRect().right > innerWidth)
    .map(one => `${one.tagName}.${one.className}`)]"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program("chromium"), args=FLAGS)
        yield browser
        browser.close()


def open_page(browser: Browser, **options: Any) -> tuple[Page, list[str]]:
    """Open a page; the list fills with what the browser complains about or asks other hosts for."""
    page = browser.new_context(**options).new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("http://127.0.0.1:", "data:")) else complaints.append(request.url)
        ),
    )
    return page, complaints


def assert_no_wider(page: Page) -> None:
    """Nothing scrolls sideways once the page has come to rest; what is too wide is named."""
    wide: list[str] = []
    for _ in range(100):
        wide = page.evaluate(TOO_WIDE)
        if not wide:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"wider than the window: {wide}")


def keep(page: Page, name: str) -> None:
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(SHOTS) / f"{name}.png")
        page.screenshot(path=Path(SHOTS) / f"{name}-whole.png", full_page=True)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_the_sample_pasted_gives_its_verdict_on_the_first_screen(
    browser: Browser, server: Server, size: dict[str, int], language: str, scheme: str, scripts: bool
) -> None:
    page, complaints = open_page(browser, viewport=size, color_scheme=scheme, java_script_enabled=scripts)
    page.goto(f"{server.url}/?lang={language}")
    where = f"{'phone' if size is PHONE else 'desk'}-{language}-{scheme}"
    if scripts:
        keep(page, f"start-{where}")
    page.locator("#text").fill("\n".join(path.read_text(encoding="utf-8") for path in sample_files()))
    page.locator("#paste button[type=submit]").click()
    page.wait_for_selector("#verdict")
    page.wait_for_load_state("load")
    assert "/reports/" in page.url
    assert page.locator("html").get_attribute("lang") == ("zh-Hans" if language == "zh" else "en")
    assert "fabric.link-flapping" in page.locator(".verdict").inner_text()
    assert "node-b" in page.locator("#verdict").inner_text()
    if scripts:
        keep(page, f"report-{where}")
        for selector in ("#verdict", ".verdict .do", ".verdict .first pre"):
            assert page.evaluate(IN_VIEW, selector), f"{selector} is not on the first screen"
        assert_no_wider(page)
        assert page.evaluate("document.activeElement.id") == "answer"
    assert complaints == []
    page.context.close()


def test_files_are_uploaded_by_keyboard_alone(browser: Browser, server: Server, tmp_path: Path) -> None:
    (tmp_path / "dmesg.log").write_text(XID, encoding="utf-8")
    page, complaints = open_page(browser, viewport=DESK)
    page.goto(f"{server.url}/?lang=en")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "files"
    page.locator("#files").set_input_files(tmp_path / "dmesg.log")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict")
    assert "dmesg.log:1" in page.locator(".verdict").inner_text()
    page.get_by_text("中文").click()
    page.wait_for_selector("html[lang=zh-Hans]")
    assert "掉卡" in page.locator("#verdict").inner_text()
    assert complaints == []


def test_control_enter_sends_and_keys_walk_the_evidence(browser: Browser, server: Server) -> None:
    page, complaints = open_page(browser, viewport=DESK)
    page.goto(f"{server.url}/?lang=en")
    page.locator("#text").fill("\n".join(XID.replace("04:15:00", f"04:15:{second:02}") for second in range(9)))
    page.locator("#text").press("Control+Enter")
    page.wait_for_selector("#copy:not([hidden])")
    seen = []
    for _ in range(page.locator("#cause-1 .lines > li").count()):
        page.keyboard.press("n")
        seen.append(page.evaluate("document.activeElement.id"))
    assert seen == [f"c1-e{number + 1}" for number in range(len(seen))] and len(seen) > 4
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.id") == seen[-2]
    assert complaints == []


def test_the_report_is_copied_as_markdown(browser: Browser, server: Server) -> None:
    page, complaints = open_page(browser, viewport=DESK, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{server.url}/?lang=en")
    page.locator("#text").fill(XID)
    page.locator("#paste button[type=submit]").click()
    page.locator("#copy").click()
    page.wait_for_selector(
        "#progress:text-is('Copied')", state="attached"
    )  # a polled function is what the page's policy forbids
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "gpu.fell-off-bus" in copied and XID in copied
    assert complaints == []


def test_a_dropped_file_is_taken(browser: Browser, server: Server) -> None:
    page, complaints = open_page(browser, viewport=DESK)
    page.goto(f"{server.url}/?lang=en")
    page.evaluate(
        """line => { const data = new DataTransfer(); data.items.add(new File([line], 'dropped.log'));
        document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); }""",
        XID,
    )
    page.locator("#paste button[type=submit]").click()
    page.wait_for_selector("#verdict")
    assert "dropped.log:1" in page.locator(".verdict").inner_text()
    assert complaints == []


def test_an_error_keeps_the_text(browser: Browser, server: Server) -> None:
    page, _ = open_page(browser, viewport=PHONE)
    page.goto(f"{server.url}/?lang=en")
    page.locator("#paste button[type=submit]").click()
    page.wait_for_selector("[role=alert]")
    assert "Paste some text" in page.locator("[role=alert]").inner_text()


def test_hostile_log_lines_run_nothing(browser: Browser, server: Server) -> None:
    page, complaints = open_page(browser, viewport=DESK)
    page.goto(f"{server.url}/?lang=en")
    hostile = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"
    page.locator("#text").fill(f"{XID} {hostile}\nerror: cannot open {hostile}\n")
    page.locator("#paste button[type=submit]").click()
    page.wait_for_selector("#verdict")
    assert hostile in page.locator("#cause-1").inner_text()
    assert "owned" not in page.title() and page.locator("main img").count() == 0
    assert complaints == []


@pytest.mark.parametrize("width", [320, 768])
def test_nothing_scrolls_sideways(browser: Browser, server: Server, width: int) -> None:
    page, _ = open_page(browser, viewport={"width": width, "height": 700})
    page.goto(f"{server.url}/?lang=en")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#text").fill(f"{XID} {'long' * 500}\nerror: {'word' * 300}")
    page.locator("#paste button[type=submit]").click()
    page.wait_for_selector("#verdict")
    page.wait_for_load_state()  # its style included
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_headings_and_labels_are_in_order(browser: Browser, server: Server) -> None:
    page, _ = open_page(browser, viewport=DESK)
    page.goto(f"{server.url}/?lang=en")
    unnamed = (
        "[...document.querySelectorAll('input:not([type=hidden]), textarea')].filter(e => e.labels.length === 0).length"
    )
    assert page.evaluate(unnamed) == 0
    page.get_by_text("Diagnose a sample incident").click()
    page.wait_for_selector("#verdict")
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.evaluate(
        "[...document.querySelectorAll('section')].every(e => document.getElementById(e.getAttribute('aria-labelledby')))"
    )
