"""The facts of one diagnosis: what the store keeps of a window, indexed for the conditions of the rules."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from collectors.observation import Observation, Relation, Sample
from collectors.store import Store
from diagnosis.entities import Resolver
from diagnosis.rulebook import Rulebook
from diagnosis.rulebook.reference import Reference

MOST_ROWS = 100_000  # rows of a window that are read one and all
MOST_REPEATS = 200  # of a larger window, the first and as many last of what says the same
_COLUMNS = "input, line, line_end, time, source, kind, code, node, entity, attributes, text, raw"


@dataclass(slots=True)
class Facts:
    """What the inputs state, indexed for the conditions."""

    observations: list[Observation]
    samples: list[Sample] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    queries: dict[str, list[Observation]] = field(default_factory=dict)
    because: dict[Observation, tuple[Observation, ...]] = field(default_factory=dict)
    by_kind: dict[str, list[Observation]] = field(default_factory=lambda: defaultdict(list))
    by_key: dict[str, list[Observation]] = field(default_factory=lambda: defaultdict(list))
    by_metric: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    resolver: Resolver = field(default_factory=Resolver)
    derived_kinds: set[str] = field(default_factory=set)
    reference: Reference = field(default_factory=Reference)  # what analyses hold the facts against

    def __post_init__(self) -> None:
        self.resolver = Resolver(self.relations)
        if self.resolver.hosts:
            host = self.resolver.host
            self.observations = [
                replace(one, node=host(one.node)) if host(one.node) != one.node else one for one in self.observations
            ]
            self.samples = [
                replace(one, node=host(one.node)) if host(one.node) != one.node else one for one in self.samples
            ]
        self._place_ranks()
        self.resolver.join_bare(self._named())
        for one in self.observations:
            self._index(one)
        for sample in self.samples:
            self.by_metric[sample.metric].append(sample)

    def _named(self) -> Iterator[tuple[str, str]]:
        """Yield each (entity, host) that the inputs name."""
        yield from ((one.entity, one.node) for one in self.observations)
        yield from ((one.entity, one.node) for one in self.samples)
        for one in self.relations:
            yield one.upper, one.node
            yield one.lower, one.node

    def _place_ranks(self) -> None:
        """Give the host of its rank to what a rank says in a log that names no hosts."""
        hosts: dict[str, set[str]] = defaultdict(set)
        for one in self.relations:
            if one.how == "on" and one.upper.startswith("rank:") and one.lower.startswith("node:"):
                hosts[one.upper[5:]].add(self.resolver.host(one.lower[5:]))
        known = {rank: next(iter(names)) for rank, names in hosts.items() if len(names) == 1}
        if known:
            self.observations = [
                replace(one, node=host)
                if not one.node
                and "group_rank" not in one.attributes  # may be no more than the rank in a group
                and (host := known.get(one.attributes.get("rank", "")))
                else one
                for one in self.observations
            ]

    def _index(self, one: Observation) -> None:
        (self.by_key[one.code] if one.kind == "text" else self.by_kind[one.kind]).append(one)

    def add(self, derived: Observation, because: Sequence[Observation] = ()) -> None:
        """Add a derived observation; `because` are the observations that a report cites for it."""
        self.observations.append(derived)
        self._index(derived)
        if because:
            self.because[derived] = tuple(because)
            self.derived_kinds.add(derived.kind)


def observe_sample(sample: Sample) -> Observation:
    """Return a sample as an observation that conditions test and a report can cite."""
    value = f"{sample.value:g}"
    return Observation(
        sample.source, "sample", sample.input, sample.line, sample.line, f"{sample.metric} {value}", code=sample.metric,
        time=sample.time, node=sample.node, entity=sample.entity,
        attributes={**sample.labels, "value": value, "metric": sample.metric}, raw=sample.raw,
    )  # fmt: skip


def load_facts(
    store: Store,
    *,
    batches: Sequence[str] | None = None,
    since: float | None = None,
    until: float | None = None,
    nodes: Sequence[str] | None = None,
    entities: Sequence[str] = (),
) -> Facts:
    """Read the facts of a window; rows without a time belong to every window.

    `batches` names the ingested batches to look at, None all of them. With `nodes` only rows of these hosts are read, and
    rows that name no host, unless they are about a pod, container or job that is not among `entities`.
    """
    where, parameters = _window(batches, since, until, nodes, entities)
    order = (
        "ORDER BY input, line, line_end, kind, code, text, time, source, node, entity, attributes, raw"  # all of them
    )
    table = _thin(
        store, "observations", "input, kind, code, node, entity", "time, line, line_end, text", where, parameters
    )
    rows = store.query(f"SELECT DISTINCT {_COLUMNS} FROM {table} {order}", parameters)
    observations = [
        Observation(
            source=row[4],
            kind=row[5],
            input=row[0],
            line=row[1],
            line_end=row[2],
            text=row[10],
            code=row[6],
            time=row[3],
            node=row[7],
            entity=row[8],
            attributes=_attributes(row[9]),
            raw=row[11],
        )
        for row in rows
    ]
    table = _thin(store, "samples", "metric, node, entity, labels", "time, input, line", where, parameters)
    rows = store.query(
        f"SELECT DISTINCT input, line, time, source, metric, value, node, entity, labels, raw FROM {table} ORDER BY ALL",
        parameters,
    )
    samples = [
        Sample(row[3], row[4], row[5], row[0], row[1], row[2], row[6], row[7], _attributes(row[8]), row[9])
        for row in rows
    ]
    batch_where, batch_parameters = _window(batches, None, None, nodes)
    rows = store.query(
        f"SELECT DISTINCT upper, lower, how, input, line, node FROM relations {batch_where} ORDER BY ALL",
        batch_parameters,
    )
    return Facts(observations, samples, [Relation(*row) for row in rows])


def _thin(store: Store, table: str, same: str, order: str, where: str, parameters: Sequence[object]) -> str:
    """Return what to read the rows of a window from: the table, or its first and last repeats when they are very many.

    `same` are the columns by which rows say the same thing, `order` those that put them in a row.
    """
    count = store.query(f"SELECT count(*) FROM {table} {where}", parameters)[0][0]
    if count <= MOST_ROWS:
        return f"{table} {where}"
    falling = ", ".join(f"{column} DESC" for column in order.split(", "))
    return (
        f"(SELECT *, row_number() OVER (PARTITION BY {same} ORDER BY {order}) AS place_first, "
        f"row_number() OVER (PARTITION BY {same} ORDER BY {falling}) AS place_last FROM {table} {where}) AS thinned "
        f"WHERE place_first <= {MOST_REPEATS} OR place_last <= {MOST_REPEATS}"
    )


def add_queries(facts: Facts, store: Store, rulebook: Rulebook) -> None:
    """Run the named SQL queries that rules use; each returns rows of `observations`."""
    for name in sorted(rulebook.queries):
        rows = store.query(rulebook.queries[name])
        wanted = {(row[0], row[1], row[2]) for row in rows}
        facts.queries[name] = [one for one in facts.observations if (one.input, one.line, one.kind) in wanted]


OWNED_KINDS = ("container", "job", "pod")  # kinds whose events often name no host


def _window(
    batches: Sequence[str] | None,
    since: float | None,
    until: float | None,
    nodes: Sequence[str] | None = None,
    entities: Sequence[str] | None = None,
) -> tuple[str, list[object]]:
    conditions: list[str] = []
    parameters: list[object] = []
    if batches is not None:
        conditions.append(f"batch IN ({_marks(batches)})" if batches else "false")
        parameters.extend(batches)
    if since is not None:
        conditions.append("(time IS NULL OR time >= ?)")
        parameters.append(since)
    if until is not None:
        conditions.append("(time IS NULL OR time <= ?)")
        parameters.append(until)
    if nodes is not None:
        conditions.append(f"node IN ({_marks(['', *nodes])})")
        parameters.extend(["", *nodes])
        if entities is not None:
            owned, known = (
                f"split_part(entity, ':', 1) IN ({_marks(OWNED_KINDS)})",
                f"entity IN ({_marks(['', *entities])})",
            )
            conditions.append(f"(node <> '' OR NOT {owned} OR {known})")
            parameters.extend([*OWNED_KINDS, "", *entities])
    return ("WHERE " + " AND ".join(conditions) if conditions else ""), parameters


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


_read_object = json.JSONDecoder().raw_decode  # what `json.loads` does after looking for blanks


def _attributes(text: str) -> Mapping[str, str]:
    return _read_object(text)[0] if text != "{}" else {}
