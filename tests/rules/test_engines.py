"""Both engines find the same with every pattern that ships: in each sample, wherever it stands in a block, and in the rules' examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.engines import HyperscanEngine, Re2Engine
from collectors.registry import UNEXPLAINED, Registry
from collectors.scan import Scanner
from diagnosis.rulebook import load_rulebook

ROOT = Path(__file__).parents[2]
SAMPLES = sorted(
    path for folder in ("logs", "incidents") for path in (ROOT / "fixtures" / folder).rglob("*") if path.is_file()
)
BEFORE = b"what stands before it: " + b"x" * 40 + b"\n\n"


@pytest.fixture(scope="module")
def scanners() -> tuple[Scanner, Scanner]:
    patterns = [*Registry().patterns(), *load_rulebook().patterns, UNEXPLAINED]
    return Scanner(patterns, HyperscanEngine(patterns)), Scanner(patterns, Re2Engine(patterns))


def examples() -> bytes:
    found: dict[str, None] = {}
    for rule in load_rulebook().rules():
        for part, number, _ in rule.conditions():
            for one in (getattr(rule, part)[number].examples or ()) and getattr(rule, part)[number].examples.match:
                if one.text is not None:
                    found.setdefault(one.text.rstrip("\n"))
    return "\n".join(found).encode() + b"\n"


def missed(scanners: tuple[Scanner, Scanner], block: bytes) -> set[tuple[str, bytes]]:
    """Return what only one of the engines finds: keys of patterns and the lines."""
    first, second = (
        {
            (scanner.patterns[index].key, block[hit.start : hit.end][:120])
            for whole in (True, False)
            for hit in scanner.find(block, whole=whole)
            for index, _ in hit.found
        }
        for scanner in scanners
    )
    return first ^ second


def test_in_every_sample(scanners: tuple[Scanner, Scanner]) -> None:
    for path in SAMPLES:
        data = path.read_bytes().replace(b"\r\n", b"\n")
        if b"\x00" not in data:
            assert missed(scanners, data) == set(), path.name
            assert missed(scanners, BEFORE + data) == set(), path.name


def test_in_the_examples_of_the_rules(scanners: tuple[Scanner, Scanner]) -> None:
    text = examples()
    assert missed(scanners, text) == set()
    assert missed(scanners, BEFORE + text) == set()
