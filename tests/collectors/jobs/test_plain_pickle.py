"""Pickles are read without the pickle module: plain values come out, and whatever would do more is refused with its reason."""

from __future__ import annotations

import contextlib
import os
import pickle
import pickletools
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.block import RefusedError
from collectors.jobs.plain_pickle import Bounds, loads

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.tuples(inner)
        | st.tuples(inner, inner, inner, inner)
    ),
    max_leaves=40,
)


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("true",)


class Stateful:
    def __init__(self) -> None:
        self.value = 1


@given(value=plain, protocol=st.integers(2, 5))
@settings(max_examples=200, deadline=None)
def test_plain_values_come_out_as_they_went_in(value: Any, protocol: int) -> None:
    data = pickle.dumps(value, protocol)
    if any(one.name == "GLOBAL" for one, _, _ in pickletools.genops(data)):
        return  # protocol 2 writes bytes as a call
    assert loads(data) == value


def test_values_that_are_remembered_and_shared() -> None:
    shared = {"name": "forward", "line": 3}
    value = [{"frames": [shared, shared], "number": number} for number in range(400)]
    assert loads(pickle.dumps(value, 2)) == value


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "value",
    [Evil(), Stateful(), OrderedDict(a=1), {1, 2}, frozenset({1}), Decimal(1), os.system, range(3), bytearray(b"a")],
)
def test_anything_but_plain_values_is_refused(value: Any, protocol: int) -> None:
    with pytest.raises(RefusedError, match="would do more than hold plain values"):
        loads(pickle.dumps([value], protocol))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not a pickle"),
        (b"\x80\x01N.", "not a pickle"),
        (b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00idtR.", "GLOBAL"),
        (b"\x80\x02(X\x02\x00\x00\x00idios\nsystem\n.", "INST"),
        (b"\x80\x02N\x81.", "NEWOBJ"),
        (b"\x80\x02NQ.", "BINPERSID"),
        (b"\x80\x02\x82\x01.", "EXT1"),
        (b"\x80\x02Nb.", "BUILD"),
        (b"\x80\x05\x97.", "NEXT_BUFFER"),
        (b"\x80\x02NR.", "REDUCE"),
        (b"\x80\x02\xff.", "0xff"),
        (b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".", "nested more than"),
        (b"\x80\x02)" + b"\x85" * 100_000 + b".", "nested more than"),
        (b"\x80\x02]q\x00h\x00a.", "nested more than"),
        (b"\x80\x02})" + b"\x85" * 100_000 + b"Ns.", "key is neither"),
        (b"\x80\x02}]Ns.", "key is neither"),
        (b"\x80\x04\x8e" + b"\xff" * 8 + b".", "a string of"),
        (b"\x80\x02X\xff\xff\xff\x7f.", "a string of"),
        (b"\x80\x02X\x10\x00\x00\x00ab.", "breaks off"),
        (b"\x80\x02\x8a\xff" + b"\x01" * 255 + b".", "a number of 255 bytes"),
        (b"\x80\x02\x8b\xff\xff\xff\x7f.", "LONG4"),
        (b"\x80\x02h\x07.", "never remembered"),
        (b"\x80\x02j\xff\xff\xff\xff.", "never remembered"),
        (b"\x80\x02q\x00.", "breaks off"),
        (b"\x80\x02N", "breaks off"),
        (b"\x80\x02NN.", "unfinished"),
        (b"\x80\x02(.", "unfinished"),
        (b"\x80\x02]e.", "without their mark"),
        (b"\x80\x02N(Ne.", "fills a list"),
        (b"\x80\x02}(NNNu.", "without value"),
        (b"\x80\x02\x86.", "without its values"),
        (b"\x80\x02](a.", "a mark where"),
    ],
)
def test_hostile_and_broken_bytes_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        loads(data)


def test_a_far_place_in_the_memory_costs_nothing() -> None:
    assert loads(b"\x80\x02Nr\xff\xff\xff\xff.") is None


def test_bounds() -> None:
    many = pickle.dumps(list(range(1000)), 4)
    with pytest.raises(RefusedError, match="more than 100 operations"):
        loads(many, Bounds(operations=100))
    with pytest.raises(RefusedError, match="larger than"):
        loads(many, Bounds(bytes=10))
    with pytest.raises(RefusedError, match="remembered"):
        loads(pickle.dumps([[number] for number in range(1000)], 4), Bounds(memo=100))


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_a_plain_value_or_a_reason(data: bytes) -> None:
    with contextlib.suppress(RefusedError):
        loads(b"\x80\x02" + data)


def test_the_reason_is_told_in_both_languages() -> None:
    with pytest.raises(RefusedError) as refused:
        loads(pickle.dumps(Evil(), 2))
    (reason,) = refused.value.args
    assert "would do more than hold plain values" in reason
    assert "不只是保存普通值" in reason.in_language("zh")
