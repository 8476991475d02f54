"""Fixed sentences and names of entities, in both languages."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis import wording
from diagnosis.model import LANGUAGES
from diagnosis.rulebook.schema import EntityKind
from diagnosis.wording import describe_entity, say

KINDS = EntityKind.__args__  # type: ignore[attr-defined]


@pytest.mark.parametrize("sentence", sorted(wording._SENTENCES))
def test_both_languages_say_the_same(sentence: str) -> None:
    fields = [
        {name for _, name, _, _ in string.Formatter().parse(wording._SENTENCES[sentence][language]) if name}
        for language in LANGUAGES
    ]
    assert fields[0] == fields[1]
    values = dict.fromkeys(fields[0], "X{y}")
    for language in LANGUAGES:
        assert say(sentence, language, **values).count("X{y}") == len(fields[0])
    assert bool(re.search(r"[\u4e00-\u9fff]", wording._SENTENCES[sentence]["zh"]))


def test_a_sentence_that_is_not_written() -> None:
    with pytest.raises(KeyError):
        say("no such sentence", "en")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_entity_has_a_word(kind: str) -> None:
    for language in LANGUAGES:
        assert wording._KINDS[kind][language]


@pytest.mark.parametrize(
    ("entity", "en", "zh"),
    [
        ("gpu:node-a/0000:3b:00.0", "GPU 0000:3b:00.0 on node-a", "node-a 的 GPU 0000:3b:00.0"),
        ("gpu:0", "GPU 0", "GPU 0"),
        ("gpu:/0", "GPU 0", "GPU 0"),
        ("pod:train/worker-0", "pod train/worker-0", "Pod train/worker-0"),
        ("node:node-a", "node node-a", "节点 node-a"),
        ("rank:11", "rank 11", "rank 11"),
        ("", "", ""),
        ("thing:x", "thing x", "thing x"),
    ],
)
def test_an_entity_as_people_write_it(entity: str, en: str, zh: str) -> None:
    assert (describe_entity(entity), describe_entity(entity, "zh")) == (en, zh)


@given(st.text())
def test_any_entity_is_described(entity: str) -> None:
    for language in LANGUAGES:
        assert isinstance(describe_entity(entity, language), str)
