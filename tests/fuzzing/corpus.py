"""What fuzzing starts from: the sample logs, the sample incidents and the examples of the rules."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import ModuleType

from diagnosis.rulebook import load_rulebook

ROOT = Path(__file__).resolve().parents[2]
MOST_BLOCK = 80  # lines of a sample that a block's parser gets from its head on


@cache
def sample_texts() -> tuple[bytes, ...]:
    """Return every sample file, and every example of a rule that is a text, smallest first."""
    found = {path.read_bytes() for path in sorted((ROOT / "fixtures").rglob("*")) if path.is_file()}
    for rule in load_rulebook().rules():
        for part, number, _ in rule.conditions():
            examples = getattr(rule, part)[number].examples
            for one in (*examples.match, *examples.no_match) if examples is not None else ():
                if one.text is not None:
                    found.add(one.text.encode())
    return tuple(sorted(found, key=lambda text: (len(text), text)))


@cache
def _lines() -> tuple[str, ...]:
    texts = (text.decode("utf-8", "replace") for text in sample_texts())
    return tuple(dict.fromkeys(line for text in texts for line in text.split("\n") if line.strip()))


def seeds_of(module: ModuleType) -> list[bytes]:
    """Return what of the samples wakes a collector: lines, texts from a head on, or documents."""
    found: list[bytes] = []
    if hasattr(module, "parse_line"):
        anchors = [re.compile(one) for one in module.ANCHORS]
        found += [line.encode() for line in _lines() if any(one.search(line) for one in anchors)]
    if hasattr(module, "parse_block"):
        heads = [re.compile(one) for one in module.HEADS]
        for text in sample_texts():
            lines = text.decode("utf-8", "replace").split("\n")
            starts = [place for place, line in enumerate(lines) if any(one.search(line) for one in heads)]
            found += ["\n".join(lines[place : place + MOST_BLOCK]).encode() for place in starts[:20]]
    if hasattr(module, "parse_document"):
        magic = [re.compile(one) for one in module.MAGIC]
        found += [text for text in sample_texts() if any(one.match(text) for one in magic)]
    return list(dict.fromkeys(found))
