"""Of a long input every fault is read, and of its routine lines and tables the beginning, the end and a sample."""

from __future__ import annotations

import pytest

from collectors import blocks, hits
from collectors.ingest import Intake, read_inputs, text_input
from collectors.observation import Observation
from collectors.patterns import Pattern
from collectors.registry import UNEXPLAINED, Registry
from collectors.scan import Scanner

STEP = " iteration   100/  500000 | elapsed time per iteration (ms): 5000.1 | lm loss: 1.5E+00\n"
CHANNEL = "node-1:1:1 [0] NCCL INFO Channel {number:02}/0 : 0[0] -> 1[0] [send] via NET/IB/{nic}/GDRDMA\n"


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 4096)


def read(text: str) -> Intake:
    registry = Registry()
    patterns = [*registry.patterns(), Pattern("rule", r"card (?P<gpu>\d+) is gone"), UNEXPLAINED]
    (intake,) = read_inputs([text_input("a", text)], Scanner(patterns), registry, now=1_764_547_200.0)
    return intake


def lines_of(intake: Intake, kind: str) -> list[int]:
    return [one.line for one in intake.records if isinstance(one, Observation) and one.kind == kind]


def test_a_short_input_is_read_whole() -> None:
    intake = read(STEP * 150)
    assert lines_of(intake, "step") == list(range(1, 151)) and intake.notes == []


def test_routine_lines_of_a_long_input_are_sampled_and_the_note_says_so() -> None:
    intake = read(STEP * 6000)
    found = lines_of(intake, "step")
    assert found[0] == 1 and found[-1] == 6000 and len(found) < 2000
    assert intake.lines == 6000
    assert any("routine lines" in note for note in intake.notes)


def test_every_fault_of_a_long_input_is_read() -> None:
    lines = [STEP] * 6000
    for at in range(0, 6000, 7):
        lines[at] = f"card {at} is gone\n"
    assert lines_of(read("".join(lines)), "text") == list(range(1, 6001, 7))


def test_what_only_looks_like_an_error_is_counted_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "MOST_UNEXPLAINED", 10)
    intake = read("something failed\nquiet\n" * 500)
    assert intake.unexplained == 500 and len(lines_of(intake, "unexplained")) == 10


def test_equal_faults_are_thinned_out_and_counted() -> None:
    intake = read("card 3 is gone\n" * 3000)
    assert lines_of(intake, "text") == [*range(1, 501), *range(2501, 3001)]
    assert intake.recognised == 3000
    assert any("2000 repeats left out" in note for note in intake.notes)


def test_channels_between_two_ranks_are_read_a_few_times_for_each_adapter_and_the_note_says_so() -> None:
    intake = read("".join(CHANNEL.format(number=number, nic=number % 2) for number in range(100)))
    assert lines_of(intake, "channel") == list(range(1, 17))
    assert intake.recognised == 100
    assert intake.notes == ["84 lines that say the same as others left out"]
