"""`faultwalk sweep`: a fleet's logs of a day in, one table of incidents out, grouped by node and time and ranked.

Files are read by several processes. What they say goes into one store in one transaction; windows are cut where the signs
of faults leave a gap, windows of hosts that work for one job are joined, and each is diagnosed by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from api.bounds import BoundsError, read_limits
from api.command import collect_rarely, fail, read_moment, shown_name
from api.knowledge import load_knowledge
from api.places import Places
from api.progress import Progress
from api.sweep_table import COLUMNS, Row, Swept, make_row, merge_shared, order_rows, print_swept
from collectors import notes
from collectors.archives import Limits, Opened, expand, list_files
from collectors.identity import normalise_node
from collectors.ingest import Input, Intake, read_each, settle
from collectors.store import InputRow, Store, StoreError
from diagnosis.engine import Knowledge, suspect, weigh
from diagnosis.entities import kind_of
from diagnosis.facts import Facts, load_facts
from diagnosis.model import CONCERN, EVIDENCED, Hypothesis, Language
from diagnosis.rulebook import RuleError
from diagnosis.windows import Incident, join, make_windows

GAP = 40.0  # minutes: longer than a collective's longest usual timeout, so that a hang and its cause stay together
BEFORE, AFTER = 600.0, 300.0  # seconds around a window that a diagnosis looks at, too
_ALONE = 16 << 20  # bytes that one process reads faster than several have started


@dataclass(slots=True)
class Reading:
    """What one file came to."""

    intakes: list[Intake] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def run(
    paths: Sequence[str],
    *,
    as_json: bool,
    as_markdown: bool,
    language: str,
    rules: Path | None,
    store: Path | None,
    parquet: Path | None,
    since: str | None,
    until: str | None,
    nodes: Sequence[str],
    gap: float,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Run the command; exits with 2 and one clear line when something can't be used."""
    chosen: Language = "zh" if language == "zh" else "en"
    start, end = read_moment(since, "--since"), read_moment(until, "--until")
    try:
        limits = read_limits()
    except BoundsError as error:
        raise fail(str(error)) from error
    opened = Opened()
    files = list(_list(paths, opened, limits))
    now = time.time()
    try:
        knowledge = load_knowledge(rules)
        with Progress(quiet=quiet) as progress, closing(Store.open(store)) as kept:
            readings = read_files(files, knowledge, rules, jobs, progress)
            intakes = [one for reading in readings for one in reading.intakes]
            settle(intakes, now=now)
            batch = f"sweep-{now:.6f}"
            progress.phase("keeping")
            kept.append(
                batch,
                (record for one in intakes for record in one.records),
                [InputRow(one.name, one.kind, one.lines, one.bytes, notes.write(one.notes)) for one in intakes],
                received=now,
            )
            for one in intakes:
                one.records = []  # the store has them
            rows = sweep(
                kept, knowledge, batch=batch, gap=gap * 60, since=start, until=end, nodes=nodes, language=chosen,
                progress=progress,
            )  # fmt: skip
            refused = [*opened.refused, *(one for reading in readings for one in reading.refused)]
            swept = Swept(now, chosen, intakes, refused, rows)
            if parquet is not None:
                kept.write_parquet(parquet, COLUMNS, [row.values() for row in rows])
    except RuleError as error:
        raise fail("the rules have problems:\n" + str(error)) from error
    except StoreError as error:
        raise fail(str(error)) from error
    print_swept(swept, as_json=as_json, as_markdown=as_markdown)


def _list(paths: Sequence[str], opened: Opened, limits: Limits) -> Iterator[Path]:
    """Yield the files to read; exits with a clear line when a path that was named can't be opened."""
    for name in paths:
        path = Path(name)
        try:
            if path.is_dir():
                next(path.iterdir(), None)
                yield from list_files(path, opened, limits)
                continue
            with path.open("rb"):
                pass
        except OSError as error:
            raise fail(f"{shown_name(name)}: {error.strerror}") from error
        yield path


