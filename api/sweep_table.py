"""The table of a sweep: its rows, their order, and how they are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from api.places import Places
from api.wording import word
from collectors.ingest import Intake
from collectors.notes import in_language
from collectors.observation import HOST_KINDS
from diagnosis.engine import Knowledge
from diagnosis.entities import WIDE_KINDS, kind_of
from diagnosis.model import CONCERN, Hypothesis, Language
from diagnosis.redaction import hide_secrets
from diagnosis.windows import Incident
from diagnosis.wording import percent

COLUMNS = {  # of the Parquet file; JSON has the same names
    "rank": "INTEGER", "nodes": "VARCHAR[]", "affected": "VARCHAR[]", "window_start": "TIMESTAMP", "window_end": "TIMESTAMP",
    "outcome": "VARCHAR", "cause": "VARCHAR", "title": "VARCHAR", "layer": "VARCHAR", "entity": "VARCHAR",
    "probability": "DOUBLE", "action": "VARCHAR", "symptoms": "VARCHAR[]", "first_seen": "TIMESTAMP",
    "last_seen": "TIMESTAMP", "lines": "INTEGER", "inputs": "VARCHAR[]", "example": "VARCHAR",
}  # fmt: skip
_MOST_NAMES = 3  # names of hosts that a cell shows


@dataclass(frozen=True, slots=True)
class Row:
    """One incident: a root cause, or what hurts when nothing shows the cause (then `cause` is empty)."""

    nodes: tuple[str, ...]  # hosts whose lines show it; without hosts, the job or the set of pods, or nothing
    affected: tuple[str, ...]
    window: tuple[float | None, float | None]
    outcome: str
    cause: str
    title: str
    layer: str
    entity: str
    probability: float
    action: str
    symptoms: tuple[str, ...]
    seen: tuple[float | None, float | None]
    lines: int
    inputs: tuple[str, ...]
    example: str
    rank: int = 0

    def values(self) -> list[Any]:
        """Return the values of COLUMNS."""
        return [
            self.rank, list(self.nodes), list(self.affected), _moment(self.window[0]), _moment(self.window[1]), self.outcome,
            self.cause, self.title, self.layer, self.entity, self.probability, self.action, list(self.symptoms),
            _moment(self.seen[0]), _moment(self.seen[1]), self.lines, list(self.inputs), self.example,
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep came to."""

    now: float
    language: Language
    intakes: Sequence[Intake]
    refused: Sequence[tuple[str, str]]
    rows: Sequence[Row]


def make_row(
    one: Hypothesis,
    incident: Incident,
    symptoms: Sequence[Hypothesis],
    places: Places,
    knowledge: Knowledge,
    language: Language,
) -> Row:
    """Return the row of a root cause, or of a symptom whose cause nothing shows."""
    rulebook = knowledge.rulebook
    rule = rulebook.causes.get(one.id)
    lines = one.observations()
    times = [line.time for line in lines if line.time is not None]
    hosts = sorted({places.host(line.node) for line in lines if line.node})
    owners = sorted({places.owner_of(line) for line in lines})
    return Row(
        nodes=tuple(hosts) or tuple(owner for owner in owners if not owner.startswith("input ")),
        affected=tuple(owner for owner in incident.owners if owner in places.hosts),
        window=(incident.start, incident.end) if times else (None, None),
        outcome="diagnosed" if rule and one.probability >= CONCERN and not rule.inconclusive else "undecided",
        cause=one.id if rule else "",
        title=rulebook.title(one.id, language),
        layer=one.layer if rule else "",
        entity=one.entity,
        probability=round(one.probability, 4) if rule else 0.0,
        action=rule.action if rule else "",
        symptoms=tuple(sorted({symptom.id for symptom in symptoms})),
        seen=(min(times), max(times)) if times else (None, None),
        lines=len({(line.input, line.line) for line in lines}),
        inputs=tuple(sorted({line.input for line in lines})),
        example=hide_secrets((lines[0].raw or lines[0].text).split("\n", 1)[0])[:500] if lines else "",
    )


