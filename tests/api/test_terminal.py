"""The report at a terminal: nothing from a log can move the cursor or become markup."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from api.terminal import print_report
from diagnosis.model import Report
from tests.api.test_markdown import make


def shown(report: Report, *, colours: bool = False) -> str:
    out = io.StringIO()
    print_report(
        report,
        Console(
            file=out, width=140, highlight=False, force_terminal=colours, color_system="standard" if colours else None
        ),
    )
    return out.getvalue()


def test_the_answer_comes_first() -> None:
    lines = shown(make()).splitlines()
    assert lines[0].strip() == "DIAGNOSED  Root cause (gpu:node-a/0)."
    assert any("GPU 0 on node-a" in line for line in lines)
    assert "    a line" in [line.rstrip() for line in lines]
    assert any("a.log:7  because" in line for line in lines)
    assert any("consequence" in line and "because of gpu.lost0" in line for line in lines)


def test_rivals_are_all_shown_when_undecided() -> None:
    text = shown(make(outcome="undecided", roots=2))
    assert "gpu.lost0 · hardware" in text and "gpu.lost1 · hardware" in text


@pytest.mark.parametrize("text", ["[bold red]x[/]", "[/]", "[link=http://x]y[/link]"])
def test_markup_is_printed_as_it_stands(text: str) -> None:
    assert text in shown(make(text))


@settings(max_examples=50, deadline=None)
@given(st.text(), st.text(), st.text())
def test_control_characters_are_taken_out(text: str, name: str, entity: str) -> None:
    out = shown(make(text, name=name, entity=entity))
    assert not any(
        (c < " " and c != "\n") or "\x7f" <= c <= "\x9f" or c in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"
        for c in out
    )


def test_a_terminal_gets_colours() -> None:
    out = shown(make("\x1b[2Jgone"), colours=True)
    assert "\x1b[" in out
    assert "\x1b[2J" not in out


def test_the_lines_of_one_fact_stand_below_each_other() -> None:
    text = shown(make("Port 1:\n\tState: Down\n\tRate: 100"))
    assert re.search(r"Port 1: *\n +State: Down *\n +Rate: 100", text)


def test_a_long_citation_ends_with_a_whole_line() -> None:
    lines = [f"[{number}.0] frame {'x' * 120}" for number in range(9)]
    report = make(text="\n".join(lines))
    told = [line.strip() for line in shown(report).splitlines()]
    assert told[told.index(lines[0]) :][:4] == [*lines[:3], "…"]
    assert "y" * 30 + "…" in shown(make(text="y" * 430)).replace("\n", "").replace(" ", "")
