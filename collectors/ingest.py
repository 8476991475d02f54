"""Text in, records out: scan, wake the collectors, read the rules' captures, settle hosts and years.

Memory stays flat: an input is read in blocks of about 2 MB cut at a newline; a block of structured text that is open at
the cut is carried over to the next one. Of a long input, routine lines (steps, transports: what a collector names in
`ROUTINE`) and the heads of tables are looked for at its beginning, at its end and in a sample between, and go on being
looked for where tables follow each other. Repeats are thinned out (`collectors.thinning`).
"""

from __future__ import annotations

import io
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, BinaryIO

from collectors.block import Reader, RefusedError
from collectors.clock import choose_year, is_possible, is_without_year
from collectors.encoding import Utf8Stream
from collectors.envelope import Answer, Envelope, has_lone_returns, is_answer, read_answer, tell_envelope
from collectors.identity import normalise_node, normalise_pci
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line, peel
from collectors.registry import UNEXPLAINED, Registry
from collectors.scan import Hit, LineCounter, Scanner
from collectors.thinning import Thinner
from collectors.transport import Carried

BLOCK = 2 << 20  # bytes
WHOLE_BLOCKS = 2  # blocks at the beginning and at the end of an input that are scanned with every pattern
SAMPLED_BLOCKS = 16  # between them, every sixteenth block
MANY_SHAPES = 100  # heads of tables in a block from which on the next one is scanned with every pattern, too
MOST_CARRY = 4 << 20  # bytes of an open block that are taken over
MOST_REFUSED = 200_000  # lines that a collector may take in vain, beside four times those of the input so far
MOST_DOCUMENT = 64 << 20  # bytes of an input that is read as a whole
MOST_LINE = (
    16 << 10
)  # bytes of one line that a collector gets to see: some patterns take time that grows with its square
MOST_NOTES = 20  # remarks on one input
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

# Sources whose blocks are read field by field: a word such as "Error" in them is a field's name, not a message.
_READ_WHOLE = frozenset({"kube-objects", "nvidia-smi", "metrics"})


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


def read_inputs(inputs: Iterable[Input], scanner: Scanner, registry: Registry, *, now: float) -> list[Intake]:
    """Read all inputs; `now` (seconds since the epoch) places times without a year when no input shows one.

    `inputs` may be a generator: each is read to its end before the next is taken.
    """
    intakes = list(read_each(inputs, scanner, registry))
    settle(intakes, now=now)
    return intakes


def read_each(inputs: Iterable[Input], scanner: Scanner, registry: Registry) -> Iterator[Intake]:
    """Yield what each input says by itself; `settle` all of them together afterwards."""
    for one in inputs:
        yield _Reading(one, scanner, registry).run()


def settle(intakes: Sequence[Intake], *, now: float) -> None:
    """Give hosts and years to records of inputs that leave them to the others."""
    _settle_hosts(intakes)
    _settle_years(intakes, now)


