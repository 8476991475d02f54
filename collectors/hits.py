"""Read the hit lines of one block: wake the collectors, keep what rules captured, keep error-looking lines that nothing knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, NamedTuple

from collectors.block import Reader
from collectors.captures import inherit, make_hit
from collectors.identity import normalise_node
from collectors.intake import Intake
from collectors.notes import Note
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line, peel
from collectors.prefixed import Table
from collectors.registry import UNEXPLAINED, Registry
from collectors.scan import Hit, LineCounter, Scanner
from collectors.transport import Carried

MOST_CARRY = 4 << 20  # bytes of an open block that are taken over
MOST_REFUSED = 200_000  # lines that a collector may take in vain, beside four times those of the input so far
MOST_LINE = 16 << 10  # bytes of a line that a collector gets to see: some patterns take time that grows with its square
MOST_CITED = 12  # lines of one fact that are cited
MOST_NOTES = 20  # remarks on one input
MOST_UNEXPLAINED = 2000  # lines of one input that are kept for grouping

# Sources whose blocks are read field by field: a word such as "Error" in them is a field's name, not a message.
_READ_WHOLE = frozenset({"kube-objects", "nvidia-smi", "metrics"})


@dataclass(slots=True)
class Reading:
    """What lasts from block to block of one input."""

    intake: Intake
    scanner: Scanner
    registry: Registry
    host: str = ""  # of the last shell prompt
    says: dict[int, Carried] = field(default_factory=dict)  # by line, what the input's envelope says of it
    refused: Counter[str] = field(default_factory=Counter)  # by collector, lines that it took and gave back
    _woken: dict[int, tuple[str, ModuleType | None]] = field(default_factory=dict)

    def woken_by(self, index: int) -> tuple[str, ModuleType | None]:
        """Return what a pattern is for: `line` or `block` and the collector it wakes; others stand for themselves."""
        known = self._woken.get(index)
        if known is None:
            key = self.scanner.patterns[index].key
            form = key.partition(":")[0]
            module = self.registry.woken_by(key) if form in ("line", "block") else None
            known = self._woken[index] = (form, module)
        return known

    def parse(
        self, parse: Callable[[Any], Iterator[Record]], what: Line | Reader, module: ModuleType, number: int
    ) -> list[Record]:
        """Return what a collector makes of a line or block. A collector that fails costs its facts and a note, no more."""
        try:
            return list(parse(what))
        except Exception as error:  # noqa: BLE001  whatever a collector trips over
            name = module.__name__.rpartition(".")[2]
            note = Note.of("unreadable-line", collector=name, line=number, error=type(error).__name__)
            if len(self.intake.notes) < MOST_NOTES:
                self.intake.notes.append(note)
            return []


class _Span(NamedTuple):
    """A structure that was read."""

    last: int  # its last line
    source: str
    node: str


_NOWHERE = _Span(0, "", "")


class BlockHits:
    """Collects what one block says in `records`; `data` ends at the end of a line, `last` tells whether the input ends there."""

    def __init__(self, reading: Reading, data: bytes, *, last: bool) -> None:
        self._reading, self._intake = reading, reading.intake
        self._data, self._last = data, last
        self.records: list[Record] = []
        self._ends: dict[str, int] = {}  # by collector, the offset of the end of the last structure that it read
        self._spans: list[_Span] = []  # structures that the line being read may lie in
        self._about: dict[int, Observation] = {}  # by line, what a structure says about an entity there
        self._tabled: set[int] = set()  # lines of tables behind prefixes
        self._folded: list[Observation] = []  # messages that stand over several lines
        self._captured: set[tuple[str, int]] = set()  # (key of a pattern, line)
        self._open: tuple[int, int] | None = None  # offset and line of a structure that the cut may have broken
        self._before_open: tuple[int, int, Counter[str], Counter[str], str] | None = None  # what was counted before it

    def add_tables(self, tables: Iterable[Table]) -> None:
        """Take tables whose lines stand behind prefixes, before any hit."""
        for table in tables:
            self._tabled.update(table.numbers)
            self._intake.kinds[table.source] += 1
            self.records += table.records
            for record in table.records:
                if isinstance(record, Observation):
                    if record.entity:
                        self._about.setdefault(record.line, record)
                    if record.text:
                        self._folded.append(record)

    def add(self, hit: Hit, number: int) -> None:
        """Read a hit line, which has this number; hits come in order."""
        if len(hit.found) == 1 and self._is_settled(hit):
            return
        data = self._data[hit.start : min(hit.end, hit.start + MOST_LINE)]
        raw = data.decode("utf-8", "replace").rstrip("\r")
        line = peel(self._intake.name, number, raw)
        said = self._reading.says.get(number)
        if said is not None:
            _take_over(line, said)
        found, captured, woken, known = self._wake(hit, line)
        if self._spans:
            self._spans = [one for one in self._spans if number <= one.last]
        span = self._spans[-1] if self._spans else _NOWHERE
        if line.host:
            self._intake.hosts[line.host] += 1
        node = line.host or span.node or self._reading.host
        source = span.source or line.source or woken or self._intake.kind
        if captured:
            parsed = next((one for one in found if isinstance(one, Observation) and one.entity), None)
            parsed = parsed or self._about.get(number)
            for key, groups in captured:
                self._captured.add((key, number))
                found.append(inherit(make_hit(key, groups, line, source, node), parsed))
        for record in found:
            self._follow(record)
            _complete(record, raw, node)
        self.records += found
        if known or captured:
            self._intake.recognised += 1
        elif span.source not in _READ_WHOLE:
            self._keep_unexplained(line, source, node)

    def finish(self) -> tuple[int, int]:
        """Match the rules against folded messages, and forget what was read of a structure that is open at the cut.

        Returns its offset (-1: there is none) and line.
        """
        self.records.extend(self._scan_folded())
        offset, line = -1, 0
        if self._open is not None and self._before_open is not None and len(self._data) - self._open[0] <= MOST_CARRY:
            offset, line = self._open
            self.records = [one for one in self.records if one.line < line]
            one = self._intake
            one.recognised, one.unexplained, one.hosts, one.kinds, self._reading.host = self._before_open
        if self._tabled:
            self.records.sort(key=lambda one: one.line)
        return offset, line

    def _is_settled(self, hit: Hit) -> bool:
        """Count, without a closer look, a line that only looks like an error once enough such lines are kept, and a line
        inside a structure that has been read already."""
        form, module = self._reading.woken_by(hit.found[0][0])
        if form == UNEXPLAINED.key:
            if self._intake.unexplained < MOST_UNEXPLAINED or self._spans:
                return False
            self._intake.unexplained += 1
            return True
        if form != "block" or module is None or hit.start >= self._ends.get(module.__name__, 0):
            return False
        self._intake.recognised += 1
        return True

    def _wake(self, hit: Hit, line: Line) -> tuple[list[Record], list[tuple[str, Mapping[str, str]]], str, bool]:
        """Return what the collectors that a line wakes say, what rules captured, the source of the last collector that knew
        the line, and whether any did."""
        records: list[Record] = []
        captured: list[tuple[str, Mapping[str, str]]] = []
        woken, known = "", line.number in self._tabled
        done: list[ModuleType] = []
        for index, groups in hit.found:
            form, module = self._reading.woken_by(index)
            if module is None:
                if form != UNEXPLAINED.key:
                    captured.append((self._reading.scanner.patterns[index].key, groups))
            elif form == "block":
                known = True
                if hit.start >= self._ends.get(module.__name__, 0):
                    self._read_structure(hit, line.number, module)
            elif module not in done:
                done.append(module)
                found = self._reading.parse(module.parse_line, line, module, line.number)
                if found:
                    woken, known = module.SOURCE, True
                    records.extend(found)
        return records, captured, woken, known

    def _read_structure(self, hit: Hit, number: int, module: ModuleType) -> None:
        reading, intake = self._reading, self._intake
        if number in self._tabled or reading.refused[module.__name__] > MOST_REFUSED + 4 * number:
            return  # read already, or heads without end, each of which would be read to the end in vain
        said = reading.says.get(number)
        host = normalise_node(said.host) if said is not None and said.host else reading.host
        reader = Reader(self._data, hit.start, number, intake.name, node=host, complete=self._last)
        records = reading.parse(module.parse_block, reader, module, number)
        if (reader.at_end or reader.met_end) and not self._last and self._open is None:
            self._open = (hit.start, number)
            counted = (intake.recognised, intake.unexplained, intake.hosts.copy(), intake.kinds.copy(), reading.host)
            self._before_open = counted
        if reader.offset <= hit.start:
            reading.refused[module.__name__] += reader.taken
            return
        self._ends[module.__name__] = reader.offset
        if reader.node and reader.node != reading.host:
            intake.hosts[reader.node] += 1
        lines = self._data[hit.start : reader.offset].split(b"\n")
        self._spans.append(_Span(reader.number - 1, module.SOURCE, reader.node))
        intake.kinds[module.SOURCE] += 1
        for record in records:
            place = record.line - number
            raw = _join(lines[place : place + _span_of(record)]) if place >= 0 else ""
            _complete(record, raw, reader.node)
            self.records.append(record)
            if isinstance(record, Observation):
                if record.entity:
                    self._about.setdefault(record.line, record)
                quoted = ("''" in raw or "\\" in raw) and record.text not in raw
                if record.text and (record.line_end > record.line or quoted):
                    self._folded.append(record)

    def _follow(self, record: Record) -> None:
        """Take the lines below a prompt for those of its host; a lone `#` may as well be a comment."""
        if isinstance(record, Observation) and record.kind == "command":
            if record.node or record.attributes.get("prompt") != "#":
                self._reading.host = record.node
            if record.node:
                self._intake.hosts[record.node] += 1

    def _keep_unexplained(self, line: Line, source: str, node: str) -> None:
        self._intake.unexplained += 1
        if self._intake.unexplained <= MOST_UNEXPLAINED:
            self.records.append(
                Observation(
                    source, "unexplained", line.input, line.number, line.number, line.text[:2000], time=line.time, node=node,
                    raw=line.raw,
                )
            )  # fmt: skip

    def _scan_folded(self) -> Iterator[Record]:
        """Match the rules against messages that were folded over several lines."""
        folded = self._folded
        if not folded:
            return
        scanner = self._reading.scanner
        block = b"\n".join(one.text.replace("\n", " ").encode() for one in folded)
        counter = LineCounter(block, 0)
        for hit in scanner.find(block):
            whole = folded[counter.at(hit.start)]
            for index, groups in hit.found:
                key = scanner.patterns[index].key
                if not scanner.patterns[index].capture:
                    continue
                if any((key, number) in self._captured for number in range(whole.line, whole.line_end + 1)):
                    continue
                line = Line(whole.input, whole.line, whole.raw, whole.text, whole.time)
                found = inherit(make_hit(key, groups, line, whole.source, whole.node), whole)
                yield replace(found, line_end=whole.line_end, raw=whole.raw)


def _span_of(record: Record) -> int:
    """Return over how many lines a record stands, at most as many as a citation shows."""
    return min(record.line_end - record.line + 1, MOST_CITED) if isinstance(record, Observation) else 1


def _join(lines: Sequence[bytes]) -> str:
    return "\n".join(one.decode("utf-8", "replace").rstrip("\r") for one in lines)


def _take_over(line: Line, said: Carried) -> None:
    """Add what an envelope says of a line; its time counts before that of the line, as it has date and zone."""
    line.time = said.time if said.time is not None else line.time
    line.host = line.host or normalise_node(said.host)
    line.program = line.program or said.program
    line.source = line.source or ("kernel" if said.program == "kernel" else "")


def _complete(record: Record, raw: str, node: str) -> None:
    """Fill in what only the intake knows, in place: the record is fresh and nobody else holds it."""
    if raw and not isinstance(record, Relation) and not record.raw:
        record.raw = raw
    if node and not record.node:
        record.node = node
