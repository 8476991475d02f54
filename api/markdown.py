"""The report as Markdown, for a ticket or a chat. Log text stands in fences that it can't close; there is no raw HTML."""

from __future__ import annotations

from collections.abc import Iterator

from api.wording import word
from diagnosis.model import CausePart, EvidencePart, Report
from diagnosis.wording import describe_entity, percent


def render_markdown(report: Report) -> str:
    """Return the whole report as Markdown."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    language = report.language
    yield f"# {word('outcome.' + report.outcome, language)}: {_plain(report.verdict)}"
    yield ""
    roots = [cause for cause in report.causes if cause.verdict == "root"]
    for cause in roots[:3] if report.outcome == "undecided" else roots[:1]:
        yield from _cause(cause, report)
    rest = [
        cause for cause in report.causes if cause not in (roots[:3] if report.outcome == "undecided" else roots[:1])
    ]
    if rest:
        yield f"## {word('others', language)}"
        yield ""
        for cause in rest:
            because = f", {word('because_of', language, cause=cause.because_of)}" if cause.because_of else ""
            where = f" ({_plain(describe_entity(cause.entity, language))})" if cause.entity else ""
            yield f"- {cause.title}{where}: {word(cause.verdict, language)}, {percent(cause.probability)}{because} `{cause.cause}`"
        yield ""
    if report.symptoms:
        yield f"## {word('symptoms', language)}"
        yield ""
        for symptom in report.symptoms:
            where = f" ({_plain(describe_entity(symptom.entity, language))})" if symptom.entity else ""
            yield f"- {symptom.title}{where} `{symptom.symptom}`"
        yield ""
    yield f"## {word('walk', language)}"
    yield ""
    for layer in report.walk:
        findings = f": {'; '.join(layer.findings)}" if layer.findings else ""
        yield f"- {word('layer.' + layer.layer, language)}: **{word('status.' + layer.status, language)}**{findings}"
    yield ""
    if report.next_checks:
        yield f"## {word('next', language)}"
        yield ""
        for check in report.next_checks:
            yield f"- {_code(check.run)} ({word('on', language)} {_plain(check.on)}): {check.because}"
        yield ""
    yield f"## {word('inputs', language)}"
    yield ""
    for given in report.inputs:
        notes = f": {_plain('; '.join(given.notes))}" if given.notes else ""
        yield f"- {_plain(given.input)} ({given.kind}, {word('lines', language, count=given.lines)}){notes}"
    yield ""
    if report.unexplained:
        yield f"## {word('unexplained', language)}"
        yield ""
        for part in report.unexplained:
            yield f"- {part.count} × {_code(part.template[:160])} ({_plain(part.first.input)}:{part.first.line})"
        yield ""


def _cause(cause: CausePart, report: Report) -> Iterator[str]:
    language = report.language
    where = f" · {_plain(describe_entity(cause.entity, language))}" if cause.entity else ""
    yield f"## {cause.title}{where}"
    yield ""
    action = f"{word('action', language)}: {word('action.' + cause.action, language)}"
    yield f"`{cause.cause}` · {word('layer.' + cause.layer, language)} · {percent(cause.probability)} · {action}"
    yield ""
    if cause.summary:
        yield cause.summary
        yield ""
    for step in cause.fix:
        yield f"- **{word('do', language)}**: {step}"
    if len(cause.path) > 1:
        yield f"- **{word('path', language)}**: {' → '.join(_plain(describe_entity(name, language)) for name in cause.path)}"
    if cause.explains:
        yield f"- **{word('explains', language)}**: {'; '.join(dict.fromkeys(one.title for one in cause.explains))}"
    for case in cause.cases:
        yield f"- **{word('cases', language)}**: {case.title} (`{case.case}`, {case.similarity:.2f}): {case.why}"
    yield ""
    yield f"### {word('evidence', language)}"
    yield ""
    yield from _evidence(cause.evidence)
    yield ""


def _evidence(lines: list[EvidencePart]) -> Iterator[str]:
    longest = max((len(run) for line in lines for run in _runs_of_backticks(f"{line.input} {line.text}")), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text"
    for line in lines:
        mark = "" if line.role == "supports" else "(-) "
        for number, text in enumerate(line.text.split("\n"), line.line):
            yield f"{_clean(line.input)}:{number}: {mark}{_clean(text)}"
    yield fence


def _runs_of_backticks(text: str) -> list[str]:
    return [run for run in "".join(c if c == "`" else " " for c in text).split() if run]


def _clean(text: str) -> str:
    return "".join(c if c >= " " or c == "\t" else "\ufffd" for c in text)


def _code(text: str) -> str:
    longest = max((len(run) for run in _runs_of_backticks(text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {_clean(text)} {fence}" if longest else f"`{_clean(text)}`"


def _plain(text: str) -> str:
    """Return names from logs so that they can't become markup."""
    return "".join("\\" + c if c in "\\`*_[]<>#|" else c for c in _clean(text))
