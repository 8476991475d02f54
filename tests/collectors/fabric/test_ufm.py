"""UFM's events, from its log and from its REST API."""

from __future__ import annotations

import pytest

from tests.collectors.fabric.reading import seen, take, take_log


def test_event_log() -> None:
    intake = take_log("ufm/event.log")
    assert intake.kind == "ufm"
    down, up, ber, switch = seen(intake.records, "fabric-event")
    assert (down.code, down.node, down.entity, down.attributes["number"]) == (
        "link-down",
        "node-a",
        "link:mlx5_5:1",
        "329",
    )
    assert (up.code, ber.code, ber.entity, ber.attributes["switch"]) == (
        "link-up",
        "ber-critical",
        "link:P12:1",
        "leaf-3",
    )
    assert (switch.code, switch.entity) == ("switch-down", "switch:leaf-7")
    assert [one.code for one in seen(intake.records, "link")] == ["down", "up"]


def test_answer_of_the_api() -> None:
    intake = take_log("ufm/events.json")
    assert intake.kind == "ufm"
    assert [(one.code, one.line) for one in seen(intake.records, "fabric-event")] == [("link-down", 1), ("ber-high", 3)]


def test_syslog_form() -> None:
    text = "May 28 08:03:05 ufm-1 ufm: [97213] [112] WARNING Site [default] [Communication_Error] IBPort [Switch: leaf-3 / 12] [dev_id: 2c5e]: "
    (one,) = seen(
        take(f"{text}Link Downed counter delta threshold exceeded. Threshold is 0, received value is 4").records,
        "fabric-event",
    )
    assert (one.code, one.entity) == ("link-downed", "link:P12:1")


@pytest.mark.parametrize(
    "text",
    [
        '[{"object_path": "a", "severity": "Info"',
        '[{"object_path": 1, "severity": [], "name": {}}]',
        '[{"object_path": "x", "severity": "y"}, 3]',
    ],
)
def test_odd_documents(text: str) -> None:
    assert not seen(take(text).records, "fabric-event")
