"""Messy pastes give the same answer as their clean originals: each form of `tests.messy` on whole logs of different sources."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pytest

from api.knowledge import load_knowledge
from collectors.ingest import Input
from diagnosis.engine import Knowledge, triage
from diagnosis.model import CONCERN, Report
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
TOGETHER = ("nothing", "headings", "commands", "dashes")
NOW = 1_790_000_000.0


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load_knowledge()


def diagnose(data: bytes, knowledge: Knowledge) -> Report:
    return triage([Input("paste.txt", io.BytesIO(data))], knowledge, now=NOW)


def first_root(report: Report) -> str:
    """Return the root that is blamed, "" when none is."""
    return next((one.cause for one in report.causes if one.verdict == "root" and one.probability >= CONCERN), "")


@dataclass(frozen=True, slots=True)
class Ranked:
    """One cause of a report, without its words."""

    cause: str
    entity: str
    verdict: str
    because_of: str | None
    probability: float


def ranked(report: Report) -> list[Ranked]:
    return [Ranked(one.cause, one.entity, one.verdict, one.because_of, one.probability) for one in report.causes]


# What some prefixes add: where a line that names no place was printed. An address stands for the host.
PLACES = {
    "kubectl-prefix": "pod:llm-pretrain-worker-0", "stern": "pod:llm-pretrain-worker-0", "stern-colours": "pod:llm-pretrain-worker-0",
    "logcli": "pod:w-0", "ray": "node:10.0.0.12", "mpi": "rank:3", "torchrun": "rank:3", "slurm": "rank:3",
}  # fmt: skip
# Forms that put other lines between those of a table, or cut them: its rows are still read, one by one, as weaker evidence.
TORN_TABLES = {("triton", form) for form in ("progress-bars", "journal-export", "wrapped-80")}


def is_same(found: Ranked, wanted: Ranked, form: str, *, exactly: bool) -> bool:
    """Tell whether a cause of a messy paste is that of the clean one; a prefix may name the place that the lines don't."""
    places = {wanted.entity, wanted.entity.replace("node-b", "10.0.0.12")} if form == "ray" else {wanted.entity}
    if not wanted.entity and form in PLACES:
        places.add(PLACES[form])
    if found.entity not in places or (found.cause, found.verdict, found.because_of) != (
        wanted.cause, wanted.verdict, wanted.because_of,
    ):  # fmt: skip
        return False
    return found.probability == wanted.probability if exactly else abs(found.probability - wanted.probability) < 0.05


@pytest.fixture(scope="module")
def clean(knowledge: Knowledge) -> dict[str, list[Ranked]]:
    reports = {name: diagnose(path.read_bytes(), knowledge) for name, path in LOGS.items()}
    assert all(first_root(report) for report in reports.values())
    return {name: ranked(report) for name, report in reports.items()}


def test_there_are_forty_forms_and_more() -> None:
    assert len(FORMS) + len(TOGETHER) >= 40


@pytest.mark.parametrize("form", FORMS)
def test_a_form_changes_nothing_in_the_ranked_causes(
    form: str, knowledge: Knowledge, clean: dict[str, list[Ranked]]
) -> None:
    for name, path in LOGS.items():
        found = ranked(diagnose(FORMS[form](path.read_text("utf-8")), knowledge))
        assert [one.cause for one in found] == [one.cause for one in clean[name]], name
        for one, wanted in zip(found, clean[name], strict=True):
            assert is_same(one, wanted, form, exactly=(name, form) not in TORN_TABLES), (name, one, wanted)


@pytest.mark.parametrize("form", TOGETHER)
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
