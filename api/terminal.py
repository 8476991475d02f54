"""The report at a terminal, with rich. Log text is never taken for markup and loses its control characters."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from api.wording import word
from diagnosis.model import CausePart, EvidencePart, Language, Report
from diagnosis.wording import describe_entity, percent

_OUTCOME_STYLE = {
    "diagnosed": "bold white on red",
    "undecided": "bold black on yellow",
    "nothing-found": "bold black on cyan",
}
_STATUS_STYLE = {"fault": "bold red", "suspect": "yellow", "clear": "green", "no-data": "dim"}
_MOST_CITED = 8  # lines of one fact
_MOST_LINES = 8
_MOST_SHOWN = 400  # characters of one citation


def print_report(report: Report, console: Console) -> None:
    """Print the report: the answer and its proof first, then the rest, shorter."""
    language = report.language
    console.print(
        Text.assemble(
            (f" {word('outcome.' + report.outcome, language)} ", _OUTCOME_STYLE[report.outcome]),
            " ",
            (_clean(report.verdict), "bold"),
        )
    )
    roots = [cause for cause in report.causes if cause.verdict == "root"]
    told = roots[:3] if report.outcome == "undecided" else roots[:1]
    for cause in told:
        console.print()
        console.print(_cause(cause, language))
    rest = [cause for cause in report.causes if cause not in told]
    if rest:
        console.print()
        console.print(_others(rest, language))
    console.print()
    console.print(_walk(report))
    if report.next_checks:
        console.print()
        console.print(Text(word("next", language), style="bold"))
        for check in report.next_checks:
            line = Text.assemble("  $ ", (_clean(check.run), "cyan"), f"   ({word('on', language)} {_clean(check.on)})")
            console.print(line)
            console.print(Padding(Text(check.because, style="dim"), (0, 0, 0, 4)))
    console.print()
    console.print(_inputs(report))
    if report.unexplained:
        console.print()
        console.print(Text(word("unexplained", language), style="bold"))
        for part in report.unexplained[:5]:
            console.print(
                Text(
                    f"  {part.count:>4} × {_clean(part.template)[:110]}  ({_clean(part.first.input)}:{part.first.line})",
                    style="dim",
                )
            )


def _cause(cause: CausePart, language: Language) -> RenderableType:
    action = f"{word('action', language)}: {word('action.' + cause.action, language)}"
    facts = f"{cause.cause} · {word('layer.' + cause.layer, language)} · {percent(cause.probability)} · {action}"
    where = f"  {_clean(describe_entity(cause.entity, language))}\n" if cause.entity else "\n"
    head = Text.assemble((cause.title, "bold"), where, (facts, "dim"))
    parts: list[RenderableType] = [head]
    if cause.summary:
        parts.append(Text(cause.summary))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for step in cause.fix:
        grid.add_row(word("do", language), Text(step))
    if len(cause.path) > 1:
        grid.add_row(
            word("path", language), Text(" → ".join(_clean(describe_entity(name, language)) for name in cause.path))
        )
    if cause.also_on:
        grid.add_row(
            word("also_on", language),
            Text(", ".join(_clean(describe_entity(name, language)) for name in cause.also_on[:8])),
        )
    if cause.explains:
        grid.add_row(word("explains", language), Text("; ".join(dict.fromkeys(one.title for one in cause.explains))))
    for case in cause.cases[:2]:
        grid.add_row(word("cases", language), Text(f"{case.title} [{case.case}] {case.why}"))
    parts.append(grid)
    parts.append(Text(word("evidence", language), style="bold"))
    parts.extend(_evidence(line, language) for line in _choose(cause.evidence))
    return Group(*parts)


def _choose(lines: list[EvidencePart]) -> list[EvidencePart]:
    """Return a few lines, one of each signal first, in the order of the report."""
    first: dict[str, EvidencePart] = {}
    for line in lines:
        first.setdefault(line.signal, line)
    chosen = list(first.values())[:_MOST_LINES]
    chosen += [line for line in lines if line not in chosen][: _MOST_LINES - len(chosen)]
    return [line for line in lines if line in chosen]


def _evidence(line: EvidencePart, language: Language) -> RenderableType:
    mark = Text(f"  ({word('contradicts', language)})", style="yellow") if line.role == "contradicts" else Text("")
    end = f"–{line.line_end}" if line.line_end else ""
    place = Text(f"  {_clean(line.input)}:{line.line}{end}", style="magenta")
    body = Padding(Text(_shorten(line.text), style="default", overflow="fold"), (0, 0, 0, 4))
    return Group(Text.assemble(place, (f"  {line.why}" if line.why else "", "dim"), mark), body)


def _shorten(text: str) -> str:
    """Return the first whole lines of a citation, with a mark where some are left out; a long line alone is cut."""
    lines = [_clean(one).rstrip() for one in text.strip().split("\n")]
    shown = lines[:1]
    for one in lines[1:_MOST_CITED]:
        if sum(map(len, shown)) + len(one) > _MOST_SHOWN:
            break
        shown.append(one)
    if len(shown) < len(lines):
        shown.append("…")
    return "\n".join(one if len(one) <= _MOST_SHOWN else f"{one[:_MOST_SHOWN]}…" for one in shown)


def _others(rest: list[CausePart], language: Language) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for cause in rest:
        because = f"  ← {word('because_of', language, cause=cause.because_of)}" if cause.because_of else ""
        where = f"  {_clean(describe_entity(cause.entity, language))}" if cause.entity else ""
        table.add_row(
            Text("  " + word(cause.verdict, language), style="dim"),
            Text(percent(cause.probability), style="dim"),
            Text.assemble(cause.title, (where, "dim"), (because, "dim")),
        )
    return Group(Text(word("others", language), style="bold"), table)


def _walk(report: Report) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for layer in report.walk:
        table.add_row(
            "  " + word("layer." + layer.layer, report.language),
            Text(word("status." + layer.status, report.language), style=_STATUS_STYLE[layer.status]),
            Text("; ".join(layer.findings), style="dim"),
        )
    return Group(Text(word("walk", report.language), style="bold"), table)


def _inputs(report: Report) -> RenderableType:
    """List what was handed over, with what was cut, guessed or left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for part in report.inputs:
        kind, lines = Text(part.kind, style="dim"), Text(word("lines", report.language, count=part.lines), style="dim")
        table.add_row(Text(f"  {_clean(part.input)}"), kind, lines, Text(_clean("; ".join(part.notes)), style="yellow"))
    return Group(Text(word("inputs", report.language), style="bold"), table)


def _clean(text: str) -> str:
    """Return text from outside without control characters and direction overrides."""
    return "".join(
        "\ufffd"
        if (c < " " and c != "\t") or "\x7f" <= c <= "\x9f" or c in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"
        else c
        for c in text
    )
