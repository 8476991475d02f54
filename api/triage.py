"""`faultwalk triage`: files or standard input in, the report out."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path

from api.cli import fail
from api.knowledge import load_knowledge
from api.markdown import render_markdown
from api.progress import Progress
from api.refused import note_refused
from collectors.archives import Opened, expand, list_files
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
    quiet: bool = False,
) -> None:
    """Run the command; exits with 2 and one clear line when an input can't be used."""
    chosen: Language = "zh" if language == "zh" else "en"
    start, end = read_moment(since, "--since"), read_moment(until, "--until")
    for name in files:
        _check(name)
    opened = Opened()
    with ExitStack() as stack:
        try:
            knowledge = load_knowledge(rules)
            kept = stack.enter_context(closing(Store.open(store))) if store else None
        except RuleError as error:
            raise fail("the rules have problems:\n" + str(error)) from error
        except StoreError as error:
            raise fail(str(error)) from error
        unknown = [name for name in symptoms if name not in knowledge.rulebook.vocabulary.symptoms]
        if unknown:
            known = ", ".join(knowledge.rulebook.vocabulary.symptoms)
            raise fail(f"--symptom {unknown[0]}: expected one of {known}")
        now = time.time()
        progress = stack.enter_context(Progress(quiet=quiet))
        report = triage(
            _open(files, opened, progress),
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
    print_report(note_refused(report, opened), as_json=as_json, as_markdown=as_markdown)


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


def _check(name: str) -> None:
    """Exit with a clear line, before anything is read, when an input can't be opened."""
    if name == "-":
        if sys.stdin is None:
            raise fail("-: standard input is closed")
        return
    path = Path(name)
    try:
        if path.is_file():
            with path.open("rb") as file:
                file.read(1)
        elif not path.exists():
            path.stat()
    except OSError as error:
        raise fail(f"{_shown(name)}: {error.strerror}") from error


def _shown(name: str) -> str:
    """Return a name as a report can hold it: a path may be any bytes, a report is UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")


def _open(names: list[str], opened: Opened, progress: Progress) -> Iterator[Input]:
    """Yield every text of files, archives and folders, one after the other."""
    files: list[tuple[str, Path | None]] = []
    for name in names:
        if name == "-":
            files.append((name, None))
        elif Path(name).is_dir():
            files += [(_shown(str(path)), path) for path in list_files(Path(name), opened)]
        else:
            files.append((_shown(name), Path(name)))
    sizes = [_size(path) for _, path in files]
    progress.phase("reading", 0 if None in sizes else sum(size or 0 for size in sizes))
    for name, path in files:
        try:
            stream = path.open("rb") if path is not None else sys.stdin.buffer
        except OSError as error:
            opened.refused.append((name, f"can't be read: {error.strerror}"))
            continue
        with stream if path is not None else nullcontext():
            yield from (Input(inner, text) for inner, text in expand(name, progress.watch(stream), opened))
    progress.phase("diagnosing")


def _size(path: Path | None) -> int | None:
    """Return the size of a file, None for what has none: standard input, a pipe."""
    try:
        return path.stat().st_size if path is not None and path.is_file() else None
    except OSError:
        return None


def read_moment(text: str | None, option: str) -> float | None:
    """Return the time that an option names; exits with a clear line when it is none."""
    if text is None:
        return None
    moment = parse_iso(text if len(text) > 10 else f"{text}T00:00:00")
    if moment is None:
        raise fail(f"{option} {text}: expected a time such as 2026-01-31T04:15:00Z")
    return moment
