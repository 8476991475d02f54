"""The progress bar: late, on standard error, for a person at a terminal only."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from api.progress import Progress


def work(*, quiet: bool = False, terminal: bool = True, patience: float = 0.0) -> str:
    """Return what is shown while a stream of four bytes is read."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=100)
    with Progress(quiet=quiet, console=console, patience=patience) as progress:
        progress.phase("reading", total=4)
        watched = progress.watch(io.BytesIO(b"abcd"))
        assert watched.read(3) + watched.read(3) + watched.read(3) == b"abcd"
    return screen.getvalue()


def test_work_that_takes_its_time_is_shown() -> None:
    shown = work()
    assert "reading" in shown and "100%" in shown


@pytest.mark.parametrize("options", [{"quiet": True}, {"terminal": False}, {"patience": 60.0}])
def test_nothing_is_shown(options: dict[str, bool]) -> None:
    assert work(**options) == ""


def test_a_later_part_starts_anew() -> None:
    screen = io.StringIO()
    with Progress(console=Console(file=screen, force_terminal=True, width=100), patience=0.0) as progress:
        progress.phase("reading", total=2)
        progress.advance(2)
        progress.phase("diagnosing", total=4)
        progress.advance(1)
    assert "diagnosing" in screen.getvalue() and "25%" in screen.getvalue()
