"""Text in, records out: scan, wake the collectors, read the rules' captures, settle hosts and years.

Memory stays flat: an input is read in blocks of about 4 MB cut at a newline; a block of structured text that is open at
the cut is carried over to the next one.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import BinaryIO

from collectors.block import Reader
from collectors.clock import choose_year, is_without_year
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line, peel
from collectors.registry import UNEXPLAINED, Registry
from collectors.scan import Hit, LineCounter, Scanner

BLOCK = 4 << 20  # bytes
MOST_CARRY = 4 << 20  # bytes of an open block that are taken over
MOST_UNEXPLAINED = 2000  # lines of one input that are kept for grouping
_SAMPLE_LINES = 400

# Groups of a rule's pattern that name an entity, in the order of how well they identify it.
_ENTITY_GROUPS = (
    "gpu",
    "nic",
    "pod",
    "filesystem",
    "volume",
    "job",
    "queue",
    "rank",
    "namespace",
    "pcie_device",
    "process",
    "container",
)


@dataclass(slots=True)
class Input:
    """One text handed over: a name that citations use, and its bytes."""

    name: str
    stream: BinaryIO


@dataclass(slots=True)
class Intake:
    """What was read from one input."""

    name: str
    kind: str = "unknown"
    kinds: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    bytes: int = 0
    recognised: int = 0
    unexplained: int = 0
    notes: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)


def text_input(name: str, text: str | bytes) -> Input:
    """Make an input of a text in memory."""
    return Input(name, io.BytesIO(text.encode("utf-8", "replace") if isinstance(text, str) else text))


def read_inputs(inputs: Sequence[Input], scanner: Scanner, registry: Registry, *, now: float) -> list[Intake]:
    """Read all inputs; `now` (seconds since the epoch) places times without a year when no input shows one."""
    intakes = [_Reading(one, scanner, registry).run() for one in inputs]
    _settle_hosts(intakes)
    _settle_years(intakes, now)
    return intakes


class _Reading:
    """Reads one input."""

    def __init__(self, source: Input, scanner: Scanner, registry: Registry) -> None:
        self.source, self.scanner, self.registry = source, scanner, registry
        self.intake = Intake(source.name)
        self.host = ""  # of the last shell prompt
        self.block_ends: dict[str, int] = {}
        self.open_block: tuple[int, int] | None = None  # offset and line of a block that the cut may have broken

    def run(self) -> Intake:
        carried, first, counted = b"", 1, False
        for data, last in _blocks(self.source.stream):
            if not counted:
                counted = True
                if _is_binary(data[:65536]):
                    self.intake.kind = "binary"
                    self.intake.notes.append("not text: looked at nothing")
                    return self.intake
                data = _decode(data, self.intake)
                self._recognise(data)
            self.intake.bytes += len(data)
            block = carried + data
            carried, first = self._read_block(block, first, last)
        self.intake.lines = first - 1
        return self.intake

    def _recognise(self, data: bytes) -> None:
        sample = [raw.decode("utf-8", "replace") for raw in data[:262144].split(b"\n")[:_SAMPLE_LINES] if raw.strip()]
        self.intake.kinds = self.registry.recognise(sample)
        if self.intake.kinds:
            self.intake.kind = max(self.intake.kinds, key=lambda kind: (self.intake.kinds[kind], kind))

    def _read_block(self, block: bytes, first: int, last: bool) -> tuple[bytes, int]:
        """Read one block; return the bytes to carry over and the number of the next line."""
        counter = LineCounter(block, first)
        self.block_ends, self.open_block = {}, None
        folded: list[Observation] = []
        raw_hits: set[tuple[str, int]] = set()
        mark = len(self.intake.records)
        spans: list[tuple[int, int, str, str]] = []  # first line, last line, source, node of the blocks read so far
        for hit in self.scanner.find(block):
            number = counter.at(hit.start)
            self._read_hit(block, hit, number, last, folded, raw_hits, spans)
        self.intake.records.extend(self._scan_folded(folded, raw_hits))
        if self.open_block is not None and not last and len(block) - self.open_block[0] <= MOST_CARRY:
            offset, line = self.open_block
            kept = [one for one in self.intake.records[mark:] if one.line < line]
            self.intake.records[mark:] = kept
            return block[offset:], line
        total = first + block.count(b"\n") + (1 if last and block and not block.endswith(b"\n") else 0)
        return b"", total

    def _read_hit(
        self,
        block: bytes,
        hit: Hit,
        number: int,
        last: bool,
        folded: list[Observation],
        raw_hits: set[tuple[str, int]],
        spans: list[tuple[int, int, str, str]],
    ) -> None:
        raw = block[hit.start : hit.end].decode("utf-8", "replace").rstrip("\r")
        line = peel(self.source.name, number, raw)
        patterns = self.scanner.patterns
        known, woken = False, ""
        records: list[Record] = []
        done: set[str] = set()
        for index, _ in hit.found:
            form, _, rest = patterns[index].key.partition(":")
            if form == "block":
                module = self.registry.woken_by(patterns[index].key)
                if hit.start >= self.block_ends.get(module.__name__, 0):
                    self._read_structure(block, hit, number, last, module, folded, spans)
                known = True
            elif form == "line" and rest.rpartition(":")[0] not in done:
                done.add(rest.rpartition(":")[0])
                module = self.registry.woken_by(patterns[index].key)
                found = list(module.parse_line(line))
                if found:
                    known, woken = True, module.SOURCE
                    records.extend(found)
        span = next((one for one in reversed(spans) if one[0] <= number <= one[1]), None)
        if line.host:
            self.intake.hosts[line.host] += 1
        node = line.host or (span[3] if span else "") or self.host
        source = (span[2] if span else "") or line.source or woken or self.intake.kind
        for index, groups in hit.found:
            pattern = patterns[index]
            if not pattern.capture:
                continue
            known = True
            raw_hits.add((pattern.key, number))
            records.append(_text_hit(pattern.key, groups, line, source, node))
        for record in records:
            self.intake.records.append(_complete(record, raw, node))
            if isinstance(record, Observation) and record.kind == "command":
                self.host = record.node
                if record.node:
                    self.intake.hosts[record.node] += 1
        if known:
            self.intake.recognised += 1
        elif span is None or span[2] != "kube-objects":
            self._keep_unexplained(line, source, node)

    def _keep_unexplained(self, line: Line, source: str, node: str) -> None:
        self.intake.unexplained += 1
        if self.intake.unexplained <= MOST_UNEXPLAINED:
            self.intake.records.append(
                Observation(
                    source,
                    "unexplained",
                    line.input,
                    line.number,
                    line.number,
                    line.text[:2000],
                    time=line.time,
                    node=node,
                    raw=line.raw,
                )
            )

    def _read_structure(
        self,
        block: bytes,
        hit: Hit,
        number: int,
        last: bool,
        module: ModuleType,
        folded: list[Observation],
        spans: list[tuple[int, int, str, str]],
    ) -> None:
        reader = Reader(block, hit.start, number, self.source.name, node=self.host, complete=last)
        records = list(module.parse_block(reader))
        if reader.offset <= hit.start:
            return
        self.block_ends[module.__name__] = reader.offset
        if reader.at_end and not last and (self.open_block is None or hit.start < self.open_block[0]):
            self.open_block = (hit.start, number)
        if reader.node and reader.node != self.host:
            self.intake.hosts[reader.node] += 1
        lines = block[hit.start : reader.offset].split(b"\n")
        spans.append((number, reader.number - 1, module.SOURCE, reader.node))
        self.intake.kinds[module.SOURCE] += 1
        for record in records:
            place = record.line - number
            raw = lines[place].decode("utf-8", "replace").rstrip("\r") if 0 <= place < len(lines) else ""
            record = _complete(record, raw, reader.node)
            self.intake.records.append(record)
            if isinstance(record, Observation) and record.line_end > record.line and record.text:
                folded.append(record)

    def _scan_folded(self, folded: list[Observation], raw_hits: set[tuple[str, int]]) -> Iterator[Record]:
        """Match the rules against messages that were folded over several lines."""
        if not folded:
            return
        block = b"\n".join(one.text.replace("\n", " ").encode() for one in folded)
        counter = LineCounter(block, 0)
        for hit in self.scanner.find(block):
            whole = folded[counter.at(hit.start)]
            for index, groups in hit.found:
                key = self.scanner.patterns[index].key
                if not self.scanner.patterns[index].capture:
                    continue
                if any((key, number) in raw_hits for number in range(whole.line, whole.line_end + 1)):
                    continue
                line = Line(whole.input, whole.line, whole.raw, whole.text, whole.time)
                found = _text_hit(key, groups, line, whole.source, whole.node)
                yield replace(found, line_end=whole.line_end, entity=found.entity or whole.entity, raw=whole.raw)


def _text_hit(key: str, groups: dict[str, str], line: Line, source: str, node: str) -> Observation:
    """Make the observation of a rule's pattern: its named groups become attributes, and name the entity."""
    attributes = {**line.labels, **groups}
    if line.rank and "rank" not in attributes:
        attributes["rank"] = line.rank
    if line.uptime is not None:
        attributes["uptime"] = f"{line.uptime:.6f}"
    return Observation(
        source,
        "text",
        line.input,
        line.number,
        line.number,
        line.text,
        code=key,
        time=line.time,
        node=groups.get("node", "") or node,
        entity=name_entity(attributes),
        attributes=attributes,
        raw=line.raw,
    )


