"""A regex that is compiled later behaves like one that is compiled now."""

from __future__ import annotations

import re

import pytest

from collectors.regex import compile_later


def test_it_does_what_a_compiled_pattern_does() -> None:
    later, now = compile_later(r"xid (?P<code>\d+)", re.I), re.compile(r"xid (?P<code>\d+)", re.I)
    text = "Xid 79, xid 45"
    for _ in range(2):
        found, wanted = later.search(text), now.search(text)
        assert found is not None and wanted is not None
        assert (found.groupdict(), found.span()) == (wanted.groupdict(), wanted.span())
    assert later.findall(text) == now.findall(text)
    assert later.sub("", text) == now.sub("", text)
    assert (later.pattern, later.groupindex) == (now.pattern, now.groupindex)


def test_a_wrong_regex_fails_when_it_is_used() -> None:
    later = compile_later("(")
    with pytest.raises(re.error):
        later.search("x")
