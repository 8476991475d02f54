"""`faultwalk score`: how often the rules name the right cause first, on a folder of cases with their answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from api.command import fail
from api.knowledge import load_knowledge
from collectors.ingest import Input
from diagnosis.engine import Knowledge, triage
from diagnosis.model import CausePart, Report
from diagnosis.rulebook import RuleError


@dataclass(frozen=True, slots=True)
class Result:
    """How one case came out. `place` is the rank of the right cause among the roots, 0 when it is missing."""

    case: str
    domain: str
    healthy: bool
    place: int
    evidence: float
    alarms: tuple[str, ...]
    named: tuple[str, ...]
    probability: float


def run(folder: Path, rules: Path | None) -> None:
    """Print one line a miss and a table by domain; exits with 2 when there is no case."""
    paths = sorted(folder.glob("*/case.yaml"))
    if not paths:
        raise fail(f"{folder}: no */case.yaml in it")
    try:
        knowledge = load_knowledge(rules)
    except RuleError as error:
        raise fail("the rules have problems:\n" + str(error)) from error
    results = [judge(path, knowledge, now=time.time()) for path in paths]
    for result in results:
        if result.healthy and result.alarms:
            print(f"alarm  {result.case}: healthy, but {', '.join(result.alarms)}")
        elif not result.healthy and result.place != 1:
            print(f"miss   {result.case}: got {', '.join(result.named[:3]) or 'nothing'}")
    print(f"{'domain':<12}{'cases':>6}{'top1':>8}{'top3':>8}{'evidence':>10}{'healthy':>9}{'alarms':>8}{'Brier':>8}")
    for domain in [*sorted({result.domain for result in results}), "all"]:
        part = [result for result in results if domain in ("all", result.domain)]
        sick = [result for result in part if not result.healthy]
        well = [result for result in part if result.healthy]
        count = max(len(sick), 1)
        brier = sum((result.probability - (result.place == 1)) ** 2 for result in sick) / count
        print(
            f"{domain:<12}{len(sick):>6}{sum(r.place == 1 for r in sick) / count:>8.3f}{sum(0 < r.place <= 3 for r in sick) / count:>8.3f}"
            f"{sum(r.evidence for r in sick) / count:>10.3f}{len(well):>9}{sum(bool(r.alarms) for r in well):>8}{brier:>8.3f}"
        )


def judge(path: Path, knowledge: Knowledge, *, now: float) -> Result:
    """Diagnose one case's inputs under neutral names and compare with its answer.

    A case that can't be read exits with 2.
    """
    inputs: list[Input] = []
    try:
        case = yaml.safe_load(path.read_text("utf-8"))
        if not isinstance(case, dict) or "cause" not in case:
            raise fail(f"{path}: expected `inputs` and `cause`")
        for number, item in enumerate(case["inputs"]):
            inputs.append(Input(f"{chr(97 + number)}.txt", (path.parent / item["file"]).open("rb")))
    except yaml.YAMLError as error:
        raise fail(f"{path}: not YAML: {str(error).splitlines()[0]}") from error
    except (KeyError, TypeError, UnicodeDecodeError) as error:
        raise fail(f"{path}: expected `inputs`, a list with `file` each, and `cause`") from error
    except OSError as error:
        raise fail(f"{path}: {error.filename}: {error.strerror}") from error
    report = triage(inputs, knowledge, now=now)
    texts = {}
    for one in inputs:
        with one.stream as stream:
            stream.seek(0)
            texts[one.name] = stream.read().decode("utf-8", "replace").split("\n")
    return _compare(case, report, texts, path.parent.name)


def _compare(case: dict[str, object], report: Report, texts: dict[str, list[str]], name: str) -> Result:
    roots = [cause for cause in report.causes if cause.verdict == "root"]
    healthy = case["cause"] in (None, "none")
    also = case.get("also_ok")
    good = {case["cause"], *(also if isinstance(also, list) else [])}
    place = next((number for number, cause in enumerate(roots, 1) if cause.cause in good), 0)
    wanted = case.get("evidence")
    evidence = _share_cited(roots[place - 1], wanted if isinstance(wanted, list) else [], texts) if place else 0.0
    return Result(
        case=name,
        domain=str(case.get("domain", "?")),
        healthy=healthy,
        place=0 if healthy else place,
        evidence=evidence,
        alarms=tuple(f"{cause.cause} {cause.probability:.2f}" for cause in roots if cause.probability >= 0.5),
        named=tuple(cause.cause for cause in roots),
        probability=roots[0].probability if roots else 0.0,
    )


def _share_cited(cause: CausePart, wanted: list[object], texts: dict[str, list[str]]) -> float:
    """Return how many of the decisive lines stand among the cited ones, each citation with its whole range of lines."""
    if not wanted:
        return 1.0
    cited = [line for one in cause.evidence for line in texts[one.input][one.line - 1 : one.line_end or one.line]]
    return sum(any(str(text) in line for line in cited) for text in wanted) / len(wanted)
