"""The scan: Hyperscan, RE2 and plain `re` line by line find the same lines, patterns and captures on any text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.engines import Engine, HyperscanEngine, Re2Engine, choose_engine
from collectors.patterns import Pattern
from collectors.scan import WINDOW, LineCounter, Scanner

Digest = list[tuple[int, int, dict[str, str]]]

PATTERNS = (
    Pattern("xid", r"Xid \(PCI:(?P<pci>[0-9a-fA-F:.]+)\): (?P<code>\d+)"),
    Pattern("either", r"(?:link down|port error) on (?P<port>\d+)"),
    Pattern("caseless", r"(?i)out of memory"),
    Pattern("partly", r"GPU(?i: is lost)"),
    Pattern("flags", r"(?is)fatal.*stop"),
    Pattern("chinese", r"掉卡：(?P<gpu>\d+)"),
    Pattern("start", r"^at the start"),
    Pattern("end", r"at the end$"),
    Pattern("money", r"\d+ \$"),  # ends with an escaped anchor
    Pattern("dots", r"\d\d\.*"),
    Pattern("tail", r"x?.+"),  # what is left without the tail is found everywhere
    Pattern("gap", r"ab[^#]*yz"),  # a class that holds the newline
    Pattern("space", r"q\s+k"),
    Pattern("anchored", r"(?P<n>\d+) nodes", anchor=r" nodes"),
    Pattern("mark", r"refused", anchor=r"refused", capture=False),
    Pattern("wakes", r"^\[?[^#]{0,9}[#$] ", capture=False),
    Pattern("user", r"slow (?P<what>\w+) [^ ]+", trusted=False),
    Pattern("user wide", r"慢 (?P<what>.+) 秒", trusted=False),
)


def digest(block: bytes, patterns: Sequence[Pattern] = PATTERNS, *, engine: Engine | None = None) -> Digest:
    counter = LineCounter(block, 1)
    return [
        (counter.at(hit.start), index, dict(groups))
        for hit in Scanner(patterns, engine).find(block)
        for index, groups in hit.found
    ]


def naive(block: bytes, patterns: Sequence[Pattern] = PATTERNS) -> Digest:
    found: Digest = []
    for number, line in enumerate(block.split(b"\n"), 1):
        for index, pattern in enumerate(patterns):
            match = re.search(pattern.regex.encode(), line)
            if match:
                groups = {
                    name: value.decode("utf-8", "replace")
                    for name, value in match.groupdict().items()
                    if value is not None
                }
                found.append((number, index, groups if pattern.capture else {}))
    return found


ENGINES: tuple[Any, ...] = (HyperscanEngine(PATTERNS), Re2Engine(PATTERNS))
engines = pytest.mark.parametrize("engine", ENGINES, ids=("hyperscan", "re2"))

HOSTILE = (
    b"",
    b"\n",
    b"\n\n\n",
    b"no newline at the end",
    b"at the start\nnot at the start\nat the start",
    b"at the end\nat the end of it\nat the end\r\nat the end",
    b"NVRM: Xid (PCI:0000:3b:00): 79\r\nNVRM: Xid (PCI:0000:3b:00): 48, x\r\n",
    b"ab\nyz\nab yz\nab # yz\nab\n\nyz",
    b"q\nk q k\nq \x0b k q\tk\n",
    b"5 $\n5 $6\n$ 5\n12...\n12",
    b"OUT OF MEMORY out of Memory\nGPU IS LOST\nGPU is lost\ngpu is lost",
    b"FATAL x stop\nfatal\nstop",
    "掉卡：7\n掉卡: 7\n慢 三十 秒\n".encode(),
    "掉卡：7".encode("gb18030") + b"\n\xff\xfe slow \xff x\n slow disk \xe6\x85\n",
    "慢 ".encode() + b"\xff\xfe" + " 秒\n".encode(),
    b"\x00slow disk \x00\nslow disk x",
    b"refused refused\nrefused",
    b"a\nb # c\n[x]# ls\n$ ls",
    b"link down on 1 port error on 2\nport error on 3",
    b"12 nodes 13 nodes\nnodes",
)


@engines
@pytest.mark.parametrize("block", HOSTILE)
def test_engines_agree_with_re_on_hostile_text(engine: Engine, block: bytes) -> None:
    assert digest(block, engine=engine) == naive(block)


_PIECES = st.sampled_from(
    [
        "NVRM: Xid (PCI:0000:3b:00): 79", "Xid (PCI:", "link down", "port error on 3", " on 12", "out of memory", "OUT OF", "GPU is LOST",
        "fatal", "stop", "掉卡：7", "慢", " 秒", "at the start", "at the end", "5 $", "12..", "ab", "yz", "#", "q", "k", " ", "\t", "\r",
        "\n", "\r\n", "\n\n", "3 nodes", "refused", "slow ", "disk", "\x00", "\x0b", "é", "[", "$ ",
    ]
).map(str.encode) | st.binary(max_size=4)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=30).map(b"".join))
def test_engines_agree_with_re_on_generated_text(block: bytes) -> None:
    expected = naive(block)
    for engine in ENGINES:
        assert digest(block, engine=engine) == expected


@engines
@pytest.mark.parametrize("before", [0, 10, WINDOW - 40, WINDOW, WINDOW + 1, 3 * WINDOW, 50_000])
@pytest.mark.parametrize("after", [0, WINDOW, 50_000])
def test_a_match_anywhere_in_a_long_line_is_found(engine: Engine, before: int, after: int) -> None:
    block = b"x\n" + b"-" * before + b" NVRM: Xid (PCI:0000:3b:00): 79" + b"-" * after + b"\nport error on 3"
    found = digest(block, engine=engine)
    assert (2, 0, {"pci": "0000:3b:00", "code": "79"}) in found
    assert (3, 1, {"port": "3"}) in found


@engines
def test_a_long_line_is_searched_beyond_its_first_place(engine: Engine) -> None:
    block = b"Xid (PCI: nothing " + b"-" * 3 * WINDOW + b" Xid (PCI:0000:3b:00): 79" + b"-" * WINDOW
    assert (1, 0, {"pci": "0000:3b:00", "code": "79"}) in digest(block, engine=engine)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                b"Xid (PCI:",
                b"Xid (PCI:0000:3b:00): 79 ",
                b"slow ",
                b"slow disk x",
                b" 12 nodes",
                b"-" * 700,
                b"\xe6\x85",
                b"\n",
            ]
        ),
        min_size=5,
        max_size=60,
    ).map(b"".join)
)
def test_engines_agree_on_long_lines(block: bytes) -> None:
    assert digest(block, engine=ENGINES[0]) == digest(block, engine=ENGINES[1])


@engines
def test_a_line_full_of_hits_is_one_hit(engine: Engine) -> None:
    block = b"refused " * 600_000
    assert digest(block, [PATTERNS[14]], engine=type(engine)([PATTERNS[14]])) == [(1, 0, {})]  # type: ignore[call-arg]


@engines
def test_a_long_line_of_false_hits_ends(engine: Engine) -> None:
    block = b"Xid (PCI: " * 100_000 + b"\nXid (PCI:0000:3b:00): 79\n"
    assert digest(block, [PATTERNS[0]], engine=type(engine)([PATTERNS[0]])) == [  # type: ignore[call-arg]
        (2, 0, {"pci": "0000:3b:00", "code": "79"})
    ]


def test_a_compiled_database_is_kept_and_loaded_again() -> None:
    blob = HyperscanEngine(PATTERNS).dump()
    block = b"port error on 3\nat the end\n"
    assert digest(block, engine=choose_engine(PATTERNS, blob)) == naive(block)


@pytest.mark.parametrize("blob", [b"", b"rubbish", b"[]\nrubbish", b"[[99]]\n"])
def test_a_database_that_does_not_load_is_compiled_anew(blob: bytes) -> None:
    block = b"port error on 3\n"
    assert digest(block, engine=choose_engine(PATTERNS, blob)) == naive(block)


def test_what_hyperscan_refuses_is_left_to_re2() -> None:
    patterns = [Pattern("never", r"a\bb"), Pattern("small", r"port (?P<n>\d)")]
    assert isinstance(choose_engine(patterns), Re2Engine)
    assert digest(b"port 3\n", patterns) == [(1, 1, {"n": "3"})]


def test_re2_names_the_pattern_that_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"RE2 refuses the pattern of mine: a\(\?=b\)"):
        Re2Engine([Pattern("mine", r"a(?=b)")])


@given(st.binary(max_size=200).map(lambda data: data.replace(b"a", b"\n")), st.integers(0, 5), st.data())
def test_line_numbers_are_those_of_a_plain_count(block: bytes, first: int, data: st.DataObject) -> None:
    offsets = sorted(data.draw(st.lists(st.integers(0, len(block)), max_size=20)))
    counter = LineCounter(block, first)
    assert [counter.at(offset) for offset in offsets] == [first + block[:offset].count(b"\n") for offset in offsets]


def test_a_copy_finds_the_same_with_an_engine_of_its_own_made_the_same_way() -> None:
    made: list[int] = []

    def choose(patterns: Sequence[Pattern]) -> Engine:
        made.append(len(patterns))
        return choose_engine(patterns)

    first = Scanner((Pattern("a", "alpha beta"), Pattern("b", "gamma", routine=True)), choose=choose)
    second = first.copy()
    assert second.engine is not first.engine
    assert list(second.find(b"alpha beta\ngamma\n")) == list(first.find(b"alpha beta\ngamma\n"))
    list(second.find(b"gamma\n", whole=False))
    assert made == [2, 1]
