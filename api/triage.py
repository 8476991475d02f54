"""`faultwalk triage`: files or standard input in, the report out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path

from api.alert_labels import Victim
from api.bounds import BoundsError, read_limits
from api.command import fail, read_moment, shown_name
from api.knowledge import load_knowledge
from api.markdown import render_markdown
from api.progress import Progress
from api.refused import note_refused
from api.scope import Index, Scope
from collectors.archives import Limits, Opened, expand, list_files
from collectors.identity import normalise_node
from collectors.ingest import Input
from collectors.notes import Note
from collectors.store import Store, StoreError
from diagnosis.engine import diagnose, take_in
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
    jobs: list[str],
    namespaces: list[str],
    quiet: bool = False,
) -> None:
    """Run the command; exits with 2 and one clear line when an input can't be used."""
    chosen: Language = "zh" if language == "zh" else "en"
    start, end = read_moment(since, "--since"), read_moment(until, "--until")
    try:
        limits = read_limits()
    except BoundsError as error:
        raise fail(str(error)) from error
    for name in files:
        _check(name)
    opened = Opened()
    with ExitStack() as stack:
        try:
            knowledge = load_knowledge(rules)
            kept = stack.enter_context(closing(Store.open(store)))
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
        batch = f"triage-{now:.6f}"
        intakes = take_in(_open(files, opened, progress, limits), knowledge, kept, now=now, batch=batch)
        scope = find_scope(kept, nodes, jobs, namespaces)
        report = diagnose(
            kept,
            knowledge,
            now=now,
            language=chosen,
            intakes=intakes,
            batches=[batch],
            since=start,
            until=end,
            nodes=scope.nodes,
            entities=scope.entities,
            complaints=symptoms,
        )
    print_report(note_refused(report, opened), as_json=as_json, as_markdown=as_markdown)


def find_scope(store: Store, nodes: list[str], jobs: list[str], namespaces: list[str]) -> Scope:
    """Return what options narrow a diagnosis to; exits with a clear line when no input names a job or namespace."""
    hosts = {normalise_node(name) for name in nodes}
    entities: set[str] = set()
    if jobs or namespaces:
        index = Index.read(store)
        wanted = [(f"--job {name}", index.scope_of(Victim(job=name))) for name in jobs]
        wanted += [(f"--namespace {name}", index.scope_of_namespace(name)) for name in namespaces]
        for option, scope in wanted:
            if not scope.nodes:
                raise fail(f"{option}: no input tells on which host it runs; name the hosts with --node")
            hosts |= set(scope.nodes)
            entities |= set(scope.entities)
    return Scope(tuple(sorted(hosts)) or None, tuple(sorted(entities)))


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
        raise fail(f"{shown_name(name)}: {error.strerror}") from error


def _open(names: list[str], opened: Opened, progress: Progress, limits: Limits) -> Iterator[Input]:
    """Yield every text of files, archives and folders, one after the other."""
    files: list[tuple[str, Path | None]] = []
    for name in names:
        if name == "-":
            files.append((name, None))
        elif Path(name).is_dir():
            files += [(shown_name(str(path)), path) for path in list_files(Path(name), opened, limits)]
        else:
            files.append((shown_name(name), Path(name)))
    sizes = [_size(path) for _, path in files]
    progress.phase("reading", 0 if None in sizes else sum(size or 0 for size in sizes))
    for name, path in files:
        try:
            stream = path.open("rb") if path is not None else sys.stdin.buffer
        except OSError as error:
            opened.refused.append((name, Note.of("not-read", error=error.strerror)))
            continue
        with stream if path is not None else nullcontext():
            yield from (Input(inner, text) for inner, text in expand(name, progress.watch(stream), opened, limits))
    progress.phase("diagnosing")


def _size(path: Path | None) -> int | None:
    """Return the size of a file, None for what has none: standard input, a pipe."""
    try:
        return path.stat().st_size if path is not None and path.is_file() else None
    except OSError:
        return None
