"""What the standard parser lets through is refused, and what JSON allows is read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.problems import ProblemError
from api.strict_json import MOST_DEPTH, parse_json


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"NaN", "json-number"),
        (b'{"a": [1, Infinity]}', "json-number"),
        (b"-Infinity", "json-number"),
        (b"1e999", "json-number"),
        (b"[" + b"9" * 5000 + b"]", "json-number"),
        (b'"\\ud800"', "json-surrogate"),
        (b'{"\\udfff": 1}', "json-surrogate"),
        (b'["\\ud800\\ud800"]', "json-surrogate"),
        (b"[" * 100_000 + b"]" * 100_000, "json-depth"),
        (b'{"a":' * (MOST_DEPTH + 1) + b"1" + b"}" * (MOST_DEPTH + 1), "json-depth"),
        (b'{"a": 1, "b": 2, "a": 3}', "json-duplicate-key"),
        (b'\xef\xbb\xbf{"a": 1}', "json-encoding"),
        ('{"a": "x"}'.encode("utf-16"), "json-encoding"),
        ('{"a": "掉卡"}'.encode("gbk"), "json-encoding"),
        (b"", "json-syntax"),
        (b'{"a": 1', "json-syntax"),
        (b'{"a": 1} trailing', "json-syntax"),
        (b'"\\', "json-syntax"),
        (b'"' + b'\\"' * 400_000, "json-syntax"),
        (b'"tab\there"', "json-syntax"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value[:20]),
)
def test_is_refused(body: bytes, code: str) -> None:
    with pytest.raises(ProblemError) as caught:
        parse_json(body)
    assert (caught.value.status, caught.value.code) == (400, code)


def test_reads_what_is_allowed() -> None:
    text = '{"a": [1, -2.5, 1e3, true, null], "b": "\\ud83d\\ude00 [[[ \\" {", "掉": {}}'
    assert parse_json(text.encode()) == {"a": [1, -2.5, 1000.0, True, None], "b": '😀 [[[ " {', "掉": {}}
    assert parse_json(b"[" * MOST_DEPTH + b"]" * MOST_DEPTH) is not None


_VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**60), 10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_VALUES)
def test_reads_whatever_json_can_say(value: Any) -> None:
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_or_read_but_never_crash(body: bytes) -> None:
    value = None
    with suppress(ProblemError):
        value = parse_json(body)
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
