"""Messy pastes give the same answer as their clean originals: each form of `tests.messy` on whole logs of different sources."""

from __future__ import annotations

import io

import pytest

from api.knowledge import load_knowledge
from collectors.ingest import Input
from diagnosis.engine import Knowledge, triage
from diagnosis.model import Report
from diagnosis.ranking import CONCERN
from tests.messy import FORMS, ROOT, join

INCIDENT = ROOT / "fixtures/incidents/link-flap-hidden-behind-nccl-timeout"
LOGS = {
    "kernel": INCIDENT / "node-b-dmesg.log",
    "watchdog": INCIDENT / "watchdog.log",
    "exception": ROOT / "fixtures/logs/training/watchdog-after-exception.log",
    "vllm": ROOT / "fixtures/logs/serving/vllm-v1-kv-cache-too-small.log",
    "triton": ROOT / "fixtures/logs/serving/triton-trtllm-world-size.log",
    "out-of-memory": ROOT / "fixtures/logs/kernel/out-of-memory.log",
    "slurm": ROOT / "fixtures/logs/slurm/slurmctld.log",
}
NOW = 1_790_000_000.0


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load_knowledge()


def diagnose(data: bytes, knowledge: Knowledge) -> Report:
    return triage([Input("paste.txt", io.BytesIO(data))], knowledge, now=NOW)


def first_root(report: Report) -> str:
    """Return the root that is blamed, "" when none is."""
    return next((one.cause for one in report.causes if one.verdict == "root" and one.probability >= CONCERN), "")


@pytest.fixture(scope="module")
def clean(knowledge: Knowledge) -> dict[str, str]:
    roots = {name: first_root(diagnose(path.read_bytes(), knowledge)) for name, path in LOGS.items()}
    assert "" not in roots.values()
    return roots


def test_there_are_forty_forms_and_more() -> None:
    assert len(FORMS) * len(LOGS) + 4 >= 240
    assert len(FORMS) + 4 >= 40


@pytest.mark.parametrize("form", FORMS)
def test_a_form_changes_nothing(form: str, knowledge: Knowledge, clean: dict[str, str]) -> None:
    found = {name: first_root(diagnose(FORMS[form](path.read_text("utf-8")), knowledge)) for name, path in LOGS.items()}
    assert found == clean


@pytest.mark.parametrize("form", ["nothing", "headings", "commands", "dashes"])
def test_logs_pasted_one_after_another(form: str, knowledge: Knowledge) -> None:
    files = {path.name: path.read_text("utf-8") for path in sorted(INCIDENT.iterdir()) if path.name != "case.yaml"}
    report = diagnose(join(files, form).encode(), knowledge)
    assert (report.outcome, first_root(report)) == ("diagnosed", "fabric.link-flapping")
    assert "node-b" in report.causes[0].entity


@pytest.mark.parametrize("form", ["kibana-csv", "journal-export", "cri", "docker-json", "kubectl-prefix", "utf-16-le"])
def test_the_cited_line_is_that_of_the_paste(form: str, knowledge: Knowledge) -> None:
    data = FORMS[form](LOGS["kernel"].read_text("utf-8"))
    lines = data.decode("utf-16" if "16" in form else "utf-8").replace("\r\n", "\n").split("\n")
    evidence = diagnose(data, knowledge).causes[0].evidence
    assert evidence
    for one in evidence:
        assert one.text == lines[one.line - 1]
