"""The report: outcome, citations, layers, next checks and what nobody knows, as its JSON Schema says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from casebase.case import parse_case
from casebase.library import Library
from collectors.observation import Observation, Record
from diagnosis.citations import MOST_LINES
from diagnosis.context import Context
from diagnosis.graph import build_graph
from diagnosis.model import LAYERS, Finding, Hypothesis, InputPart, Language, Match, Report
from diagnosis.next_checks import fill
from diagnosis.ranking import rank
from diagnosis.report import MOST_CAUSES, build_report
from diagnosis.rulebook import Rulebook
from tests.diagnosis.making import cause, fact, hypothesis, make_facts, make_rulebook, symptom, text

NOW = 1_764_547_200.0
GPU = "gpu:node-a/0000:3b:00.0"
Make = Callable[..., Report]


@pytest.fixture
def rulebook(tmp_path: Path) -> Rulebook:
    checks = [
        {
            "run": "lspci -s {pci} -vv; grep {pod} {unknown_name} {not a name} {",
            "on": "{node}",
            "confirms": "rev ff",
            "tells": text("it tells"),
        },
        {"run": "second", "on": "{node}"},
    ]
    return make_rulebook(
        tmp_path,
        cause("gpu.lost", {"kind": "a"}, leads_to=["nccl.peer", "gone"], checks=checks, summary=text("a summary")),
        cause("gpu.hot", {"kind": "a"}, leads_to=["gone"]),
        cause("nccl.peer", {"kind": "a"}, leads_to=["hang"]),
        cause("nccl.timeout", {"kind": "a"}, leads_to=["hang"], stands_for=["hang"], inconclusive=True),
        cause("link.flap", {"kind": "a"}, leads_to=["hang"]),
        cause("app.bug", {"kind": "a"}, leads_to=["crash"]),
        symptom("hang", {"kind": "a"}),
        symptom("gone", {"kind": "a"}, entity="gpu"),
    )  # fmt: skip


@pytest.fixture
def make(rulebook: Rulebook) -> Make:
    def build(
        causes: Sequence[Hypothesis] = (),
        symptoms: Sequence[Hypothesis] = (),
        *records: Record,
        looked_at: Mapping[str, Sequence[str]] | None = None,
        language: Language = "en",
        inputs: Sequence[InputPart] = (),
        library: Library | None = None,
    ) -> Report:
        facts = make_facts(*records)
        graph = build_graph(facts, [one.entity for one in (*causes, *symptoms)])
        ranked = rank(causes, symptoms, graph, rulebook, language=language)
        return build_report(
            ranked, symptoms, Context(facts, rulebook, library or Library(), inputs, looked_at or {}, language, NOW)
        )

    return build


def hang(*facts: Observation) -> Hypothesis:
    return hypothesis("hang", "job:1", *(facts or (fact("a"),)), layer="")


# --- outcome


def test_nothing_found_says_what_was_looked_at(make: Make) -> None:
    report = make(inputs=[InputPart(input="a", kind="kernel", lines=7, recognised=0, unrecognised_errors=0)])
    assert report.outcome == "nothing-found"
    assert (
        report.verdict
        == "Nothing found in 1 input(s), 7 lines. That is not a clean bill of health: see which layers had no data."
    )
    assert (report.causes, report.symptoms, report.next_checks) == ([], [], [])


def test_symptoms_without_a_cause_are_undecided(make: Make) -> None:
    report = make([], [hang()])
    assert report.outcome == "undecided"
    assert report.verdict.startswith("Title of hang, but nothing in these inputs shows why.")


@pytest.mark.parametrize(
    ("causes", "outcome", "verdict"),
    [
        (
            [("gpu.lost", "strong")],
            "diagnosed",
            "Root cause: Title of gpu.lost (GPU 0000:3b:00.0 on node-a), probability 80 %.",
        ),
        (
            [("gpu.lost", "moderate")],
            "undecided",
            "Not proven: Title of gpu.lost is the best explanation so far (probability 45 %).",
        ),
        (
            [("nccl.timeout", "decisive")],
            "undecided",
            "Not proven: Title of nccl.timeout is the best explanation so far (probability 95 %).",
        ),
        ([("gpu.lost", "strong"), ("app.bug", "strong")], "diagnosed", "Root cause: Title of gpu.lost"),
    ],
)
def test_how_sure_decides_the_outcome(make: Make, causes: list[tuple[str, str]], outcome: str, verdict: str) -> None:
    report = make([hypothesis(name, GPU, fact("a"), strength=strength) for name, strength in causes])
    assert report.outcome == outcome
    assert report.verdict.startswith(verdict)


def test_close_rivals_are_undecided(make: Make) -> None:
    gone = hypothesis("gone", GPU, fact("a"), layer="")
    report = make([hypothesis("gpu.lost", GPU, fact("a")), hypothesis("gpu.hot", GPU, fact("a"))], [gone])
    assert report.outcome == "undecided"
    assert (
        report.verdict
        == "Undecided between Title of gpu.hot and Title of gpu.lost. The next check below separates them."
    )
    assert report.next_checks[0].separates == ["gpu.hot", "gpu.lost"]
    assert report.next_checks[0].because == "tells Title of gpu.hot from Title of gpu.lost"
    gone = hypothesis("gone", GPU, fact("a"), layer="")
    sure = make(
        [
            hypothesis("gpu.lost", GPU, fact("a"), strength="decisive"),
            hypothesis("gpu.hot", GPU, fact("a"), strength="decisive"),
        ],
        [gone],
    )
    assert sure.outcome == "diagnosed"


def test_a_component_that_is_not_named_is_not_invented(make: Make) -> None:
    report = make([hypothesis("gpu.lost", "", fact("a"))])
    assert report.verdict == "Root cause: Title of gpu.lost, probability 80 %. The inputs do not name the component."
    assert report.causes[0].entity == ""


def test_the_report_speaks_chinese(make: Make) -> None:
    report = make(
        [hypothesis("gpu.lost", GPU, fact("a")), hypothesis("nccl.peer", "rank:1", fact("a"))], [hang()], language="zh"
    )
    assert report.verdict == "根因：中Title of gpu.lost（node-a 的 GPU 0000:3b:00.0），概率 86 %。"
    assert report.causes[0].fix == ["中Mend gpu.lost"]
    assert report.causes[0].summary == "中a summary"
    assert report.causes[0].checks[0].tells == "中it tells"
    assert report.causes[0].score[1].because == "能解释另外 1 项发现"
    assert report.symptoms[0].title == "中Title of hang"


# --- causes and their evidence


def test_a_cause_has_its_parts(make: Make) -> None:
    one = hypothesis("gpu.lost", GPU, fact("a", input="d.log", line=7, raw="the raw line", time=NOW - 5))
    one.findings.append(
        Finding("gpu.lost!0", 0.2, "it was planned", (Match((fact("b", line=8, line_end=9),)),), supports=False)
    )
    report = make([one, hypothesis("nccl.peer", "rank:1", fact("a"))], [hang()])
    lost, peer = report.causes
    assert (lost.rank, lost.cause, lost.layer, lost.entity, lost.verdict, lost.because_of, lost.action) == (
        1,
        "gpu.lost",
        "hardware",
        GPU,
        "root",
        None,
        "reboot",
    )
    assert [(part.part, part.value) for part in lost.score] == [
        ("evidence", 0.8),
        ("against", -0.2),
        ("explains", 0.108),
    ]
    assert lost.probability == 0.748
    shown, against, *effects = lost.evidence
    assert [(line.signal, line.why) for line in effects] == [
        ("hang", "brought about by it: Title of hang"),
        ("nccl.peer", "brought about by it: Title of nccl.peer"),
    ]
    assert shown.model_dump() == {
        "input": "d.log", "line": 7, "line_end": None, "text": "the raw line", "signal": "gpu.lost#0", "role": "supports", "why": "because",
        "time": "2025-11-30T23:59:55Z",
    }  # fmt: skip
    assert (against.role, against.line, against.line_end, against.why) == ("contradicts", 8, 9, "it was planned")
    assert [(one.id, one.entity) for one in lost.explains] == [("hang", "job:1"), ("nccl.peer", "rank:1")]
    assert (peer.verdict, peer.because_of, peer.rank) == ("consequence", "gpu.lost", 2)
    assert lost.path[0] == "job:1" and lost.path[-1] == GPU
    assert lost.references == ["a reference"]


def test_first_and_last_lines_are_cited(make: Make) -> None:
    one = hypothesis("gpu.lost", GPU, fact("a"))
    facts = [fact("a", line=number) for number in range(1, 101)]
    one.findings = [Finding("gpu.lost#0", 0.8, "", tuple(Match((item,)) for item in reversed(facts)))]
    assert [line.line for line in make([one]).causes[0].evidence] == [1, 2, 3, 4, 5, 100]
    assert MOST_LINES == 6


def test_faint_causes_are_not_shown(make: Make) -> None:
    one = hypothesis("gpu.lost", GPU, fact("a"), strength="weak")
    one.findings.append(Finding("gpu.lost!0", 0.8, "", (Match((fact("b"),)),), supports=False))
    assert make([one]).causes == []
    many = [hypothesis("gpu.lost", f"gpu:node-{number}/0", fact("a")) for number in range(30)]
    assert len(make(many).causes) == MOST_CAUSES


def test_a_crowd_is_listed(make: Make) -> None:
    one = hypothesis("gpu.lost", "node:node-a", fact("a"), others=("gpu:node-a/0", "gpu:node-a/1"))
    assert make([one]).causes[0].also_on == ["gpu:node-a/0", "gpu:node-a/1"]


def test_checks_are_filled_in_and_what_is_not_known_stays_open(make: Make) -> None:
    report = make([hypothesis("gpu.lost", GPU, fact("a", pod="train/worker-0"))])
    assert (
        report.causes[0].checks[0].run == "lspci -s 0000:3b:00.0 -vv; grep train/worker-0 <unknown_name> {not a name} {"
    )
    assert report.causes[0].checks[0].on == "node-a"
    assert [check.run for check in report.next_checks] == [report.causes[0].checks[0].run, "second"]
    assert report.next_checks[1].because == "confirms or rules out Title of gpu.lost"


def test_what_a_check_says_where_nothing_is_known() -> None:
    one = hypothesis("gpu.lost", GPU, fact("a"))
    assert fill("look at {peer_host|the named peer}, {node|x}", one) == "look at the named peer, node-a"
    derived = fact("hang", look_at="node-b")
    one.findings.append(Finding("gpu.lost#9", 0.2, "because", (Match((fact("a"),), derived),)))
    assert fill("{look_at|every host}", one) == "node-b"


def test_a_value_from_a_log_is_not_filled_in_again(make: Make) -> None:
    report = make([hypothesis("gpu.lost", GPU, fact("a", pod="{node}{pci}"))])
    assert "grep {node}{pci} <unknown_name>" in report.causes[0].checks[0].run


CASE = """\
---
id: a-card-was-lost
title: {en: 'A card was lost', zh: '掉卡案例'}
cause: gpu.lost
layer: hardware
symptoms: [hang]
entity: gpu
signals: ['xid:79']
summary: {en: 'It failed.', zh: '出错了。'}
fix: {en: 'Replace it.', zh: '更换。'}
source: 'example/repository issue 1'
confidence: confirmed
---
## What was seen
Nothing.
"""


def test_past_cases_are_cited(make: Make) -> None:
    library = Library((parse_case(CASE, name="a-card-was-lost.md"),))
    (case,) = (
        make([hypothesis("gpu.lost", GPU, fact("xid", "79"))], [hang()], library=library, language="zh").causes[0].cases
    )
    assert (case.case, case.title) == ("a-card-was-lost", "掉卡案例")
    assert case.similarity == 1.0
    assert make([hypothesis("gpu.hot", GPU, fact("a"))], library=library).causes[0].cases == []


# --- layers


def test_a_layer_is_clear_only_where_someone_looked(make: Make) -> None:
    causes = [
        hypothesis("gpu.lost", GPU, fact("a")),
        hypothesis("nccl.peer", "rank:1", fact("a")),
        hypothesis("app.bug", "job:1", fact("a"), strength="moderate"),
    ]
    report = make(causes, looked_at={"node": ["b.log", "a.log"], "hardware": ["a.log"], "fabric": []})
    assert {part.layer: part.status for part in report.walk} == {
        "application": "suspect", "framework": "suspect", "scheduler": "no-data", "platform": "no-data", "runtime": "no-data",
        "node": "clear", "fabric": "no-data", "storage": "no-data", "hardware": "fault",
    }  # fmt: skip
    assert [part.layer for part in report.walk] == list(LAYERS)
    walk = {part.layer: part for part in report.walk}
    assert walk["node"].looked_at == ["a.log", "b.log"]
    assert walk["hardware"].findings == ["Title of gpu.lost"]


def test_layers_that_nobody_looked_at_are_asked_for(make: Make) -> None:
    report = make(
        [],
        [hypothesis("hang", "job:1", fact("a", node="node-b"), layer="", node="node-b")],
        looked_at={"hardware": ["a.log"]},
    )
    (check,) = report.next_checks
    assert (check.run, check.on, check.separates) == ("ibstat; rdma link; perfquery -x", "node-b", [])
    assert check.because == "nothing was seen of the fabric layer; this shows whether Title of hang began there"
    assert make([], [hang()], looked_at={"fabric": ["x"], "hardware": ["a"]}).next_checks == []


# --- unknown errors


def test_errors_that_no_rule_knows_are_grouped(make: Make) -> None:
    lines = [
        fact("unexplained", line=number, text=f"worker {number} failed", raw=f"raw {number}") for number in (5, 6, 7)
    ]
    known = fact("unexplained", line=9, text="known")
    report = make([hypothesis("gpu.lost", GPU, known)], [], *lines, known)
    (part,) = report.unexplained
    assert (part.template, part.count, part.first.line, part.first.text) == ("worker <*> failed", 3, 5, "raw 5")


def test_secrets_are_hidden(make: Make) -> None:
    token = "hf_" + "a" * 34
    one = hypothesis("gpu.lost", GPU, fact("a", text=f"login with {token}", raw=f"login with {token}"))
    one.findings = [replace(one.findings[0], because="")]
    report = make([one], [], fact("unexplained", text=f"failed: {token}", raw=f"failed: {token}"))
    assert token not in report.model_dump_json()


# --- the contract


def test_the_json_schema_holds(make: Make) -> None:
    schema = Report.model_json_schema(by_alias=True)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    one = hypothesis("gpu.lost", GPU, fact("a", time=NOW))
    one.findings.append(Finding("gpu.lost!0", 0.2, "", (Match((fact("b", line=8, line_end=9),)),), supports=False))
    for report in (
        make(),
        make([], [hang()]),
        make([one, hypothesis("nccl.peer", "", fact("a"))], [hang()], fact("unexplained"), looked_at={"node": ["x"]}),
    ):
        body: dict[str, Any] = json.loads(report.model_dump_json(by_alias=True))
        validator.validate(body)
        assert body["schema"] == "faultwalk.report/1"
        assert Report.model_validate(body) == report
        assert {
            "id",
            "created",
            "language",
            "outcome",
            "inputs",
            "symptoms",
            "causes",
            "walk",
            "next_checks",
            "unexplained",
        } <= set(body)


def test_the_id_is_that_of_the_content(make: Make) -> None:
    shared = fact("a")
    one, other = (make([hypothesis("gpu.lost", GPU, shared)]) for _ in range(2))
    assert one == other
    assert len(one.id) == 32
    assert make([hypothesis("gpu.hot", GPU, shared)]).id != one.id
