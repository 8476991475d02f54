"""Read what was sent: unpack archives within bounds, diagnose in one or both languages, or keep the evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from pydantic import BaseModel, Field

from api.refused import note_refused
from collectors import notes
from collectors.archives import Limits, Opened, expand
from collectors.ingest import Input, Intake, read_inputs, text_input
from collectors.observation import Observation, Record, Relation
from collectors.registry import Registry
from collectors.store import InputRow, Store
from diagnosis.engine import Knowledge, diagnose, take_in
from diagnosis.model import Language, Report


class IngestAnswer(BaseModel):
    """What was kept. It is on disk before the sender gets this."""

    batch: str = Field(description="The same text sent again has the same batch and is kept once.")
    input: str = Field(description="Citations of this text use this name.")
    kind: str
    lines: int
    bytes: int
    facts: int = Field(description="Observations, samples and relations that were kept.")
    unrecognised_errors: int
    already_kept: bool


def source_kinds(registry: Registry) -> list[str]:
    """Return the source kinds that evidence can have."""
    return registry.sources()


def unpack(inputs: Sequence[Input], limits: Limits) -> tuple[list[Input], Opened]:
    """Open archives among the inputs; return the texts, and what opening them came to."""
    opened = Opened()
    texts = [
        text_input(name, stream.read())
        for one in inputs
        for name, stream in expand(one.name, one.stream, opened, limits)
    ]
    return texts, opened


def triage_in_languages(
    inputs: Sequence[Input], knowledge: Knowledge, *, now: float, languages: Sequence[Language], limits: Limits
) -> list[Report]:
    """Diagnose inputs once for each language, in memory; nothing of them stays but the reports."""
    texts, opened = unpack(inputs, limits)
    store = Store.open()
    try:
        intakes = take_in(texts, knowledge, store, now=now, batch="triage")
        reports = [
            diagnose(store, knowledge, now=now, language=language, intakes=intakes, batches=["triage"])
            for language in languages
        ]
    finally:
        store.close()
    return [note_refused(one, opened) for one in reports]


def keep_evidence(
    data: bytes, knowledge: Knowledge, store: Store, writing: AbstractContextManager[None], *, kind: str, node: str, name: str, now: float
) -> IngestAnswer:  # fmt: skip
    """Read a text and keep its facts; `kind` is taken where the text doesn't tell, `node` where its lines don't."""
    digest = hashlib.sha256(f"{kind}\x00{node}\x00{name}\x00".encode() + data).hexdigest()
    batch = f"ingest-{digest[:24]}"
    label = f"{name or '/'.join(part for part in (node, kind) if part)}#{digest[:8]}"
    intake = read_inputs([text_input(label, data)], knowledge.scanner, knowledge.registry, now=now)[0]
    if intake.kind == "unknown" and kind != "auto":
        intake.kind = kind
    records = [_placed(record, intake, node) for record in intake.records]
    with writing:
        kept = store.query("SELECT count(*) FROM inputs WHERE batch = ?", [batch])[0][0] > 0
        if not kept:
            row = InputRow(label, intake.kind, intake.lines, intake.bytes, notes.write(intake.notes))
            store.append(batch, records, [row], received=now)
    return IngestAnswer(
        batch=batch, input=label, kind=intake.kind, lines=intake.lines, bytes=intake.bytes, facts=len(records),
        unrecognised_errors=intake.unexplained, already_kept=kept,
    )  # fmt: skip


def _placed(record: Record, intake: Intake, node: str) -> Record:
    """Give a record the host it lacks, and a source when the text did not tell one."""
    if isinstance(record, Observation) and record.source == "unknown":
        record = replace(record, source=intake.kind)
    if record.node or not node:
        return record
    if (
        isinstance(record, Relation)
        and record.upper.startswith(("pod:", "job:"))
        and not record.lower.startswith("gpu:")
    ):
        return record
    return replace(record, node=node)
