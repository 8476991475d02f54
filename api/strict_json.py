"""JSON as RFC 8259 and RFC 7493 (I-JSON) have it. What the standard parser lets through is refused here: NaN and infinities,
lone surrogates, keys given twice, numbers of thousands of digits, other encodings than UTF-8 and deep nesting."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from api.problems import ProblemError

MOST_DEPTH = 32
_MOST_DIGITS = 64
# A string that is not closed runs to the end, so that the search stays linear.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.S)
_SURROGATE = re.compile(rb"\\u[dD][89abAB]|\\u[dD][c-fC-F]")


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON text. Raises a 400 problem, which never repeats the text."""
    _check_depth(body)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        _refuse("json-encoding", "The body is not UTF-8.")
    if text.startswith("\ufeff"):
        _refuse("json-encoding", "The body starts with a byte order mark.")
    try:
        value = json.loads(
            text, parse_constant=_constant, parse_int=_integer, parse_float=_number, object_pairs_hook=_object
        )
    except (ValueError, RecursionError):
        _refuse("json-syntax", "The body is not JSON.")
    if _SURROGATE.search(body):
        _check_text(value)
    return value


def _refuse(code: str, detail: str) -> NoReturn:
    raise ProblemError(400, code, detail)


def _check_depth(body: bytes) -> None:
    depth = 0
    for match in _TOKEN.finditer(body):
        token = match[0]
        if token in (b"[", b"{"):
            depth += 1
            if depth > MOST_DEPTH:
                _refuse("json-depth", f"The body is nested more than {MOST_DEPTH} levels deep.")
        elif token in (b"]", b"}"):
            depth -= 1


def _constant(_: str) -> NoReturn:
    _refuse("json-number", "The body holds NaN or Infinity, which JSON does not know.")


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        _refuse("json-number", f"The body holds a number of more than {_MOST_DIGITS} digits.")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _refuse("json-number", "The body holds a number that is too large.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        _refuse("json-duplicate-key", "The body holds an object with the same key twice.")
    return value


def _check_text(value: Any) -> None:
    """Refuse surrogates that stand alone: such text can't be written as UTF-8."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            _refuse("json-surrogate", "The body holds a lone surrogate.")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check_text(item)
    elif isinstance(value, list):
        for item in value:
            _check_text(item)