def read_file(path: Path, knowledge: Knowledge) -> Reading:
    """Read one file and what is packed in it; what can't be read is refused by name."""
    opened, reading = Opened(), Reading()
    name = shown_name(str(path))
    try:
        with path.open("rb") as stream:
            inputs = (Input(inner, text) for inner, text in expand(name, stream, opened, read_limits()))
            reading.intakes = list(read_each(inputs, knowledge.scanner, knowledge.registry))
    except OSError as error:
        opened.refused.append((name, notes.Note.of("not-read", error=error.strerror)))
    reading.refused = opened.refused
    return reading


_knowledge: Knowledge | None = None  # of a reading process


def _start(rules: Path | None) -> None:
    global _knowledge  # noqa: PLW0603  a process of a pool has nowhere else to keep it
    collect_rarely()
    _knowledge = load_knowledge(rules)


def _read_in_process(path: Path) -> Reading:
    assert _knowledge is not None
    return read_file(path, _knowledge)


def read_files(
    files: Sequence[Path], knowledge: Knowledge, rules: Path | None, jobs: int | None, progress: Progress
) -> list[Reading]:
    """Read files, in parallel when that pays; the results stand in the order of the files."""
    sizes = [_size(path) for path in files]
    progress.phase("reading", sum(sizes))
    workers = min(jobs or _count_cores(), len(files))
    readings: list[Reading] = []
    if workers <= 1 or (jobs is None and sum(sizes) < _ALONE):
        for path, size in zip(files, sizes, strict=True):
            readings.append(read_file(path, knowledge))
            progress.advance(size)
        return readings
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start, (rules,))
    try:
        # the largest first, so that none of them is what all wait for at the end
        order = sorted(range(len(files)), key=lambda place: (-sizes[place], place))
        waiting = {pool.submit(_read_in_process, files[place]): place for place in order}
        found: dict[int, Reading] = {}
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            progress.advance(sizes[waiting[done]])
        return [found[place] for place in range(len(files))]
    except BrokenProcessPool as error:
        raise fail(
            "a process that reads files ended before its time, perhaps for want of memory; try --jobs 1"
        ) from error
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sweep(
    store: Store,
    knowledge: Knowledge,
    *,
    batch: str,
    gap: float,
    since: float | None = None,
    until: float | None = None,
    nodes: Sequence[str] = (),
    language: Language = "en",
    progress: Progress | None = None,
) -> list[Row]:
    """Return the incidents that a batch shows, best first."""
    progress = progress or Progress(quiet=True)
    places = Places.read(store, batch)
    wanted = {normalise_node(one) for one in nodes}
    moments = _find_moments(store, knowledge, places, batch, since, until, wanted, progress)
    incidents = join(make_windows(moments, gap), places.ties, gap)
    progress.phase("diagnosing", len(incidents))
    weighed = []
    for incident in incidents:
        weighed.append((incident, *_weigh(store, knowledge, places, batch, incident, since, until, language)))
        progress.advance()
    return order_rows(merge_shared(_choose(weighed, places, knowledge, language)))


def _find_moments(
    store: Store,
    knowledge: Knowledge,
    places: Places,
    batch: str,
    since: float | None,
    until: float | None,
    wanted: set[str],
    progress: Progress,
) -> Mapping[str, set[float]]:
    """Return, for each host and for what names no host, when signs of a fault show; none for signs without a time."""
    hosts = [host for host in places.hosts if not wanted or host in wanted]
    progress.phase("looking for incidents", len(hosts) + 1)
    moments: dict[str, set[float]] = {}
    for host in [*hosts, ""]:
        if host:
            scope, entities = places.spellings(host), places.entities_of([host])
        else:
            scope, entities = [], places.homeless
        facts = load_facts(store, batches=[batch], since=since, until=until, nodes=scope, entities=entities)
        causes, symptoms = suspect(facts, knowledge, store)
        for hypothesis in (*causes, *symptoms):
            for one in hypothesis.observations():
                if places.host(one.node) == host:
                    known = moments.setdefault(places.owner_of(one), set())
                    known.update([] if one.time is None else [one.time])
        progress.advance()
    if wanted:
        return {owner: times for owner, times in moments.items() if owner in wanted}
    return moments


