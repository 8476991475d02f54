"""The one door: text or a store in, a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from casebase.library import Library, load_cases
from collectors.ingest import Input, Intake, read_inputs
from collectors.registry import UNEXPLAINED, Registry
from collectors.scan import Engine, Scanner
from collectors.store import InputRow, Store
from diagnosis.analyses import derive_all
from diagnosis.facts import add_queries, load_facts
from diagnosis.graph import build_graph
from diagnosis.hypotheses import propose
from diagnosis.model import LAYERS, InputPart, Language, Report
from diagnosis.ranking import rank
from diagnosis.report import Context, build_report
from diagnosis.rulebook import Rulebook


@dataclass(slots=True)
class Knowledge:
    """What a diagnosis needs and what is made once: rules, cases, collectors and the compiled scan."""

    rulebook: Rulebook
    library: Library
    registry: Registry
    scanner: Scanner
    priors: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def build(cls, rulebook: Rulebook, library: Library | None = None, *, engine: Engine | None = None) -> Knowledge:
        """Join rules, cases and collectors; compiles the scan unless an engine is given."""
        registry = Registry()
        patterns = [*registry.patterns(), *rulebook.patterns, UNEXPLAINED]
        return cls(rulebook, library if library is not None else load_cases(), registry, Scanner(patterns, engine))


def triage(
    inputs: Sequence[Input],
    knowledge: Knowledge,
    *,
    now: float,
    language: Language = "en",
    store: Store | None = None,
    batch: str = "triage",
    since: float | None = None,
    until: float | None = None,
) -> Report:
    """Read inputs and diagnose them: in memory, or kept in `store` under `batch`."""
    kept = store if store is not None else Store.open()
    try:
        intakes = take_in(inputs, knowledge, kept, now=now, batch=batch)
        return diagnose(
            kept, knowledge, now=now, language=language, intakes=intakes, batches=[batch], since=since, until=until
        )
    finally:
        if store is None:
            kept.close()


def take_in(inputs: Sequence[Input], knowledge: Knowledge, store: Store, *, now: float, batch: str) -> list[Intake]:
    """Read inputs into the store; on return they are kept."""
    intakes = read_inputs(inputs, knowledge.scanner, knowledge.registry, now=now)
    rows = [InputRow(one.name, one.kind, one.lines, one.bytes) for one in intakes]
    store.append(batch, (record for one in intakes for record in one.records), rows, received=now)
    return intakes


def diagnose(
    store: Store,
    knowledge: Knowledge,
    *,
    now: float,
    language: Language = "en",
    intakes: Sequence[Intake] = (),
    batches: Sequence[str] | None = None,
    since: float | None = None,
    until: float | None = None,
) -> Report:
    """Diagnose what the store keeps of a window."""
    rulebook = knowledge.rulebook
    facts = load_facts(store, batches=batches, since=since, until=until)
    add_queries(facts, store, rulebook)
    derive_all(facts)
    causes, symptoms = propose(facts, rulebook, language=language)
    graph = build_graph(facts, [one.entity for one in (*causes, *symptoms)])
    ranked = rank(causes, symptoms, graph, rulebook, priors=knowledge.priors, language=language)
    context = Context(
        facts,
        rulebook,
        knowledge.library,
        _inputs(store, intakes, batches),
        _looked_at(store, knowledge.registry, intakes, batches),
        language,
        now,
    )
    return build_report(ranked, symptoms, context)


def _inputs(store: Store, intakes: Sequence[Intake], batches: Sequence[str] | None) -> list[InputPart]:
    if intakes:
        parts = [
            InputPart(
                input=one.name,
                kind="+".join(sorted(one.kinds)) or one.kind,
                lines=one.lines,
                recognised=one.recognised,
                unrecognised_errors=one.unexplained,
                notes=one.notes,
            )
            for one in intakes
        ]
        return sorted(parts, key=lambda part: part.input)
    rows = store.query("SELECT input, min(kind), sum(lines), min(batch) FROM inputs GROUP BY input, batch ORDER BY ALL")
    wanted = None if batches is None else set(batches)
    return [
        InputPart(input=row[0], kind=row[1], lines=int(row[2]), recognised=0, unrecognised_errors=0)
        for row in rows
        if wanted is None or row[3] in wanted
    ]


def _looked_at(
    store: Store, registry: Registry, intakes: Sequence[Intake], batches: Sequence[str] | None
) -> dict[str, list[str]]:
    seen: dict[str, set[str]] = {layer: set() for layer in LAYERS}
    pairs = [(one.name, kind) for one in intakes for kind in one.kinds]
    if not intakes:
        rows = store.query(
            "SELECT DISTINCT input, source, batch FROM observations UNION SELECT DISTINCT input, source, batch FROM samples"
        )
        pairs = [(row[0], row[1]) for row in rows if batches is None or row[2] in batches]
    for name, kind in pairs:
        for layer in registry.layers_of(kind):
            seen[layer].add(name)
    return {layer: sorted(names) for layer, names in seen.items()}
