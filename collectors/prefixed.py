"""Tables and sections whose every line stands behind a prefix: taken out, line for line, and read as the tables they are.

A scan finds a log line behind any prefix; a table it does not, as its head has to begin the line, and as the lines of several
pods or tasks may stand between each other. Forms: `kubectl logs --prefix`, stern, docker compose, `[node3] ` and `node3: ` (clush,
pdsh), `3: ` (srun -l), `[1,3]<stdout>:` (Open MPI), `[rank3]:` (torchrun), Ray's `(Worker pid=, ip=)`, CRI and
`kubectl logs --timestamps` stamps, and JSON lines of Docker, Loki, Elasticsearch and the journal. Sample::

    node3: | NVIDIA-SMI 535.129.03             Driver Version: 535.129.03   CUDA Version: 12.2     |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Observation, Record, Relation
from collectors.registry import Registry
from collectors.scan import LineCounter, Scanner
from collectors.transport import unwrap

_LOOKED_AT = 400  # lines of a block by which it is told whether it has prefixes
_LEAST = 8  # lines of a short text that have to have one, or half of all
_SHORT = 1 << 18  # bytes
_STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?"
_HOST = rb"[A-Za-z][A-Za-z0-9.-]{0,60}\d[A-Za-z0-9.-]{0,60}"  # hosts of a cluster have a number in their name
_STEADY = (
    rb"(?:> ?)+",  # quoted in a mail
    rb"\[pod/[\w.-]+/[\w.-]+\] ",
    rb'\{(?:\w+="[^"\n]*"(?:, ?)?)+\} ',  # logcli
    rb"\x1b\[\d+m[a-z0-9.-]+\x1b\[0m \x1b\[\d+m[a-z0-9-]+\x1b\[0m ",  # stern, coloured
    rb"[a-z0-9]+(?:[.-][a-z0-9]+)+ [a-z0-9][a-z0-9-]* ",  # stern
    rb"[A-Za-z0-9][\w.-]* +\| ",  # docker compose
    rb"\[default\d+\]:",  # what torchrun and Open MPI put stands right before the text
    rb"\[rank\d+\]: ?",
    rb"\[\d+,\d+\](?:<std(?:out|err)>)?:",
    rb"\[" + _HOST + rb"\] ?",
    _HOST + rb":(?: |$)",
    rb"\d{1,5}:(?: |$)",
    rb"\([A-Za-z_][\w.:<>]*(?: \w+)*,? pid=\d+(?:, ip=[\d.]+)?\) ?",
)
_PREFIX = re.compile(rb"^(?:(?:%s)?(?:%s)(?:%s)?|%s)" % (_STAMP, rb"|".join(_STEADY), _STAMP, _STAMP), re.M)
_TIMES = re.compile(_STAMP)
_JSON = re.compile(rb'^\{[^\n]*?"(?:log|message|line|MESSAGE)": ?"((?:[^"\\\n]|\\.)*)"[^\n]*$', re.M)
_NODE = re.compile(rb"\[?(?!rank|default)(" + _HOST + rb")\]?:? ?$")
_ADDRESS = re.compile(rb"ip=([\d.]+)\)")


@dataclass(slots=True)
class Table:
    """What a table says: its records with the lines of the input, the numbers of its lines, its source."""

    records: list[Record]
    numbers: Sequence[int]
    source: str


class PrefixedTables:
    """Finds and reads the tables behind prefixes, block by block."""

    def __init__(self, name: str, scanner: Scanner, registry: Registry) -> None:
        self._name, self._scanner, self._registry = name, scanner, registry

    @property
    def _heads(self) -> Scanner:
        """What looks for heads of tables and for nothing else."""
        return self._scanner.part("block:")

    def read(
        self, block: bytes, first: int, parse: Callable[[ModuleType, Reader, int], list[Record]]
    ) -> Iterator[Table]:
        """Yield the tables of a block whose first line has the number `first`; `parse` runs a collector on a reader."""
        prefix = _tell(block)
        if prefix is None:
            return
        plain = prefix.sub(rb"\1" if prefix is _JSON else b"", block)
        if prefix is _JSON:
            plain = plain.replace(b'\\"', b'"').replace(b"\\t", b"\t")
        counter = LineCounter(plain, 0)
        heads = {counter.at(hit.start) for hit in self._heads.find(plain)}
        if not heads:
            return
        lines = block.split(b"\n")
        for key, places in _gather(prefix, lines, heads):
            yield from self._read_one(key, places, lines, first, parse)

    def _read_one(
        self, key: bytes, places: list[tuple[int, bytes]], lines: list[bytes], first: int,
        parse: Callable[[ModuleType, Reader, int], list[Record]],
    ) -> Iterator[Table]:  # fmt: skip
        """Yield the tables in the lines behind one prefix, which stand at `places`."""
        text = b"\n".join(line for _, line in places)
        counter = LineCounter(text, 0)
        ends: dict[str, int] = {}
        for hit in self._heads.find(text):
            at = counter.at(hit.start)
            for index, _ in hit.found:
                module = self._registry.woken_by(self._heads.patterns[index].key)
                if hit.start < ends.get(module.__name__, 0):
                    continue
                reader = Reader(text, hit.start, at, self._name, node=_host_of(key))
                found = parse(module, reader, first + places[at][0])
                if reader.offset <= hit.start:
                    continue
                ends[module.__name__] = reader.offset
                numbers = [place + first for place, _ in places]
                records = [_placed(record, numbers, lines, first, reader.node) for record in found]
                yield Table(records, numbers[at : reader.number], module.SOURCE)


def _tell(block: bytes) -> re.Pattern[bytes] | None:
    """Return the form of the prefixes that at least half of the first lines have, or eight of them in a short text."""
    end = -1
    for _ in range(_LOOKED_AT):
        end = block.find(b"\n", end + 1)
        if end < 0:
            break
    sample = block if end < 0 else block[:end]
    filled = sum(1 for line in sample.split(b"\n") if line.strip())
    for form in (_JSON, _PREFIX):
        count = sum(1 for _ in form.finditer(sample))
        if count >= 3 and (2 * count >= filled or (count >= _LEAST and len(block) <= _SHORT)):
            return form
    return None


def _gather(
    prefix: re.Pattern[bytes], lines: Sequence[bytes], heads: set[int]
) -> Iterator[tuple[bytes, list[tuple[int, bytes]]]]:
    """Yield, for each prefix with a head behind it, the places of its lines and what they hold, in order."""
    wanted = {_split(prefix, lines[place])[0] for place in heads if place < len(lines)}
    found: dict[bytes, list[tuple[int, bytes]]] = {}
    for place, line in enumerate(lines):
        key, text = _split(prefix, line)
        if key is not None and key in wanted:
            found.setdefault(key, []).append((place, text))
    yield from found.items()


def _split(prefix: re.Pattern[bytes], line: bytes) -> tuple[bytes | None, bytes]:
    """Return what a line shares with others of its kind, None when it has no prefix, and what stands behind that."""
    if prefix is _JSON:
        carried = unwrap(line.decode("utf-8", "replace")) if line[:1] == b"{" else None
        return (None, line) if carried is None else (carried.host.encode(), carried.text.encode("utf-8", "replace"))
    match = prefix.match(line) or prefix.match(line + b" ")  # an empty line of a table has lost its last blank
    return (None, line) if match is None else (_TIMES.sub(b"", match[0]), line[match.end() :])


def _host_of(key: bytes) -> str:
    match = _ADDRESS.search(key) or _NODE.fullmatch(key)
    return normalise_node(
        (match[1] if match else key if b" " not in key and key.isalnum() else b"").decode("ascii", "replace")
    )


def _placed(record: Record, numbers: Sequence[int], lines: Sequence[bytes], first: int, node: str) -> Record:
    """Return a record with the lines of the input in place of those of the text that was taken out."""
    line = numbers[min(record.line, len(numbers) - 1)]
    node = record.node or node
    if isinstance(record, Relation):
        return replace(record, line=line, node=node)
    raw = lines[line - first][: 16 << 10].decode("utf-8", "replace").rstrip("\r")
    if isinstance(record, Observation):
        last = numbers[min(record.line_end, len(numbers) - 1)]
        return replace(record, line=line, line_end=max(line, last), raw=raw, node=node)
    return replace(record, line=line, raw=raw, node=node)