def merge_shared(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with those made one that name the same cause on the same shared thing, such as a filesystem, at one time."""
    merged: list[Row] = []
    for row in sorted(rows, key=_by_time):
        kind = kind_of(row.entity)
        shared = row.cause and kind and kind not in HOST_KINDS and kind not in WIDE_KINDS and kind != "node"
        for place, other in enumerate(merged):
            if shared and (other.cause, other.entity) == (row.cause, row.entity) and _overlap(other.window, row.window):
                merged[place] = _merge(other, row)
                break
        else:
            merged.append(row)
    return merged


def _overlap(one: tuple[float | None, float | None], other: tuple[float | None, float | None]) -> bool:
    if None in one or None in other:
        return one == other
    return bool(one[0] <= other[1] and other[0] <= one[1])  # type: ignore[operator]


def _merge(one: Row, other: Row) -> Row:
    best, rest = (one, other) if one.probability >= other.probability else (other, one)
    return replace(
        best,
        nodes=_union(one.nodes, other.nodes),
        affected=_union(one.affected, other.affected),
        window=_span(one.window, other.window),
        symptoms=_union(one.symptoms, other.symptoms),
        seen=_span(one.seen, other.seen),
        lines=best.lines + rest.lines,
        inputs=_union(one.inputs, other.inputs),
    )


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))


def _span(
    one: tuple[float | None, float | None], other: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    times = [time for time in (*one, *other) if time is not None]
    return (min(times), max(times)) if times else (None, None)


def _by_time(row: Row) -> tuple[Any, ...]:
    return (row.window[0] is None, row.window[0] or 0.0, row.nodes, row.cause, row.entity, row.inputs)


def order_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows ranked: what is diagnosed, probable and wide comes first."""
    ordered = sorted(
        rows,
        key=lambda row: (row.outcome != "diagnosed", -round(row.probability, 2), -len(row.affected), -row.lines, _by_time(row)),
    )  # fmt: skip
    return [replace(row, rank=rank) for rank, row in enumerate(ordered, 1)]


def print_swept(swept: Swept, *, as_json: bool, as_markdown: bool) -> None:
    """Print a sweep for a machine, a document or a person at a terminal."""
    if as_json:
        sys.stdout.write(json.dumps(_document(swept), ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    elif as_markdown:
        sys.stdout.write(_markdown(swept))
    else:
        _print_table(swept)


def _document(swept: Swept) -> dict[str, Any]:
    return {
        "schema": "faultwalk.sweep/1",
        "created": _stamp(swept.now),
        "language": swept.language,
        "incidents": [
            {
                name: _stamp(value.replace(tzinfo=UTC).timestamp()) if isinstance(value, datetime) else value
                for name, value in zip(COLUMNS, row.values(), strict=True)
            }
            for row in swept.rows
        ],
        "inputs": [
            {"input": one.name, "kind": "+".join(sorted(one.kinds)) or one.kind, "lines": one.lines,
             "recognised": one.recognised, "unrecognised_errors": one.unexplained,
             "notes": [in_language(note, swept.language) for note in one.notes]}
            for one in sorted(swept.intakes, key=lambda one: one.name)
        ],
        "refused": [{"input": name, "reason": in_language(reason, swept.language)} for name, reason in swept.refused],
    }  # fmt: skip


def _heads(language: Language) -> list[str]:
    names = ("node", "window", "cause", "layer", "probability", "first_seen", "last_seen", "lines", "inputs")
    return ["#", *(word(f"sweep.{name}", language) for name in names)]


def _cells(row: Row, language: Language) -> list[str]:
    title = f"{row.title} [{row.cause}]" if row.cause else f"{row.title} ({word('sweep.no_cause', language)})"
    return [
        str(row.rank),
        _names(row.nodes) or "–",
        _range(*row.window),
        title,
        word("layer." + row.layer, language) if row.layer else "–",
        percent(row.probability) if row.cause else "–",
        _clock(row.seen[0]),
        _clock(row.seen[1]),
        str(row.lines),
        _names(["/".join(name.split("/")[-2:]) for name in row.inputs], 1),
    ]


def _footer(swept: Swept) -> str:
    unknown = sum(not one.kinds and one.kind == "unknown" for one in swept.intakes)
    return word(
        "sweep.footer", swept.language, inputs=len(swept.intakes), lines=sum(one.lines for one in swept.intakes),
        unknown=unknown, refused=len(swept.refused), incidents=len(swept.rows),
    )  # fmt: skip


def _markdown(swept: Swept) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(_clean(cell).replace("|", "\\|") for cell in cells) + " |\n"

    heads = _heads(swept.language)
    rows = [line(heads), "|" + "---|" * len(heads) + "\n", *(line(_cells(row, swept.language)) for row in swept.rows)]
    refused = [f"- `{_clean(name)}`: {_clean(in_language(reason, swept.language))}\n" for name, reason in swept.refused]
    return "".join([*(rows if swept.rows else []), "\n", _footer(swept), "\n", *(["\n", *refused] if refused else [])])


def _print_table(swept: Swept) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 200)
    if swept.rows:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for place, head in enumerate(_heads(swept.language)):
            right = place in (0, 5, 8)
            table.add_column(head, justify="right" if right else "left", overflow="fold", no_wrap=right)
        for row in swept.rows:
            style = "" if row.outcome == "diagnosed" else "dim"
            table.add_row(*(Text(_clean(cell), style=style) for cell in _cells(row, swept.language)))
        console.print(table)
        console.print()
    console.print(Text(_footer(swept)))
    for name, reason in swept.refused[:20]:
        console.print(Text(f"  {_clean(name)}: {_clean(in_language(reason, swept.language))}", style="dim"))


def _names(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" +{rest}" if rest > 0 else "")


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _clock(seconds: float | None) -> str:
    return "–" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _range(start: float | None, end: float | None) -> str:
    if start is None or end is None:
        return "–"
    first, last = datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC)
    form = "%H:%M" if first.date() == last.date() else "%m-%d %H:%M"
    return f"{first:%m-%d %H:%M}–{last.strftime(form)}"


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