def name_entity(attributes: dict[str, str]) -> str:
    """Return the entity that captured groups name: a PCI address or UUID before an index, a GPU before its rank."""
    from collectors.identity import normalise_pci

    if attributes.get("pci"):
        return "gpu:" + (normalise_pci(attributes["pci"]) or attributes["pci"])
    if attributes.get("uuid"):
        return "gpu:" + attributes["uuid"]
    for group in _ENTITY_GROUPS:
        if attributes.get(group):
            value = attributes[group]
            return f"{group}:{normalise_pci(value) or value}" if group == "pcie_device" else f"{group}:{value}"
    return ""


def _complete(record: Record, raw: str, node: str) -> Record:
    if isinstance(record, Observation):
        return replace(record, raw=record.raw or raw, node=record.node or node)
    return replace(record, node=record.node or node)


def _settle_hosts(intakes: Sequence[Intake]) -> None:
    """Give a node to records that name none: the only host of the input, or one that the input's name contains.

    A host in the name counts only when another input's text knows that host.
    """
    known = {host for one in intakes for host in one.hosts}
    for one in intakes:
        host = ""
        if len(one.hosts) == 1:
            host = next(iter(one.hosts))
        elif not one.hosts:
            named = [name for name in known if name and name in one.name.lower()]
            longest = [name for name in named if not any(name != other and name in other for other in named)]
            host = longest[0] if len(longest) == 1 else ""
            if host:
                one.notes.append(f"taken for {host} by the input's name")
        if host:
            one.records = [replace(record, node=host) if not record.node else record for record in one.records]


