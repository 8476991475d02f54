"""`faultwalk cases`: list, search and show past incidents, shipped ones and one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli import app
from casebase.library import load_cases

CASE = """\
---
id: the-gremlin-ate-it
title: {en: 'The gremlin ate it', zh: '小妖精吃了它'}
cause: gpu.fell-off-bus
layer: hardware
symptoms: [gpu-lost]
entity: gpu
signals: ['xid:79']
summary: {en: 'It was eaten.', zh: '被吃掉了。'}
fix: {en: 'Feed it.', zh: '喂它。'}
source: 'example/repository issue 1'
confidence: confirmed
---
## What was seen
Crumbs.

## 中文
碎屑。
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["cases", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "the-gremlin-ate-it.md").write_text(CASE, "utf-8")
    return tmp_path


def test_all_cases_are_listed_a_line_each() -> None:
    result = run("list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == [case.id for case in load_cases()]


def test_own_cases_are_added_and_found(folder: Path) -> None:
    ids = [line.split()[0] for line in run("list", "--cases", folder).stdout.splitlines()]
    assert "the-gremlin-ate-it" in ids
    assert len(ids) == len(load_cases()) + 1
    (line,) = run("list", "gremlin", "--cases", folder, "--lang", "zh").stdout.splitlines()
    assert line.split() == ["the-gremlin-ate-it", "gpu.fell-off-bus", "小妖精吃了它"]
    assert run("list", "zzzzzz").stdout == ""


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ["The gremlin ate it", "It was eaten.", "Crumbs."]), ("zh", ["小妖精吃了它", "被吃掉了。"])],
)
def test_a_case_is_shown(folder: Path, language: str, words: list[str]) -> None:
    text = run("show", "the-gremlin-ate-it", "--cases", folder, "--lang", language).stdout
    assert all(word in text for word in words)
    assert "gpu.fell-off-bus · hardware · confirmed · example/repository issue 1" in text


def test_a_case_that_is_not_there() -> None:
    result = run("show", "nothing")
    assert (result.exit_code, result.stderr) == (2, "faultwalk: no case `nothing`; `faultwalk cases list` shows them\n")


def test_cases_with_a_mistake(folder: Path) -> None:
    path = folder / "the-gremlin-ate-it.md"
    path.write_text(CASE.replace("gpu.fell-off-bus", "gpu.fell-off-buss"), "utf-8")
    result = run("list", "--cases", folder)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"faultwalk: the cases have problems:\n{path}:4: ")
    assert "gpu.fell-off-bus" in result.stderr
    assert "Traceback" not in result.stderr


def test_no_folder_of_cases(tmp_path: Path) -> None:
    result = run("list", "--cases", tmp_path / "none")
    assert result.exit_code == 2
    assert result.stderr.startswith("faultwalk: the cases have problems:\n")