class _Reading:
    """Reads one input."""

    def __init__(self, source: Input, scanner: Scanner, registry: Registry) -> None:
        self.source, self.scanner, self.registry = source, scanner, registry
        self.intake = Intake(source.name)
        self.host = ""  # of the last shell prompt
        self.block_ends: dict[str, int] = {}
        self.refused: Counter[str] = Counter()  # by collector, lines that it took and gave back
        self.open_block: tuple[int, int] | None = None  # offset and line of a block that the cut may have broken
        self.before_open: tuple[int, int, Counter[str], Counter[str], str] | None = None  # what was counted before it
        self.thinner = Thinner()
        self.woken: dict[int, tuple[str, ModuleType | None]] = {}  # by pattern
        self.fresh: list[Record] = []  # of the block that is read
        self.passed_over = False  # whether some block was not scanned with every pattern
        self.shapes = 0  # hits of shape patterns in the block
        self.about: dict[int, Observation] = {}  # by line, what a structure of this block says about an entity there
        self.envelope: Envelope | None = None
        self.says: dict[int, Carried] = {}  # by line, what the envelope says of it
        self.originals: dict[int, bytes] = {}  # by line, how it stands in the input where that is not what is read

    def run(self) -> Intake:
        stream = Utf8Stream(self.source.stream)
        module = self.registry.document_of(stream.head)
        if module is not None and self._read_document(module, stream):
            return self.intake
        if stream.encoding == "binary":
            self.intake.kind = "binary"
            self.intake.notes.append("not text: looked at nothing")
            return self.intake
        if stream.encoding != "utf-8":
            self.intake.notes.append(stream.encoding.upper())
        stream = self._open_answer(stream)
        carried, first = b"", 1
        for number, (data, last, near_end) in enumerate(_look_ahead(_blocks(stream), WHOLE_BLOCKS)):
            size = len(data)
            if b"\r" in data and b"\r\n" in data:
                data = data.replace(b"\r\n", b"\n")
            if not self.intake.bytes and self.envelope is None:
                self.envelope = tell_envelope(data[:262144])
            if self.envelope is not None:
                data = self._open_envelope(self.envelope, data, first, first + carried.count(b"\n"), last)
            if not self.intake.bytes:
                self._recognise(data)
            self.intake.bytes += size
            whole = number < WHOLE_BLOCKS or near_end or number % SAMPLED_BLOCKS == 0 or self.shapes >= MANY_SHAPES
            carried, first = self._read_block(carried + data, first, last, whole)
        self.intake.lines = first - 1
        self.intake.records = self.thinner.records()
        if self.thinner.note():
            self.intake.notes.append(self.thinner.note())
        if self.passed_over:
            self.intake.notes.append("long: routine lines and tables looked for at both ends and in a sample between")
        return self.intake

    def _open_answer(self, stream: Utf8Stream) -> Utf8Stream:
        """Return the messages of a JSON answer as a stream of lines; any other stream as it is."""
        if has_lone_returns(stream.head):
            stream.returns = True
            self.intake.notes.append("carriage returns end its lines")
        if stream.encoding != "utf-8" or not is_answer(stream.head):
            return stream
        data = stream.look_at(MOST_DOCUMENT + 1)
        messages = read_answer(data) if len(data) <= MOST_DOCUMENT else None
        if messages is None:
            return stream
        self.envelope = answer = Answer(messages)
        return Utf8Stream(io.BytesIO(answer.text))

    def _open_envelope(self, envelope: Envelope, data: bytes, kept: int, first: int, last: bool) -> bytes:
        """Return the plain lines of a block, and keep what the envelope says of them; `kept` is the first line still in use."""
        if envelope.note and envelope.note not in self.intake.notes:
            self.intake.notes.append(envelope.note)
        opened = envelope.open(data, last)
        self.says = {number: said for number, said in self.says.items() if number >= kept}
        self.says |= {first + place: said for place, said in opened.carried.items()}
        if envelope.cites_original:
            self.originals = {number: raw for number, raw in self.originals.items() if number >= kept}
            self.originals |= dict(enumerate(data.split(b"\n"), first))
        return opened.data

    def _cite_originals(self) -> None:
        """Have the fresh records cite the lines of the input, not what was taken out of them."""
        for record in self.fresh:
            if not isinstance(record, Relation) and record.line in self.originals:
                raw = self.originals[record.line][:MOST_LINE].decode("utf-8", "replace")
                object.__setattr__(record, "raw", raw)  # nobody else holds it yet

    def _read_document(self, module: ModuleType, stream: Utf8Stream) -> bool:
        """Read an input that is one document as a whole; tell whether it was one. A refused one is still read as text."""
        data = stream.look_at(MOST_DOCUMENT + 1)
        try:
            if len(data) > MOST_DOCUMENT:
                raise RefusedError(f"larger than {MOST_DOCUMENT >> 20} MB")
            records = list(module.parse_document(self.source.name, data))
        except RefusedError as error:
            if stream.encoding == "binary" or not data[:1].isascii():
                self.intake.notes.append(f"{module.SOURCE}: refused, {error}")
            return False
        except Exception as error:  # noqa: BLE001  as in `_parse`
            name = module.__name__.rpartition(".")[2]
            self.intake.notes.append(f"{name} could not read it ({type(error).__name__})")
            return False
        self.intake.kind = module.SOURCE
        self.intake.kinds[module.SOURCE] += 1
        self.intake.bytes = len(data)
        last = max((one.line for one in records), default=0)
        self.intake.lines = last if stream.encoding == "binary" else data.count(b"\n") + (not data.endswith(b"\n"))
        self.intake.recognised = len({one.line for one in records})
        self.intake.records = records
        return True

    def _recognise(self, data: bytes) -> None:
        sample = [raw.decode("utf-8", "replace") for raw in data[:262144].split(b"\n")[:_SAMPLE_LINES] if raw.strip()]
        self.intake.kinds = self.registry.recognise(sample)
        if self.intake.kinds:
            self.intake.kind = max(self.intake.kinds, key=lambda kind: (self.intake.kinds[kind], kind))

    def _read_block(self, block: bytes, first: int, last: bool, whole: bool) -> tuple[bytes, int]:
        """Read one block; return the bytes to carry over and the number of the next line."""
        counter = LineCounter(block, first)
        self.block_ends, self.open_block, self.about = {}, None, {}
        folded: list[Observation] = []
        raw_hits: set[tuple[str, int]] = set()
        self.fresh = []
        self.passed_over = self.passed_over or not whole
        spans: list[tuple[int, int, str, str]] = []  # first line, last line, source, node of the blocks read so far
        shapes = self.scanner.shapes if whole and not last else frozenset[int]()
        self.shapes = 0
        for hit in self.scanner.find(block, whole=whole):
            if hit.found[0][0] in shapes:
                self.shapes += 1
            number = counter.at(hit.start)
            if self._is_settled(hit, spans):
                continue
            self._read_hit(block, hit, number, last, folded, raw_hits, spans)
        self.fresh.extend(self._scan_folded(folded, raw_hits))
        offset, line = self._take_back(len(block)) if not last else (-1, 0)
        if self.originals:
            self._cite_originals()
        self.thinner.add(self.fresh)
        if offset >= 0:
            return block[offset:], line
        total = counter.at(len(block)) + (1 if last and block and not block.endswith(b"\n") else 0)
        return b"", total

    def _is_settled(self, hit: Hit, spans: Sequence[tuple[int, int, str, str]]) -> bool:
        """Count, without a closer look, a line that only looks like an error once enough such lines are kept, and a line
        inside a structure that has been read already."""
        if len(hit.found) > 1:
            return False
        form, module = self._woken_by(hit.found[0][0])
        if form == UNEXPLAINED.key:
            if self.intake.unexplained < MOST_UNEXPLAINED or spans:
                return False
            self.intake.unexplained += 1
            return True
        if form != "block" or module is None or hit.start >= self.block_ends.get(module.__name__, 0):
            return False
        self.intake.recognised += 1
        return True

    def _woken_by(self, index: int) -> tuple[str, ModuleType | None]:
        """Return what a pattern is for: `line` or `block` and the collector it wakes; others stand for themselves."""
        known = self.woken.get(index)
        if known is None:
            key = self.scanner.patterns[index].key
            form = key.partition(":")[0]
            module = self.registry.woken_by(key) if form in ("line", "block") else None
            known = self.woken[index] = (form, module)
        return known

    def _take_back(self, size: int) -> tuple[int, int]:
        """Forget what was read of a block that is open at the cut; return its offset (-1: there is none) and line."""
        if self.open_block is None or self.before_open is None or size - self.open_block[0] > MOST_CARRY:
            return -1, 0
        offset, line = self.open_block
        intake = self.intake
        self.fresh = [one for one in self.fresh if one.line < line]
        intake.recognised, intake.unexplained, intake.hosts, intake.kinds, self.host = self.before_open
        return offset, line

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
        raw = block[hit.start : min(hit.end, hit.start + MOST_LINE)].decode("utf-8", "replace").rstrip("\r")
        line = peel(self.source.name, number, raw)
        said = self.says.get(number)
        if said is not None:
            _take_over(line, said)
        patterns = self.scanner.patterns
        known, woken = False, ""
        records: list[Record] = []
        done: list[ModuleType] = []
        for index, _ in hit.found:
            form, module = self._woken_by(index)
            if module is None:
                continue
            if form == "block":
                if hit.start >= self.block_ends.get(module.__name__, 0):
                    self._read_structure(block, hit, number, last, module, folded, spans)
                known = True
            elif module not in done:
                done.append(module)
                found = self._parse(module.parse_line, line, module, number)
                if found:
                    known, woken = True, module.SOURCE
                    records.extend(found)
        parsed = next((one for one in records if isinstance(one, Observation) and one.entity), None)
        if spans:
            spans[:] = [one for one in spans if number <= one[1]]
        span = spans[-1] if spans else None
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
            records.append(
                _inherit(_text_hit(pattern.key, groups, line, source, node), parsed or self.about.get(number))
            )
        for record in records:
            self._follow(record)
            self.fresh.append(_complete(record, raw, node))
        if known:
            self.intake.recognised += 1
        elif span is None or span[2] not in _READ_WHOLE:
            self._keep_unexplained(line, source, node)

    def _parse(
        self, parse: Callable[[Any], Iterator[Record]], what: Line | Reader, module: ModuleType, number: int
    ) -> list[Record]:
        """Return what a collector makes of a line or block. A collector that fails costs its facts and a note, no more."""
        try:
            return list(parse(what))
        except Exception as error:  # noqa: BLE001  whatever a collector trips over
            note = f"{module.__name__.rpartition('.')[2]} could not read line {number} ({type(error).__name__})"
            if len(self.intake.notes) < MOST_NOTES:
                self.intake.notes.append(note)
            return []

    def _follow(self, record: Record) -> None:
        """Take the lines below a prompt for those of its host; a lone `#` may as well be a comment."""
        if isinstance(record, Observation) and record.kind == "command":
            if record.node or record.attributes.get("prompt") != "#":
                self.host = record.node
            if record.node:
                self.intake.hosts[record.node] += 1

    def _keep_unexplained(self, line: Line, source: str, node: str) -> None:
        self.intake.unexplained += 1
        if self.intake.unexplained <= MOST_UNEXPLAINED:
            self.fresh.append(
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
        if self.refused[module.__name__] > MOST_REFUSED + 4 * number:
            return  # heads without end, each of which would be read to the end in vain
        said = self.says.get(number)
        host = normalise_node(said.host) if said is not None and said.host else self.host
        reader = Reader(block, hit.start, number, self.source.name, node=host, complete=last)
        records = self._parse(module.parse_block, reader, module, number)
        if (reader.at_end or reader.met_end) and not last and self.open_block is None:
            self.open_block = (hit.start, number)
            one = self.intake
            self.before_open = (one.recognised, one.unexplained, one.hosts.copy(), one.kinds.copy(), self.host)
        if reader.offset <= hit.start:
            self.refused[module.__name__] += reader.taken
            return
        self.block_ends[module.__name__] = reader.offset
        if reader.node and reader.node != self.host:
            self.intake.hosts[reader.node] += 1
        lines = block[hit.start : reader.offset].split(b"\n")
        spans.append((number, reader.number - 1, module.SOURCE, reader.node))
        self.intake.kinds[module.SOURCE] += 1
        for record in records:
            place = record.line - number
            raw = lines[place].decode("utf-8", "replace").rstrip("\r") if 0 <= place < len(lines) else ""
            record = _complete(record, raw, reader.node)
            self.fresh.append(record)
            if isinstance(record, Observation):
                if record.entity:
                    self.about.setdefault(record.line, record)
                quoted = ("''" in raw or "\\" in raw) and record.text not in raw
                if record.text and (record.line_end > record.line or quoted):
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
                found = _inherit(_text_hit(key, groups, line, whole.source, whole.node), whole)
                yield replace(found, line_end=whole.line_end, raw=whole.raw)


def _take_over(line: Line, said: Carried) -> None:
    """Add what an envelope says of a line; its time counts before that of the line, as it has date and zone."""
    line.time = said.time if said.time is not None else line.time
    line.host = line.host or normalise_node(said.host)
    line.program = line.program or said.program
    line.source = line.source or ("kernel" if said.program == "kernel" else "")


def _inherit(hit: Observation, parsed: Observation | None) -> Observation:
    """Give a hit that names no entity what a collector read on the same line: entity, node, time and attributes."""
    if parsed is None or hit.entity:
        return hit
    return replace(
        hit, entity=parsed.entity, node=parsed.node or hit.node, time=parsed.time if hit.time is None else hit.time,
        attributes={**parsed.attributes, **hit.attributes},
    )  # fmt: skip


def _text_hit(key: str, groups: Mapping[str, str], line: Line, source: str, node: str) -> Observation:
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
        node=normalise_node(groups.get("node", "")) or node,
        entity=name_entity(attributes),
        attributes=attributes,
        raw=line.raw,
    )


