"""Text in, records out: one input after the other, block by block; afterwards hosts, years and clocks are settled.

Memory stays flat: an input is read in blocks of about 1 MB cut at a newline; a structure that is open at the cut is carried
over to the next one. What of a long input gets a closer look, `collectors.attention` says; repeats are thinned out
(`collectors.thinning`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from types import ModuleType

from collectors.attention import Attention
from collectors.block import Reader, RefusedError
from collectors.blocks import read_blocks, tell_ends
from collectors.encoding import Utf8Stream
from collectors.envelopes import ANSI, Answer, Envelope, has_lone_returns, is_answer, read_answer, tell_envelope
from collectors.filtered import Filter, find_filters
from collectors.hits import MOST_LINE, BlockHits, Reading
from collectors.intake import Input, Intake, text_input
from collectors.notes import Note
from collectors.observation import Record, Relation
from collectors.prefixed import PrefixedTables
from collectors.registry import Registry
from collectors.scan import LineCounter, Scanner
from collectors.settling import settle
from collectors.thinning import Thinner

MOST_DOCUMENT = 64 << 20  # bytes of an input that is read as a whole
_LOOKED_AT = 1 << 18  # bytes of an input by which its form is told
_SAMPLE_LINES = 400
_SAMPLES = 8


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
        yield _Reader(one, scanner, registry).run()


class _Reader:
    """Reads one input."""

    def __init__(self, source: Input, scanner: Scanner, registry: Registry) -> None:
        self.source, self.scanner, self.registry = source, scanner, registry
        self.intake = Intake(source.name)
        self.reading = Reading(self.intake, scanner, registry)
        self.attention = Attention(scanner)
        self.thinner = Thinner()
        self.prefixed = PrefixedTables(source.name, scanner, registry)
        self.filters: list[Filter] = []  # of the first lines
        self.envelope: Envelope | None = None
        self.coloured: dict[int, bytes] = {}  # by line, how it stands in the input where its colours were taken out
        self.originals: dict[int, bytes] = {}  # the same for whatever is read as something else than it is

    def run(self) -> Intake:
        stream = Utf8Stream(self.source.stream)
        module = self.registry.document_of(stream.head)
        if module is not None and self._read_document(module, stream):
            return self.intake
        if stream.encoding == "binary":
            self.intake.kind = "binary"
            self.intake.notes.append(Note.of("not-text"))
            return self.intake
        if stream.encoding != "utf-8":
            self.intake.notes.append(Note.of("encoding", name=stream.encoding.upper()))
        stream = self._open_answer(stream)
        carried, first = b"", 1
        for number, (data, last, at_end) in enumerate(tell_ends(read_blocks(stream))):
            size = len(data)
            if b"\r" in data and b"\r\n" in data:
                data = data.replace(b"\r\n", b"\n")
            coloured: dict[int, bytes] = {}
            if b"\x1b" in data:
                begin = first + carried.count(b"\n")
                coloured = {begin + place: raw for place, raw in enumerate(data.split(b"\n")) if b"\x1b" in raw}
                data = ANSI.sub(b"", data)
            if not self.intake.bytes and self.envelope is None:
                self.envelope = tell_envelope(data[:_LOOKED_AT])
            if self.envelope is not None:
                data = self._open_envelope(self.envelope, data, first, first + carried.count(b"\n"), last)
            if coloured or self.coloured:
                self.coloured = {number: raw for number, raw in self.coloured.items() if number >= first} | coloured
                self.originals |= self.coloured
            if not self.intake.bytes:
                self._recognise(data)
            self.intake.bytes += size
            self.attention.enter(number, at_end=at_end)
            carried, first = self._read_block(carried + data if carried else data, first, last)
        self.intake.lines = first - 1
        self.intake.records = self.thinner.records() + [one.observe(self.source.name) for one in self.filters]
        self.intake.notes += [note for one in self.filters if (note := one.note())]
        if self.thinner.note():
            self.intake.notes.append(self.thinner.note())
        if self.attention.told:
            self.intake.notes.append(Note.of("told", count=self.attention.told))
        if self.attention.passed_over:
            self.intake.notes.append(Note.of("sampled"))
        if self.attention.is_tired:
            self.intake.notes.append(Note.of("circumstances"))
        return self.intake

    def _open_answer(self, stream: Utf8Stream) -> Utf8Stream:
        """Return the messages of a JSON answer as a stream of lines; any other stream as it is."""
        if has_lone_returns(stream.head):
            stream.returns = True
            self.intake.notes.append(Note.of("carriage-returns"))
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
        self.reading.says = {number: said for number, said in self.reading.says.items() if number >= kept}
        self.reading.says |= {first + place: said for place, said in opened.carried.items()}
        if envelope.cites_original:
            self.originals = {number: raw for number, raw in self.originals.items() if number >= kept}
            self.originals |= dict(enumerate(data.split(b"\n"), first))
        return opened.data

    def _read_document(self, module: ModuleType, stream: Utf8Stream) -> bool:
        """Read an input that is one document as a whole; tell whether it was one. A refused one is still read as text."""
        data = stream.look_at(MOST_DOCUMENT + 1)
        try:
            if len(data) > MOST_DOCUMENT:
                raise RefusedError(Note.of("larger-than-megabytes", size=MOST_DOCUMENT >> 20))
            records = list(module.parse_document(self.source.name, data))
        except RefusedError as error:
            if stream.encoding == "binary" or not data[:1].isascii():
                self.intake.notes.append(Note.of("refused-document", source=module.SOURCE, reason=error.args[0]))
            return False
        except Exception as error:  # noqa: BLE001  as in `_parse`
            name = module.__name__.rpartition(".")[2]
            self.intake.notes.append(Note.of("unreadable", collector=name, error=type(error).__name__))
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
        sample = data[:_LOOKED_AT].split(b"\n")[:_SAMPLE_LINES]
        head = sum(map(len, sample)) + len(sample)
        for place in range(1, _SAMPLES):  # jobs begin with pages of shell traces and settings
            start = max(len(data) * place // _SAMPLES, head)
            sample += data[start : start + 16384].split(b"\n")[1 : 1 + _SAMPLE_LINES // _SAMPLES]
        self.intake.kinds = self.registry.recognise(raw.decode("utf-8", "replace") for raw in sample if raw.strip())
        if self.intake.kinds:
            self.intake.kind = max(self.intake.kinds, key=lambda kind: (self.intake.kinds[kind], kind))
            first = [raw.decode("utf-8", "replace") for raw in sample[:_SAMPLE_LINES]]
            self.filters = find_filters(first, self.registry.recognise)

    def _read_block(self, block: bytes, first: int, last: bool) -> tuple[bytes, int]:
        """Read one block; return the bytes to carry over and the number of the next line."""
        counter, attention = LineCounter(block, first), self.attention
        found = BlockHits(self.reading, block, last=last)
        if attention.end:
            found.add_tables(self.prefixed.read(block, first, self._parse_block))
        for hit in self.scanner.find(block, whole=attention.whole, passed=attention.passed):
            if attention.is_told(hit, block):
                self.intake.recognised += 1
                continue
            attention.count(hit)
            found.add(hit, counter.at(hit.start))
        offset, line = found.finish()
        if self.originals:
            self._cite_originals(found.records)
        self.thinner.add(found.records)
        if offset >= 0:
            return block[offset:], line
        return b"", counter.at(len(block)) + (1 if last and block and not block.endswith(b"\n") else 0)

    def _parse_block(self, module: ModuleType, reader: Reader, number: int) -> list[Record]:
        return self.reading.parse(module.parse_block, reader, module, number)

    def _cite_originals(self, records: Iterable[Record]) -> None:
        """Have fresh records cite the lines of the input, not what was taken out of them."""
        for record in records:
            if not isinstance(record, Relation) and record.line in self.originals:
                record.raw = self.originals[record.line][:MOST_LINE].decode("utf-8", "replace")


__all__ = ["Input", "Intake", "read_each", "read_inputs", "settle", "text_input"]
