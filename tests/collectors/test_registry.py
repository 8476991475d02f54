"""The collectors: each has what the intake calls, and a text is recognised by its lines."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from collectors.registry import COLLECTORS, UNEXPLAINED, Registry
from diagnosis.model import LAYERS

modules = pytest.mark.parametrize("module", COLLECTORS, ids=lambda module: module.__name__)


@modules
def test_a_collector_has_its_parts(module: ModuleType) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9-]*", module.SOURCE)
    assert set(module.LAYERS) <= set(LAYERS)
    assert (module.__doc__ or "").strip()
    for names, parser in (("ANCHORS", "parse_line"), ("HEADS", "parse_block")):
        assert bool(getattr(module, names, ())) == hasattr(module, parser)
    for regex in (*getattr(module, "ANCHORS", ()), *getattr(module, "HEADS", ()), *getattr(module, "SIGNATURES", ())):
        assert re.compile(regex).search("") is None, f"{regex} matches an empty line"
    for regex, gist in getattr(module, "GISTS", {}).items():
        assert regex in module.ANCHORS and re.compile(gist.encode()).groups


def test_no_collector_stands_twice() -> None:
    assert len({module.__name__ for module in COLLECTORS}) == len(COLLECTORS)


def test_every_pattern_wakes_its_collector() -> None:
    registry = Registry()
    patterns = registry.patterns()
    assert len({pattern.key for pattern in patterns}) == len(patterns)
    for pattern in patterns:
        form, name, _ = pattern.key.split(":")
        module = registry.woken_by(pattern.key)
        assert module.__name__.rpartition(".")[2] == name
        assert hasattr(module, f"parse_{form}")
        assert not pattern.capture


def test_a_text_is_told_by_its_lines() -> None:
    votes = Registry().recognise(
        [
            "Aug 20 23:41:07 node-b kernel: usb 1-1: new device",
            "[   12.000001] hello",
            "a sentence",
        ]
    )
    assert votes["kernel"] == 2
    assert sum(votes.values()) == 2


def test_nothing_is_made_of_nothing() -> None:
    registry = Registry()
    assert not registry.recognise([])
    assert registry.layers_of("no such source") == ()
    assert "hardware" in registry.layers_of("kernel")


@pytest.mark.parametrize(
    "line", ["ERROR: x", "it timed out", "Failed to open", "no such file", "panic: y", "corruption"]
)
def test_what_looks_like_an_error(line: str) -> None:
    assert re.search(UNEXPLAINED.regex, line)


@pytest.mark.parametrize("line", ["errors: 0x", "terrorist", "failsafe", "all is well", "killedness"])
def test_what_does_not(line: str) -> None:
    assert not re.search(UNEXPLAINED.regex, line)