def name_entity(attributes: dict[str, str]) -> str:
    """Return the entity that captured groups name: a PCI address or UUID before an index, a GPU before its rank."""

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
    """Fill in what only the intake knows, in place: the record is fresh and nobody else holds it."""
    if raw and not isinstance(record, Relation) and not record.raw:
        object.__setattr__(record, "raw", raw)
    if node and not record.node:
        object.__setattr__(record, "node", node)
    return record


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
            named = [name for name in known if name and _is_word_of(name, one.name.lower())]
            longest = [name for name in named if not any(name != other and name in other for other in named)]
            host = longest[0] if len(longest) == 1 else ""
            if host:
                one.notes.append(f"taken for {host} by the input's name")
        if host:
            for record in one.records:
                if not record.node:
                    object.__setattr__(record, "node", host)  # nobody else holds it yet


def _is_word_of(name: str, text: str) -> bool:
    """Tell whether `text` has `name` with nothing around it that would make it another: node-1 is not in node-12.log."""
    return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None


def _settle_years(intakes: Sequence[Intake], now: float) -> None:
    """Place times without a year by the latest time with one that any input shows, else in the year before `now`."""
    timed = [
        record
        for one in intakes
        for record in one.records
        if not isinstance(record, Relation) and record.time is not None
    ]
    times = [record.time for record in timed if record.time is not None and is_possible(record.time)]
    latest = max((time for time in times if not is_without_year(time)), default=None)
    for record in timed:
        if record.time is None or not is_possible(record.time):  # a number that only looked like a time
            object.__setattr__(record, "time", None)
        elif is_without_year(record.time):
            object.__setattr__(record, "time", choose_year(record.time, latest, now))


def _blocks(stream: Utf8Stream) -> Iterator[tuple[bytes, bool]]:
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
        if not following:
            yield data, True
            return
        rest += following
        yield data[:cut], False


def _look_ahead(blocks: Iterator[tuple[bytes, bool]], most: int) -> Iterator[tuple[bytes, bool, bool]]:
    """Add to each block whether it is one of the last `most`."""
    waiting: deque[tuple[bytes, bool]] = deque()
    for block in blocks:
        waiting.append(block)
        if len(waiting) > most:
            yield *waiting.popleft(), False
    for block in waiting:
        yield *block, True


__all__ = [
    "UNEXPLAINED",
    "Input",
    "Intake",
    "name_entity",
    "read_each",
    "read_inputs",
    "settle",
    "text_input",
]
