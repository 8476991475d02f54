"""The generator of ordinary logs: the same bytes for the same arguments, and about as many interesting lines as asked for."""

from __future__ import annotations

import hashlib

import pytest

from tests.benchmarks.count_grams import count_grams, write_table
from tests.benchmarks.generate import Log, collect_examples

EXAMPLES = ["NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "one line\nand another\n"]


def digest(log: Log) -> str:
    return hashlib.sha256(b"".join(log.chunks())).hexdigest()


def test_the_same_arguments_give_the_same_bytes() -> None:
    assert digest(Log(300_000, 0.05, EXAMPLES)) == digest(Log(300_000, 0.05, EXAMPLES))
    assert digest(Log(300_000, 0.05, EXAMPLES)) != digest(Log(300_000, 0.05, EXAMPLES, seed=2))


def test_a_log_can_be_written_twice() -> None:
    log = Log(100_000, 0.01, EXAMPLES)
    assert digest(log) == digest(log)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2])
def test_share_size_and_lines(share: float) -> None:
    log = Log(1_000_000, share, EXAMPLES)
    data = b"".join(log.chunks())
    assert 1_000_000 <= len(data) < 1_040_000
    assert data.endswith(b"\n") and data.count(b"\n") == log.lines
    assert log.interesting / log.lines == pytest.approx(share, abs=0.001)
    assert 110 < len(data) / log.lines < 160 or share > 0.1


def test_without_examples_nothing_is_interesting() -> None:
    log = Log(50_000, 0.5, [])
    assert b"".join(log.chunks()) and log.interesting == 0


def test_the_rules_have_examples() -> None:
    assert len(collect_examples()) > 20


def test_pieces_are_counted_by_their_rate() -> None:
    rates = count_grams({"one": [b"NCCL INFO 123\n" * 1000], "other": [b"quiet\n"]})
    assert rates["NCCL"] == rates["INFO"] == rates["O 00"] == pytest.approx(1000 / 2**0.5)
    assert "quie" not in rates  # once in a megabyte
    assert write_table({"NCCL": 700.0, "a b ": 600.0, "rare": 5.0}) == "512\tNCCLa b \n4\trare\n"
