"""Of a long input, routine is read at both ends and in a sample, circumstances until they are known; faults always."""

from __future__ import annotations

import pytest

from collectors import attention
from collectors.attention import Attention
from collectors.patterns import Pattern
from collectors.scan import Hit, Scanner

PATTERNS = (
    Pattern("fault", r"GPU is lost"),
    Pattern("line:steps:0", r"step took \d+", capture=False, routine=True),
    Pattern("line:nccl:0", r"Using network", capture=False, context=True),
    Pattern("block:table:0", r"^[A-Z]\d ", capture=False),
)
FAULT, STEP, NETWORK, HEAD = range(4)


def hit(index: int) -> Hit:
    return Hit(0, 1, ((index, {}),))


@pytest.fixture
def follower(monkeypatch: pytest.MonkeyPatch) -> Attention:
    for name, value in (
        ("SAMPLED_BLOCKS", 4),
        ("MANY_SHAPES", 2),
        ("MOST_CONTEXT", 5),
        ("MOST_BETWEEN", 3),
        ("MOST_SAMPLED", 2),
    ):
        monkeypatch.setattr(attention, name, value)
    return Attention(Scanner(PATTERNS))


def test_both_ends_and_a_sample_are_scanned_with_every_pattern(follower: Attention) -> None:
    seen = []
    for number in range(10):
        follower.enter(number, at_end=number in (0, 9))
        seen.append(follower.whole)
    assert seen == [True, False, False, False, True, False, False, False, True, True]
    assert follower.passed_over


def test_where_tables_follow_each_other_the_next_block_is_scanned_too(follower: Attention) -> None:
    follower.enter(4, at_end=False)
    follower.count(hit(HEAD))
    follower.count(hit(HEAD))
    follower.enter(5, at_end=False)
    assert follower.whole
    follower.enter(6, at_end=False)
    assert not follower.whole


def test_circumstances_are_read_until_they_are_known_and_sampled_from_then_on(follower: Attention) -> None:
    for number in range(1, 4):
        follower.enter(number, at_end=False)
        follower.count(hit(NETWORK))
    assert follower.passed == {NETWORK} and follower.is_tired
    follower.enter(4, at_end=False)
    assert follower.whole and not follower.passed
    follower.count(hit(NETWORK))
    assert not follower.passed
    follower.count(hit(NETWORK))
    assert follower.passed == {NETWORK}
    follower.enter(5, at_end=False)
    assert follower.passed == {NETWORK}


def test_more_circumstances_are_read_at_the_ends(follower: Attention) -> None:
    follower.enter(0, at_end=True)
    for _ in range(4):
        follower.count(hit(NETWORK))
    assert not follower.passed and not follower.is_tired
    follower.count(hit(NETWORK))
    assert follower.passed == {NETWORK}


def test_routine_is_read_whole_at_the_ends_and_in_part_between(follower: Attention) -> None:
    follower.enter(0, at_end=True)
    for _ in range(5):
        follower.count(hit(STEP))
    assert not follower.passed
    follower.enter(4, at_end=False)
    follower.count(hit(STEP))
    follower.count(hit(STEP))
    assert follower.passed == {STEP}
    follower.enter(8, at_end=False)
    assert not follower.passed


def test_faults_are_always_read(follower: Attention) -> None:
    follower.enter(1, at_end=False)
    for _ in range(10_000):
        follower.count(hit(FAULT))
    assert not follower.passed and not follower.is_tired


def test_passed_lines_are_left_out_of_the_scan_unless_another_pattern_hits_them() -> None:
    scanner = Scanner(PATTERNS)
    block = b"rank 1 Using network IB\nrank 2 Using network IB, GPU is lost\n"
    assert [one.start for one in scanner.find(block, passed={NETWORK})] == [24]


def test_lines_with_the_same_gist_are_read_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "MOST_SAID", 2)
    scanner = Scanner(
        (Pattern("line:nccl:0", r"Channel", capture=False, gist=r"Channel \d+ : (.*)"), Pattern("lost", r"lost"))
    )
    lines = [
        *(f"Channel {number} : 0 -> 1" for number in range(5)),
        "Channel 0 : 0 -> 2",
        "Channel 7 : 0 -> 1 lost",
        "Channel ?",
    ]
    block = "\n".join(lines).encode()
    follower = Attention(scanner)
    told = [number for number, found in enumerate(scanner.find(block)) if follower.is_told(found, block)]
    assert told == [2, 3, 4] and follower.told == 3


def test_so_many_gists_are_told_apart_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "MOST_SAID", 1)
    monkeypatch.setattr(attention, "MOST_GISTS", 2)
    scanner = Scanner((Pattern("line:nccl:0", r"Channel", capture=False, gist=r"Channel (\d+)"),))
    block = b"Channel 0\nChannel 1\nChannel 2\nChannel 2\nChannel 0\n"
    follower = Attention(scanner)
    assert [follower.is_told(found, block) for found in scanner.find(block)] == [False, False, False, False, True]
