"""`faultwalk triage`: files or standard input in, the report out."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path

from api.cli import fail
from api.knowledge import load_knowledge
from api.markdown import render_markdown
from collectors.clock import parse_iso
from collectors.identity import normalise_node
from collectors.ingest import Input
from collectors.store import Store, StoreError
from diagnosis.engine import triage
from diagnosis.model import Language, Report
from diagnosis.rulebook import RuleError


def run(
    files: list[str],
    *,
    as_json: bool,
    as_markdown: bool,
    language: str,
    rules: Path | None,
    store: Path | None,
    since: str | None,
    until: str | None,
    symptoms: list[str],
    nodes: list[str],
) -> None:
    """Run the command; exits with 2 and one clear line when an input can't be used."""
    chosen: Language = "zh" if language == "zh" else "en"
    start, end = _moment(since, "--since"), _moment(until, "--until")
    with ExitStack() as opened:
        inputs = [_open(name, opened) for name in files]
        try:
            knowledge = load_knowledge(rules)
            kept = opened.enter_context(closing(Store.open(store))) if store else None
        except RuleError as error:
            raise fail("the rules have problems:\n" + str(error)) from error
        except StoreError as error:
            raise fail(str(error)) from error
        unknown = [name for name in symptoms if name not in knowledge.rulebook.vocabulary.symptoms]
        if unknown:
            known = ", ".join(knowledge.rulebook.vocabulary.symptoms)
            raise fail(f"--symptom {unknown[0]}: expected one of {known}")
        now = time.time()
        try:
            report = triage(
                inputs,
                knowledge,
                now=now,
                language=chosen,
                store=kept,
                batch=f"triage-{now:.6f}",
                since=start,
                until=end,
                nodes=[normalise_node(name) for name in nodes] or None,
                complaints=symptoms,
            )
        except OSError as error:
            raise fail(f"an input can't be read to its end: {error.strerror}") from error
    print_report(report, as_json=as_json, as_markdown=as_markdown)


def print_report(report: Report, *, as_json: bool, as_markdown: bool) -> None:
    """Print a report for a machine, a document or a person at a terminal."""
    if as_json:
        sys.stdout.write(report.model_dump_json(by_alias=True, indent=2) + "\n")
    elif as_markdown:
        sys.stdout.write(render_markdown(report))
    else:
        from rich.console import Console

        from api.terminal import print_report as print_terminal

        print_terminal(report, Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 140))


def _open(name: str, opened: ExitStack) -> Input:
    if name == "-":
        if sys.stdin is None:
            raise fail("-: standard input is closed")
        return Input("-", sys.stdin.buffer)
    shown = os.fsencode(name).decode("utf-8", "replace")  # a name may be any bytes, a report is UTF-8
    try:
        path = Path(name)
        if path.is_dir():
            raise fail(f"{shown}: a folder; name the files in it")
        return Input(shown, opened.enter_context(path.open("rb")))
    except OSError as error:
        raise fail(f"{shown}: {error.strerror}") from error


def _moment(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    moment = parse_iso(text if len(text) > 10 else f"{text}T00:00:00")
    if moment is None:
        raise fail(f"{option} {text}: expected a time such as 2026-01-31T04:15:00Z")
    return moment
