"""`faultwalk explain`: causes, symptoms and codes in both languages, and one line for a name that nothing knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli import app


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


def told(*arguments: str | Path) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_cause() -> None:
    text = told("gpu.fell-off-bus")
    assert text.splitlines()[0].startswith("GPU has fallen off the bus  gpu.fell-off-bus · hardware")
    assert "[decisive]" in text
    assert "lspci" in text
    assert "Xid 79" in text


def test_a_cause_in_chinese() -> None:
    text = told("gpu.fell-off-bus", "--lang", "zh")
    assert "GPU 掉卡" in text.splitlines()[0]
    assert "硬件" in text.splitlines()[0]


def test_a_symptom_names_what_can_bring_it_about() -> None:
    text = told("gpu-lost")
    assert "(gpu-lost)" in text.splitlines()[0]
    assert any(line.startswith("  gpu.fell-off-bus ") for line in text.splitlines())


def test_a_code_names_the_rules_that_read_it() -> None:
    text = told("xid:79")
    assert "gpu.fell-off-bus [decisive]: " in text


@pytest.mark.parametrize("name", ["gpu.nothing", "xid:", "xid:99999", "nothing:1", "../x:1", "", ":", "[red]x[/]"])
def test_a_name_that_nothing_knows(name: str) -> None:
    result = run(name)
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"faultwalk: `{name}`: no such cause, symptom or code; try `faultwalk rules list` or a code such as xid:79\n"
    )


def test_rules_with_a_mistake(tmp_path: Path) -> None:
    result = run("xid:79", "--rules", tmp_path / "none")
    assert (result.exit_code, result.stderr) == (
        2,
        f"faultwalk: the rules have problems:\n{tmp_path / 'none'}: no such folder\n",
    )
