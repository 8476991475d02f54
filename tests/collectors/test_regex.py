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


@pytest.mark.parametrize("size", [100, 600])
def test_a_long_text_gives_the_same_as_a_short_one(size: int) -> None:
    later, exact = compile_later(r"(?P<a>\d+)-(?P<b>x+)?", re.I), re.compile(r"(?P<a>\d+)-(?P<b>x+)?", re.I)
    text = "é ".ljust(size) + "12-XX 7- 3-x"
    for name in ("search", "findall"):
        assert repr(found(getattr(later, name)(text))) == repr(found(getattr(exact, name)(text)))
    assert [one.span() for one in later.finditer(text)] == [one.span() for one in exact.finditer(text)]
    assert [one["b"] for one in later.finditer(text)] == ["XX", None, "x"]
    assert later.match(text) is None and later.fullmatch("1-x" + "x" * size) is not None


def found(value: object) -> object:
    return value.groups() if hasattr(value, "groups") else value


def test_a_newline_at_the_end_and_what_re2_does_not_take() -> None:
    long = "a" * 600
    assert compile_later(r"a$").search(long + "\n") is not None
    assert compile_later(r"(?<!b)a").search(long) is not None
    assert compile_later(r"a # comment", re.X).search(long) is not None
    assert compile_later(r"b").search(long + "\ud800b") is not None


def test_time_on_a_long_text_is_linear() -> None:
    """`re` would need a minute for this."""
    assert compile_later(r"\d+ (?:bytes|MiB) free").search("9" * 300_000) is None
