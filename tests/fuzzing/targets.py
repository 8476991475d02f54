"""What is fuzzed: each collector's parser by itself, and the whole way from bytes to a report."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from collectors.archives import Limits, Opened, expand
from collectors.block import Reader, RefusedError
from collectors.hits import MOST_LINE
from collectors.ingest import Input, read_inputs, text_input
from collectors.observation import Observation, Record, Relation, Sample
from collectors.prefix import peel
from collectors.registry import COLLECTORS
from collectors.store import Store
from diagnosis.engine import Knowledge, triage
from diagnosis.rulebook import load_rulebook
from tests.fuzzing.corpus import sample_texts, seeds_of

NOW = 1_790_000_000.0


@dataclass(frozen=True, slots=True)
class Target:
    """A name, texts to begin with, and what is run on each text: it must return, and soon."""

    name: str
    seeds: Sequence[bytes]
    run: Callable[[bytes], None]


class BrokenPromiseError(AssertionError):
    """Something came out that no collector may yield."""


def _check(records: Iterable[Record], first: int, last: int) -> None:
    for one in records:
        if not isinstance(one, Observation | Sample | Relation):
            raise BrokenPromiseError(f"not a record: {one!r}")
        if not first <= one.line <= last:
            raise BrokenPromiseError(f"stands in line {one.line}, outside of {first} to {last}: {one!r}")
        if isinstance(one, Relation):
            texts = [one.upper, one.lower, one.how, one.node]
        else:
            named = one.attributes if isinstance(one, Observation) else one.labels
            texts = [*named, *named.values(), one.node, one.entity, one.source]
            if one.time is not None and not math.isfinite(one.time):
                raise BrokenPromiseError(f"a time that is none: {one!r}")
        if not all(isinstance(text, str) for text in texts):
            raise BrokenPromiseError(f"not a text: {one!r}")


def _read_lines(module: ModuleType, data: bytes) -> None:
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = peel("fuzz", number, raw[:MOST_LINE].decode("utf-8", "replace").rstrip("\r"))
        _check(module.parse_line(line), number, number)


def _read_block(module: ModuleType, data: bytes) -> None:
    last = data.count(b"\n") + 1
    reader = Reader(data, 0, 1, "fuzz")
    records = list(module.parse_block(reader))
    if not 0 <= reader.offset <= len(data):
        raise BrokenPromiseError("left the bytes")
    _check(records, 1, last)


def _read_document(module: ModuleType, data: bytes) -> None:
    try:
        records = list(module.parse_document("fuzz", data))
    except RefusedError:
        return
    _check(records, 0, 1 << 62)


def _run_collector(module: ModuleType) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        if hasattr(module, "parse_line"):
            _read_lines(module, data)
        if hasattr(module, "parse_block"):
            _read_block(module, data)
        if hasattr(module, "parse_document"):
            _read_document(module, data)

    return run


@cache
def knowledge() -> Knowledge:
    """Return the knowledge of all targets that need it."""
    return Knowledge.build(load_rulebook())


def _run_intake(data: bytes) -> None:
    known = knowledge()
    intake = read_inputs([text_input("fuzz.log", data)], known.scanner, known.registry, now=NOW)[0]
    for note in intake.notes:
        if "could not read" in note:
            raise BrokenPromiseError(note)
    store = Store.open()
    try:
        store.append("fuzz", intake.records)
    finally:
        store.close()


def _run_triage(data: bytes) -> None:
    triage([text_input("fuzz.log", data)], knowledge(), now=NOW).model_dump_json(by_alias=True)


def _run_archives(data: bytes) -> None:
    opened = Opened()
    limits = Limits(total=8 << 20, member=4 << 20, members=200, depth=4)
    for _, stream in expand("fuzz", io.BytesIO(data), opened, limits):
        while stream.read(1 << 16):
            pass


def _run_prefix(data: bytes) -> None:
    for number, raw in enumerate(data.split(b"\n"), 1):
        peel("fuzz", number, raw[:MOST_LINE].decode("utf-8", "replace"))


def _packed_seeds() -> list[bytes]:
    import bz2
    import gzip
    import lzma
    import tarfile
    import zipfile

    import zstandard

    text = sample_texts()[len(sample_texts()) // 2]
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name in ("a/one.log", "a/two.log"):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archived:
        archived.writestr("one.log", text)
    plain = [text, tar.getvalue(), zipped.getvalue()]
    packers = (gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress)
    return [*plain, *(pack(one) for pack in packers for one in plain)]


def _make_collector(module: ModuleType) -> Target:
    return Target(module.__name__.rpartition(".")[2], seeds_of(module), _run_collector(module))


@cache
def targets() -> dict[str, Target]:
    """Return every target by its name."""
    texts = [text for text in sample_texts() if len(text) < 1 << 15]
    found = [_make_collector(module) for module in COLLECTORS]
    found.append(Target("prefix", texts, _run_prefix))
    found.append(Target("archives", _packed_seeds(), _run_archives))
    found.append(Target("intake", texts, _run_intake))
    found.append(Target("triage", texts, _run_triage))
    return {one.name: one for one in found}


__all__ = ["BrokenPromiseError", "Input", "Target", "knowledge", "targets"]
