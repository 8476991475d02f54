"""What a rule's pattern may look like: it must run on a linear-time engine and must not slow the scan."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.S)


def find_regex_problems(regex: str) -> Iterator[str]:
    """Yield why the linear-time engine does not take a regex; nothing when it does."""
    import re2

    if len(regex) > 1500:
        yield "longer than 1500 characters"
        return
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(regex.encode(), options)
    except re2.error as error:
        text = error.args[0] if error.args else error
        yield f"refused by RE2 (no look-around or back-reference, counts to 1000): {text.decode() if isinstance(text, bytes) else text}"


def find_pattern_problems(regex: str) -> Iterator[str]:
    """Yield what is wrong with a pattern, each as a phrase; nothing when it is fine."""
    refused = list(find_regex_problems(regex))
    if refused:
        yield from refused
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # `[[:alpha:]]` means something else there
            compiled = re.compile(regex.encode())
    except (re.error, FutureWarning, DeprecationWarning, OverflowError) as error:
        yield f"refused by Python's re: {error}"
        return
    if compiled.search(b"") is not None:
        yield "matches an empty line"
    if re.match(r"\(?(?:\?i\))?\(?(?:\?P<\w+>)?\\S[+*]", regex) or regex.startswith((".*", ".+")):
        yield "starts with an open repeat (`\\S+`, `.*`): start with what is certain"
    if _has_wide_class(regex):
        yield "has a non-ASCII character inside [...]: the scan works on bytes"
    if re.search(r"[^\x00-\x7f][?*+{]", regex):
        yield "repeats a non-ASCII character: the scan works on bytes, so put it into (?:...)"
    if re.search(r"[^\x00-\x7f]\.[{*+?]?|\.\{\d+,?\d*\}[^\x00-\x7f]", regex) and re.search(r"\.\{\d", regex):
        yield "counts dots beside non-ASCII text: the scan works on bytes"


def _has_wide_class(regex: str) -> bool:
    return any(part[0] == "[" and not part.isascii() for part in _CLASS.findall(regex))
