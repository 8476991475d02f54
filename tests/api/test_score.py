"""`faultwalk score`: the table of how often the right cause comes first, and one line for cases that can't be read."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from api.cli import app
from api.score import judge
from casebase.library import Library
from diagnosis.engine import Knowledge
from tests.diagnosis.making import cause, evidence, make_rulebook

XID = "node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."


def write(folder: Path, text: str = XID, **fields: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "input.log").write_text(text, "utf-8")
    case = {"inputs": [{"file": "input.log"}], "cause": "gpu.lost", "domain": "gpu", "evidence": ["Xid"], **fields}
    (folder / "case.yaml").write_text(
        yaml.safe_dump({name: value for name, value in case.items() if value != ...}), "utf-8"
    )
    return folder / "case.yaml"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["score", *map(str, arguments)])


@pytest.fixture
def knowledge(tmp_path: Path) -> Knowledge:
    rules = (
        cause("gpu.lost", evidence({"kind": "xid", "code": 79}, "decisive")),
        cause("gpu.hot", evidence({"kind": "xid"}, "moderate")),
    )
    return Knowledge.build(make_rulebook(tmp_path / "rules", *rules), Library())


@pytest.mark.parametrize(
    ("fields", "place", "share"),
    [
        ({}, 1, 1.0),
        ({"evidence": ["Xid", "not in it"]}, 1, 0.5),
        ({"evidence": None}, 1, 1.0),
        ({"cause": "gpu.hot"}, 2, 1.0),
        ({"cause": "disk.full"}, 0, 0.0),
        ({"cause": "disk.full", "also_ok": ["gpu.lost"]}, 1, 1.0),
        ({"text": "all quiet"}, 0, 0.0),
    ],
)
def test_a_case_is_judged(
    knowledge: Knowledge, tmp_path: Path, fields: dict[str, object], place: int, share: float
) -> None:
    result = judge(write(tmp_path / "one", **fields), knowledge, now=1.7e9)  # type: ignore[arg-type]
    assert (result.case, result.domain, result.healthy) == ("one", "gpu", False)
    assert (result.place, result.evidence) == (place, share)


def test_a_healthy_case_counts_its_alarms(knowledge: Knowledge, tmp_path: Path) -> None:
    result = judge(write(tmp_path / "one", cause="none"), knowledge, now=1.7e9)
    assert (result.healthy, result.place, result.alarms) == (True, 0, ("gpu.lost 0.95",))
    assert judge(write(tmp_path / "two", "all quiet", cause=None), knowledge, now=1.7e9).alarms == ()


def test_the_table(tmp_path: Path) -> None:
    write(tmp_path / "right", cause="gpu.fell-off-bus")
    write(tmp_path / "wrong", "all quiet", cause="gpu.fell-off-bus", domain="other")
    write(tmp_path / "well", "all quiet", cause="none")
    result = run(tmp_path)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "miss   wrong: got nothing"
    assert lines[1].split() == ["domain", "cases", "top1", "top3", "evidence", "healthy", "alarms", "Brier"]
    table = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert table["gpu"][:6] == ["1", "1.000", "1.000", "1.000", "1", "0"]
    assert table["other"][:4] == ["1", "0.000", "0.000", "0.000"]
    assert table["all"][:3] == ["2", "0.500", "0.500"]


def test_no_case(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        result = run(folder)
        assert (result.exit_code, result.stderr) == (2, f"faultwalk: {folder}: no */case.yaml in it\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- x\n", "expected `inputs` and `cause`"),
        ("inputs: []\n", "expected `inputs` and `cause`"),
        ("cause: x\n", "expected `inputs`, a list with `file` each, and `cause`"),
        ("cause: x\ninputs: [1]\n", "expected `inputs`, a list with `file` each, and `cause`"),
        ("cause: x\ninputs: [{kind: y}]\n", "expected `inputs`, a list with `file` each, and `cause`"),
        ("cause: 'x\n", "not YAML: while scanning a quoted scalar"),
        ("\udcff", "expected `inputs`, a list with `file` each, and `cause`"),
        ("cause: x\ninputs: [{file: nothing.log}]\n", "{folder}/nothing.log: No such file or directory"),
    ],
)
def test_a_case_that_can_not_be_read(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "one" / "case.yaml"
    path.parent.mkdir()
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    result = run(tmp_path)
    assert (result.exit_code, result.stderr) == (2, f"faultwalk: {path}: {message.format(folder=path.parent)}\n")


def test_rules_with_a_mistake(tmp_path: Path) -> None:
    write(tmp_path / "one")
    result = run(tmp_path, "--rules", tmp_path / "none")
    assert (result.exit_code, result.stderr) == (
        2,
        f"faultwalk: the rules have problems:\n{tmp_path / 'none'}: no such folder\n",
    )
