"""Regexes of collectors: compiled when they are first used, and linear in time on long texts.

A diagnosis needs few of the hundreds of regexes that collectors hold. On short texts `re` is the fastest; there are lines on
which it takes time that grows with the square of their length, so a text of more than `LONG` characters is searched by RE2
where RE2 takes the regex (it knows no look-around). There, `\\w`, `\\d`, `\\s` and `\\b` mean ASCII.
"""

from __future__ import annotations

import re
from typing import Any, cast

LONG = 512  # characters from which on RE2 is used
_GUARDED = ("search", "match", "fullmatch", "findall", "finditer")
_LETTERS = ((re.I, "i"), (re.M, "m"), (re.S, "s"))  # the flags that RE2 knows


class _Later:
    """Stands for a compiled pattern; its first use compiles it."""

    def __init__(self, regex: str, flags: int) -> None:
        self._arguments = (regex, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = self.__dict__.setdefault("_compiled", re.compile(*self._arguments))
        value = getattr(compiled, name)
        if name in _GUARDED:
            value = self._guard(name, value)
        self.__dict__[name] = value
        return value

    def _guard(self, name: str, exact: Any) -> Any:
        """Return a method that leaves long texts to RE2."""
        regex, flags = self._arguments
        before_newline = "$" in regex and not flags & re.M  # there `re` matches, RE2 does not

        def choose(text: str, start: int = 0) -> Any:
            if len(text) <= LONG or start or (before_newline and text.endswith("\n")):
                return exact(text, start) if start else exact(text)
            linear = self.__dict__.get("_linear", False)
            if linear is False:
                linear = self.__dict__["_linear"] = _compile_linear(regex, flags)
            if linear is None:
                return exact(text)
            if not text.isascii():
                text = text.encode("utf-8", "replace").decode()  # as long as before, without lone surrogates
            return getattr(linear, name)(text)

        return choose


def _compile_linear(regex: str, flags: int) -> Any:
    """Return the regex compiled by RE2, None when that does not take it."""
    import re2

    known = "".join(letter for flag, letter in _LETTERS if flags & flag)
    if flags & ~(re.I | re.M | re.S | re.U):
        return None
    try:
        return re2.compile(f"(?{known}){regex}" if known else regex, _options(max_mem=32 << 20))
    except re2.error:
        return None


def _options(**settings: Any) -> Any:
    """Return RE2's options without its own messages on stderr."""
    import re2

    options = re2.Options()
    options.log_errors = False
    for name, value in settings.items():
        setattr(options, name, value)
    return options


def compile_later(regex: str, flags: int = 0) -> re.Pattern[str]:
    """Return what behaves like `re.compile(regex, flags)` in every use of its methods and attributes.

    >>> compile_later(r"Xid (\\d+)").findall("Xid 79, Xid 45")
    ['79', '45']
    """
    return cast("re.Pattern[str]", _Later(regex, flags))


def compile_linear_bytes(regex: str) -> Any:
    """Return the regex compiled by RE2 so that it works on bytes as `re` does. Raises re2.error."""
    import re2

    return re2.compile(regex.encode(), _options(encoding=re2.Options.Encoding.LATIN1))
