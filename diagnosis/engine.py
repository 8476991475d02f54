"""The one door: text or a store in, a report out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from casebase.library import Library, load_cases
from collectors import engines, notes
from collectors.engines import Engine, HyperscanEngine, Re2Engine, choose_engine, find_engine_version
from collectors.ingest import Input, Intake, read_inputs
from collectors.observation import Observation
from collectors.patterns import Pattern
from collectors.registry import UNEXPLAINED, Registry
from collectors.scan import Scanner
from collectors.store import InputRow, Store
from diagnosis import cache
from diagnosis.analyses import derive_all
from diagnosis.context import Context
from diagnosis.facts import Facts, add_queries, load_facts
from diagnosis.graph import build_graph
from diagnosis.hypotheses import propose
from diagnosis.model import LAYERS, Hypothesis, InputPart, Language, Report
from diagnosis.ranking import rank
from diagnosis.recovery import find_recoveries
from diagnosis.report import build_report
from diagnosis.rulebook import Rulebook, find_rules_folder
from diagnosis.rulebook.reference import Reference, load_reference


@dataclass(slots=True)
class Knowledge:
    """What a diagnosis needs and what is made once: rules, cases, collectors and the compiled scan."""

    rulebook: Rulebook
    library: Library
    registry: Registry
    scanner: Scanner
    reference: Reference = field(default_factory=Reference)

    @classmethod
    def build(
        cls, rulebook: Rulebook, library: Library | None = None, *, engine: Engine | None = None, cached: bool = False
    ) -> Knowledge:
        """Join rules, cases and collectors; compiles the scan unless an engine is given or, with `cached`, kept."""
        registry = Registry()
        patterns = [*registry.patterns(), *rulebook.patterns, UNEXPLAINED]
        reference = load_reference(find_rules_folder())
        scanner = Scanner(patterns, engine, choose=_choose_kept if cached else choose_engine)
        return cls(rulebook, library if library is not None else load_cases(), registry, scanner, reference)


def _choose_kept(patterns: Sequence[Pattern]) -> HyperscanEngine | Re2Engine:
    """Return an engine for these patterns, from the cache when it was compiled before by the same program."""
    code = Path(engines.__file__).parent
    parts = [(code / name).read_bytes() for name in ("engines.py", "expressions.py", "literals.py", "ordinary.txt")]
    key = cache.make_key([find_engine_version().encode(), repr(patterns).encode(), *parts])
    blob = cache.load("scan", key)
    engine = choose_engine(patterns, blob)
    if isinstance(engine, HyperscanEngine) and engine.dump() is not blob:
        cache.keep("scan", key, engine.dump())
    return engine


def triage(
    inputs: Iterable[Input],
    knowledge: Knowledge,
    *,
    now: float,
    language: Language = "en",
    store: Store | None = None,
    batch: str = "triage",
    since: float | None = None,
    until: float | None = None,
    nodes: Sequence[str] | None = None,
    entities: Sequence[str] = (),
    complaints: Sequence[str] = (),
) -> Report:
    """Read inputs and diagnose them: in memory, or kept in `store` under `batch`.

    `complaints` are symptoms that the reader states, whether or not a line shows them.
    """
    kept = store if store is not None else Store.open()
    try:
        intakes = take_in(inputs, knowledge, kept, now=now, batch=batch)
        return diagnose(
            kept,
            knowledge,
            now=now,
            language=language,
            intakes=intakes,
            batches=[batch],
            since=since,
            until=until,
            nodes=nodes,
            entities=entities,
            complaints=complaints,
        )
    finally:
        if store is None:
            kept.close()


def take_in(inputs: Iterable[Input], knowledge: Knowledge, store: Store, *, now: float, batch: str) -> list[Intake]:
    """Read inputs into the store; on return they are kept there, and what is returned holds no records any more."""
    intakes = read_inputs(inputs, knowledge.scanner, knowledge.registry, now=now)
    rows = [InputRow(one.name, one.kind, one.lines, one.bytes, notes.write(one.notes)) for one in intakes]
    store.append(batch, (record for one in intakes for record in one.records), rows, received=now)
    for one in intakes:
        one.records = []  # the store has them: twice they would be what a large input needs most memory for
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
    nodes: Sequence[str] | None = None,
    entities: Sequence[str] = (),
    complaints: Sequence[str] = (),
) -> Report:
    """Diagnose what the store keeps of a window; `nodes` and `entities` narrow it as in `load_facts`."""
    rulebook = knowledge.rulebook
    facts = load_facts(store, batches=batches, since=since, until=until, nodes=nodes, entities=entities)
    parts = (
        _inputs(intakes, language) if intakes else _kept_inputs(store, facts, batches, language, whole=nodes is None)
    )
    windowed = not intakes and (since is not None or until is not None)  # a store may hold years beside the window
    narrowed = facts if windowed or nodes is not None else None
    looked_at = _looked_at(store, knowledge.registry, intakes, batches, narrowed, facts.by_kind.get("filtered", ()))
    ranked, symptoms = weigh(facts, knowledge, store, language=language, complaints=complaints)
    context = Context(
        facts,
        rulebook,
        knowledge.library,
        parts,
        looked_at,
        language,
        now,
    )
    return build_report(ranked, symptoms, context)


def weigh(
    facts: Facts, knowledge: Knowledge, store: Store, *, language: Language = "en", complaints: Sequence[str] = ()
) -> tuple[list[Hypothesis], list[Hypothesis]]:
    """Return the ranked causes and the symptoms of facts that were read from a store."""
    causes, symptoms = suspect(facts, knowledge, store, language=language)
    seen = {one.id for one in symptoms}
    symptoms += [Hypothesis(name, "", "", "") for name in sorted(set(complaints) - seen)]
    graph = build_graph(facts, [one.entity for one in (*causes, *symptoms)])
    rulebook = knowledge.rulebook
    recoveries = find_recoveries(facts)
    priors = knowledge.reference.priors
    ranked = rank(causes, symptoms, graph, rulebook, priors=priors, recoveries=recoveries, language=language)
    return ranked, symptoms


def suspect(
    facts: Facts, knowledge: Knowledge, store: Store, *, language: Language = "en"
) -> tuple[list[Hypothesis], list[Hypothesis]]:
    """Return the causes and symptoms that facts give reason to think of, not yet weighed against each other."""
    add_queries(facts, store, knowledge.rulebook)
    facts.reference = knowledge.reference
    derive_all(facts)
    return propose(facts, knowledge.rulebook, language=language)


def _inputs(intakes: Sequence[Intake], language: Language) -> list[InputPart]:
    parts = [
        InputPart(
            input=one.name,
            kind="+".join(sorted(one.kinds)) or one.kind,
            lines=one.lines,
            recognised=one.recognised,
            unrecognised_errors=one.unexplained,
            notes=[notes.in_language(note, language) for note in one.notes],
        )
        for one in intakes
    ]
    return sorted(parts, key=lambda part: (part.input, part.model_dump_json()))


def _kept_inputs(
    store: Store, facts: Facts, batches: Sequence[str] | None, language: Language, *, whole: bool
) -> list[InputPart]:
    """Tell which kept inputs were looked at: all of the batches, or only those that hold facts of a narrowed view."""
    known = {(one.input, one.line) for one in facts.observations if one.kind != "unexplained"}
    known |= {(one.input, one.line) for one in facts.samples}
    recognised = Counter(name for name, _ in known)
    unknown = Counter(one.input for one in facts.by_kind.get("unexplained", ()))
    rows = store.query(
        "SELECT input, min(kind), sum(lines), batch, min(notes) FROM inputs GROUP BY input, batch ORDER BY ALL"
    )
    wanted = None if batches is None else set(batches)
    return [
        InputPart(
            input=row[0],
            kind=row[1],
            lines=int(row[2]),
            recognised=recognised[row[0]],
            unrecognised_errors=unknown[row[0]],
            notes=[notes.in_language(note, language) for note in notes.read(row[4])],
        )
        for row in rows
        if (wanted is None or row[3] in wanted) and (whole or row[0] in recognised or row[0] in unknown)
    ]


def _looked_at(
    store: Store,
    registry: Registry,
    intakes: Sequence[Intake],
    batches: Sequence[str] | None,
    narrowed: Facts | None,
    filtered: Sequence[Observation],
) -> dict[str, list[str]]:
    """Return, by layer, the inputs that let one judge it. What a filter left of a source lets one judge nothing."""
    seen: dict[str, set[str]] = {layer: set() for layer in LAYERS}
    pairs = [(one.name, kind) for one in intakes for kind in one.kinds]
    if narrowed is not None:
        pairs = [(one.input, one.source) for one in narrowed.observations]
        pairs += [(one.input, one.source) for one in narrowed.samples]
    elif not intakes:
        rows = store.query(
            "SELECT DISTINCT input, source, batch FROM observations UNION SELECT DISTINCT input, source, batch FROM samples"
        )
        pairs = [(row[0], row[1]) for row in rows if batches is None or row[2] in batches]
    in_part = {(one.input, one.source) for one in filtered}
    for name, kind in pairs:
        if (name, kind) in in_part:
            continue
        for layer in registry.layers_of(kind):
            seen[layer].add(name)
    return {layer: sorted(names) for layer, names in seen.items()}
