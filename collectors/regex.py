"""Regexes that are compiled when they are first used: a diagnosis needs few of the hundreds that collectors hold."""

from __future__ import annotations

import re
from typing import Any, cast


class _Later:
    """Stands for a compiled pattern; its first use compiles it."""

    def __init__(self, regex: str, flags: int) -> None:
        self._arguments = (regex, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = self.__dict__.setdefault("_compiled", re.compile(*self._arguments))
        value = getattr(compiled, name)
        self.__dict__[name] = value
        return value


def compile_later(regex: str, flags: int = 0) -> re.Pattern[str]:
    """Return what behaves like `re.compile(regex, flags)` in every use of its methods and attributes.

    >>> compile_later(r"Xid (\\d+)").findall("Xid 79, Xid 45")
    ['79', '45']
    """
    return cast("re.Pattern[str]", _Later(regex, flags))
