"""The command line: what goes in and comes out, and one clear line with status 2 for what can't be used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli import app
from collectors.store import Store
from diagnosis.model import Report

XID = "2026-01-31T04:15:00+00:00 node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=python, GPU has fallen off the bus.\n"
ROOT = Path(__file__).parents[2]


def run(*arguments: str | Path, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)


def report_of(result: Result) -> Report:
    assert result.exit_code == 0, result.output
    return Report.model_validate_json(result.stdout)


def refused(result: Result) -> str:
    """Return the line that says why a command was refused."""
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("faultwalk: ")
    return result.stderr.removeprefix("faultwalk: ").rstrip("\n")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "dmesg.log"
    path.write_text(XID, "utf-8")
    return path


# --- what goes in


def test_a_file_is_diagnosed(log: Path) -> None:
    report = report_of(run("triage", "--json", log))
    assert report.outcome == "diagnosed"
    assert report.causes[0].cause == "gpu.fell-off-bus"
    assert report.causes[0].entity == "gpu:node-a/0000:3b:00.0"
    assert report.causes[0].evidence[0].text == XID.strip()
    assert [part.input for part in report.inputs] == [str(log)]


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input_is_read(arguments: tuple[str, ...]) -> None:
    report = report_of(run("triage", "--json", *arguments, stdin=XID))
    assert [(part.input, part.lines) for part in report.inputs] == [("-", 1)]
    assert report.causes[0].cause == "gpu.fell-off-bus"


def test_several_files_and_standard_input_are_one_incident(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.log"
    other.write_text("quiet\n", "utf-8")
    report = report_of(run("triage", "--json", log, "-", other, stdin="more\nlines"))
    assert [(part.input, part.lines) for part in report.inputs] == [("-", 2), (str(log), 1), (str(other), 1)]


@pytest.mark.parametrize(
    "data", [b"", b"\n", bytes(range(256)) * 9, b"\xff\xfe\x00", "掉卡".encode("gb18030"), b"x" * 300_000]
)
def test_odd_input_gives_a_report(data: bytes) -> None:
    assert report_of(run("triage", "--json", "-", stdin=data)).outcome == "nothing-found"


def test_a_name_of_any_bytes_is_shown(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff\xe6.log"
    with open(path, "wb") as file:  # noqa: PTH123  a path of bytes
        file.write(XID.encode())
    report = report_of(run("triage", "--json", os.fsdecode(path)))
    assert report.inputs[0].input.endswith("/\ufffd\ufffd.log")


def test_a_window(log: Path) -> None:
    def outcome(*options: str) -> str:
        return report_of(run("triage", "--json", *options, log)).outcome

    assert outcome("--since", "2026-01-31", "--until", "2026-01-31T04:15:00Z") == "diagnosed"
    assert outcome("--until", "2026-01-31T12:14:59+08:00") == "nothing-found"


PODS = """$ kubectl get pods -A -o wide
NAMESPACE   NAME      READY   STATUS    RESTARTS   AGE   IP         NODE     NOMINATED NODE   READINESS GATES
train       llama-0   1/1     Running   0          1h    10.0.0.1   node-a   <none>           <none>
serve       vllm-0    1/1     Running   0          1h    10.0.0.2   node-b   <none>           <none>
"""


@pytest.mark.parametrize(("namespace", "found"), [("train", ["gpu.fell-off-bus"]), ("serve", [])])
def test_a_namespace_is_its_pods_and_their_hosts(log: Path, tmp_path: Path, namespace: str, found: list[str]) -> None:
    pods = tmp_path / "pods.txt"
    pods.write_text(PODS, "utf-8")
    report = report_of(run("triage", "--json", "--namespace", namespace, log, pods))
    assert [one.cause for one in report.causes if one.verdict == "root"] == found


@pytest.mark.parametrize(("node", "found"), [("node-a.example.com", ["gpu.fell-off-bus"]), ("node-b", [])])
def test_a_node_is_looked_at_alone(log: Path, node: str, found: list[str]) -> None:
    report = report_of(run("triage", "--json", "--node", node, log))
    assert [one.cause for one in report.causes if one.verdict == "root"] == found


@pytest.mark.parametrize("option", ["--job", "--namespace"])
def test_a_job_that_no_input_knows(log: Path, option: str) -> None:
    assert refused(run("triage", option, "llama", log)) == (
        f"{option} llama: no input tells on which host it runs; name the hosts with --node"
    )


def test_a_store_keeps_what_was_read(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "kept.duckdb"
    for _ in range(2):
        assert report_of(run("triage", "--json", "--store", path, log)).causes[0].cause == "gpu.fell-off-bus"
    store = Store.open(path)
    assert store.query("SELECT count(DISTINCT batch), count(*) FROM observations WHERE kind = 'xid'") == [(2, 2)]
    assert store.query("SELECT input, kind, lines FROM inputs LIMIT 1") == [(str(log), "kernel", 1)]
    store.close()


def test_own_rules_are_added(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "- cause: 'app.python-exception'\n"
        "  title: {en: 'Mine', zh: '我的'}\n"
        "  entity: job\n"
        "  evidence:\n"
        "    - {when: {pattern: 'the gremlin ate it'}, strength: decisive, examples: {match: ['the gremlin ate it']}}\n"
        "  leads_to: ['job-crash']\n"
        "  checks: [{run: 'look', on: 'node'}]\n"
        "  fix: [{en: 'Feed it.', zh: '喂它。'}]\n"
        "  action: ignore\n"
        "  references: ['none']\n",
        "utf-8",
    )
    report = report_of(run("triage", "--json", "--rules", tmp_path, "-", stdin="the gremlin ate it\n"))
    assert (report.causes[0].cause, report.causes[0].title, report.causes[0].fix) == (
        "app.python-exception",
        "Mine",
        ["Feed it."],
    )


# --- what comes out


@pytest.mark.parametrize(
    ("language", "word", "form"), [("en", "DIAGNOSED", ()), ("zh", "已定位", ()), ("zh", "已定位", ("--markdown",))]
)
def test_people_read_it_in_their_language(log: Path, language: str, word: str, form: tuple[str, ...]) -> None:
    result = run("triage", "--lang", language, *form, log)
    assert result.exit_code == 0
    assert word in result.stdout
    assert "GPU has fallen off the bus" in result.stdout
    assert "\x1b" not in result.stdout


def test_the_version_is_told() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout.split()[0]) == (0, "faultwalk")


# --- what can't be used


def test_a_missing_file(tmp_path: Path) -> None:
    assert refused(run("triage", tmp_path / "nothing.log")) == f"{tmp_path / 'nothing.log'}: No such file or directory"


def test_a_name_that_is_too_long() -> None:
    assert refused(run("triage", "x" * 5000)).endswith(": File name too long")


@pytest.mark.parametrize("option", ["--lang", "--since", "--until", "--symptom"])
def test_a_value_that_means_nothing(log: Path, option: str) -> None:
    message = refused(run("triage", option, "klingon", log))
    assert message.startswith(f"{option} klingon: expected ")
    assert "\n" not in message


@pytest.mark.parametrize(
    "command",
    [
        ("rules", "list"),
        ("rules", "show", "gpu.fell-off-bus"),
        ("explain", "xid:79"),
        ("cases", "list"),
        ("cases", "show", "x"),
    ],
)
def test_every_command_knows_its_languages(command: tuple[str, ...]) -> None:
    assert refused(run(*command, "--lang", "fr")) == "--lang fr: expected en or zh"


def test_rules_with_a_mistake(log: Path, tmp_path: Path) -> None:
    assert refused(run("triage", "--rules", tmp_path / "none", log)).splitlines() == [
        "the rules have problems:",
        f"{tmp_path / 'none'}: no such folder",
    ]
    (tmp_path / "mine.yaml").write_text("- cause: x\n  caus: y\n", "utf-8")
    lines = refused(run("triage", "--rules", tmp_path, log)).splitlines()
    assert lines[0] == "the rules have problems:"
    assert f"{tmp_path.name}/mine.yaml:2: caus: unknown key `caus`; did you mean `cause`? | caus: y" in lines
    assert refused(run("rules", "check", tmp_path)).splitlines()[1:] == lines[1:]


@pytest.mark.parametrize("what", ["text", "folder"])
def test_a_store_that_is_none(log: Path, tmp_path: Path, what: str) -> None:
    path = log if what == "text" else tmp_path
    message = refused(run("triage", "--store", path, log))
    assert message.startswith(f"{path}: not a store that can be opened: ")
    assert "\n" not in message


def test_an_option_that_does_not_exist(log: Path) -> None:
    result = run("triage", "--fast", log)
    assert result.exit_code == 2
    assert "No such option" in result.stderr


# --- rules and cases


def test_rules_are_checked_listed_and_shown() -> None:
    assert run("rules", "check").stdout.endswith(": no problem found\n")
    listed = run("rules", "list", "--lang", "zh").stdout
    assert any(line.startswith("gpu.fell-off-bus ") and "掉卡" in line for line in listed.splitlines())
    place, _, body = run("rules", "show", "gpu.fell-off-bus").stdout.partition("\n")
    assert place.startswith("# rules/hardware/")
    assert json.loads(body)["cause"] == "gpu.fell-off-bus"
    assert refused(run("rules", "show", "gpu.nothing")) == "no rule `gpu.nothing`; `faultwalk rules list` shows them"


# --- as a program of its own


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "stream", "text"),
    [
        (["triage", "--json"], XID.encode(), 0, 1, b'"schema": "faultwalk.report/1"'),
        (["triage", "nowhere.log"], b"", 2, 2, b"faultwalk: nowhere.log: No such file or directory\n"),
        (
            ["triage", "/proc/self/mem"],
            b"",
            2,
            2,
            b"faultwalk: /proc/self/mem: Input/output error\n",
        ),
    ],
)
def test_the_program(arguments: list[str], stdin: bytes, code: int, stream: int, text: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "api", *arguments]
        if (ROOT / "api" / "__main__.py").exists()
        else [sys.executable, "-c", "from api.cli import main; main()", *arguments],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode == code
    assert text in (done.stdout, done.stderr)[stream - 1]
    assert b"Traceback" not in done.stderr


def test_closed_standard_input_is_told() -> None:
    code = "import sys; sys.stdin = None; from api.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "triage"], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"faultwalk: -: standard input is closed\n")