_Weighed = tuple[Incident, list[Hypothesis], list[Hypothesis]]


def _weigh(
    store: Store,
    knowledge: Knowledge,
    places: Places,
    batch: str,
    incident: Incident,
    since: float | None,
    until: float | None,
    language: Language,
) -> tuple[list[Hypothesis], list[Hypothesis]]:
    hosts = [owner for owner in incident.owners if owner in places.hosts]
    start = since if incident.start is None else max(incident.start - BEFORE, -1e18 if since is None else since)
    end = until if incident.end is None else min(incident.end + AFTER, 1e18 if until is None else until)
    facts = load_facts(
        store,
        batches=[batch],
        since=start,
        until=end,
        nodes=[spelling for host in hosts for spelling in places.spellings(host)],
        entities=sorted({*places.entities_of(incident.owners), *([] if hosts else places.homeless)}),
    )
    return weigh(_narrow(facts, places, incident.owners), knowledge, store, language=language)


def _narrow(facts: Facts, places: Places, owners: Sequence[str]) -> Facts:
    """Return the facts without what names no host and belongs to other owners: lines of another job, another input."""
    observations = [one for one in facts.observations if one.node or places.owner_of(one) in owners]
    samples = [one for one in facts.samples if one.node or f"input {one.input}" in owners]
    inputs = {one.input for one in observations} | {one.input for one in samples}
    wide = ("job", "pod", "node")
    relations = [
        one
        for one in facts.relations
        if one.node or one.input in inputs or (kind_of(one.upper) in wide and kind_of(one.lower) in wide)
    ]
    return Facts(observations, samples, relations)


def _choose(weighed: Sequence[_Weighed], places: Places, knowledge: Knowledge, language: Language) -> Iterator[Row]:
    """Yield a row for each root that an incident's own lines show, and for symptoms whose cause nothing shows.

    A line that names no host is seen by every incident of its time: where another incident's root explains it, or it
    has been told already, it makes no row of its own.
    """
    explained: dict[tuple[str, int], set[int]] = defaultdict(set)
    for place, (_, ranked, _) in enumerate(weighed):
        for cause in ranked:
            root = cause.because_of
            if cause.verdict == "consequence" and root is not None and root.probability >= EVIDENCED:
                for line in _lines(cause):
                    explained[line].add(place)
            if cause.verdict == "root" and cause.probability >= EVIDENCED:
                for effect in cause.explains:
                    for line in _lines(effect):
                        explained[line].add(place)
    told: set[tuple[str, str, frozenset[tuple[str, int]]]] = set()
    for place, (incident, ranked, symptoms) in enumerate(weighed):
        roots = [one for one in ranked if one.verdict == "root" and _is_own(one, incident, places)]
        shown = [one for one in roots if one.probability >= CONCERN]
        hurt = [one for one in symptoms if _is_own(one, incident, places)]
        if not shown and hurt:
            shown = roots[:1] or hurt[:1]
        for one in shown:
            lines = frozenset(_lines(one))
            elsewhere = all(explained.get(line, set()) - {place} for line in lines)
            if elsewhere or (one.id, one.entity, lines) in told:
                continue
            told.add((one.id, one.entity, lines))
            yield make_row(one, incident, hurt, places, knowledge, language)


def _lines(one: Hypothesis) -> set[tuple[str, int]]:
    return {(line.input, line.line) for line in one.observations()}


def _is_own(one: Hypothesis, incident: Incident, places: Places) -> bool:
    return any(places.owner_of(line) in incident.owners for line in one.observations())
