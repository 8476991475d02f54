"""How much is opened is a setting, and what was cut is said in the report's language."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from api.bounds import BoundsError, read_limits
from api.settings import Settings
from collectors.archives import Limits
from tests.api.running import ROOT, XID, command


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FAULTWALK_")}
    return subprocess.run(
        [*command(), *arguments],
        cwd=ROOT,
        env=clean | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_variables_the_usual_limits_hold() -> None:
    assert read_limits({}) == Limits()
    assert read_limits({"FAULTWALK_MOST_TOTAL": " ", "FAULTWALK_MOST_DEPTH": "2"}).depth == 2


@pytest.mark.parametrize(
    ("text", "size"), [("500", 500), ("2k", 2048), ("3M", 3 << 20), ("1GiB", 1 << 30), ("4TB", 4 << 40)]
)
def test_sizes(text: str, size: int) -> None:
    assert read_limits({"FAULTWALK_MOST_INPUT": text}).member == size


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5G", "9" * 40])
def test_what_is_no_size_is_named(text: str) -> None:
    with pytest.raises(BoundsError, match="FAULTWALK_MOST_TOTAL="):
        read_limits({"FAULTWALK_MOST_TOTAL": text})


@pytest.mark.parametrize("name", ["triage", "sweep"])
def test_a_command_with_a_wrong_limit_ends_with_a_sentence(name: str, tmp_path: Path) -> None:
    done = run(name, str(tmp_path), FAULTWALK_MOST_DEPTH="deep")
    assert done.returncode == 2
    assert done.stderr == "faultwalk: FAULTWALK_MOST_DEPTH=deep: expected a number above 0, such as 500 or 2G\n"


@pytest.mark.parametrize(
    ("language", "said"), [("en", "larger than the limit; the rest is not read"), ("zh", "超过上限；其余部分未读取")]
)
def test_what_was_cut_is_said_in_the_reports_language(language: str, said: str, tmp_path: Path) -> None:
    log = tmp_path / "node-a.log"
    log.write_text((XID + "\n") * 20, encoding="utf-8")
    done = run("triage", "--json", "--lang", language, str(log), FAULTWALK_MOST_INPUT="500")
    inputs = json.loads(done.stdout)["inputs"]
    assert [one["notes"] for one in inputs if one["kind"] == "refused"] == [[said]]
    assert next(one["lines"] for one in inputs if one["kind"] != "refused") == 4


def test_a_note_of_the_intake_is_said_in_chinese(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    log.write_text(f'@timestamp,message\n2026-01-31T04:15:00Z,"{XID}"\n', encoding="utf-8")
    done = run("triage", "--json", "--lang", "zh", str(log))
    assert json.loads(done.stdout)["inputs"][0]["notes"] == ["CSV 导出：读取其消息列"]


def test_the_service_has_limits_of_its_own() -> None:
    limits = Settings(most_unpacked=4096, most_members=3, most_depth=1).limits()
    assert (limits.total, limits.member, limits.members, limits.depth) == (4096, 4096, 3, 1)
