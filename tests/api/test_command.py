"""What commands share: a clear end, times of options, names that are not text."""

from __future__ import annotations

import pytest
import typer

from api.command import fail, read_moment, shown_name


def test_a_failure_says_why_and_carries_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert fail("no such file").exit_code == 2
    assert capsys.readouterr().err == "faultwalk: no such file\n"


def test_a_time_of_an_option() -> None:
    assert read_moment(None, "--since") is None
    assert read_moment("2025-12-01T00:00:00Z", "--since") == 1_764_547_200.0
    assert read_moment("2025-12-01", "--since") == read_moment("2025-12-01T00:00:00", "--since")


def test_what_is_no_time_names_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        read_moment("yesterday", "--until")
    assert "--until yesterday: expected a time" in capsys.readouterr().err


def test_a_path_of_any_bytes_is_shown_as_text() -> None:
    assert shown_name("log-\udcff.txt") == "log-\ufffd.txt"