def _settle_years(intakes: Sequence[Intake], now: float) -> None:
    """Place times without a year in the latest year that any input shows, else in the year before `now`."""
    times = [
        record.time for one in intakes for record in one.records if not isinstance(record, Relation) and record.time
    ]
    latest = max((time for time in times if not is_without_year(time)), default=now)
    for one in intakes:
        one.records = [
            replace(record, time=choose_year(record.time, latest))
            if not isinstance(record, Relation) and record.time is not None and is_without_year(record.time)
            else record
            for record in one.records
        ]


def _blocks(stream: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Yield (bytes, whether they are the last) cut at newlines."""
    rest = b""
    while True:
        data = stream.read(BLOCK)
        if not data:
            if rest:
                yield rest, True
            return
        data = rest + data
        cut = data.rfind(b"\n") + 1
        if cut == 0 and len(data) < 16 * BLOCK:
            rest = data
            continue
        cut = cut or len(data)
        rest = data[cut:]
        following = stream.read(1)
        if not following and not rest:
            yield data, True
            return
        rest += following
        yield data[:cut], False


def _is_binary(sample: bytes) -> bool:
    if sample[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    control = sum(sample.count(bytes([code])) for code in (*range(9), *range(14, 27)))
    return len(sample) > 0 and control > 0.05 * len(sample)


def _decode(data: bytes, intake: Intake) -> bytes:
    """Return UTF-8; other encodings are told by a byte order mark or by being valid GB18030 and not UTF-8."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        intake.notes.append("UTF-16")
        return data.decode("utf-16", "replace").encode()
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:]
    try:
        data[:65536].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < min(len(data), 65536) - 4:
            try:
                text = data.decode("gb18030")
            except UnicodeDecodeError:
                return data
            intake.notes.append("GB18030")
            return text.encode()
    return data


def count_records(intakes: Iterable[Intake]) -> int:
    """Return how many records were read."""
    return sum(len(one.records) for one in intakes)


__all__ = ["UNEXPLAINED", "Input", "Intake", "count_records", "name_entity", "read_inputs", "text_input"]
