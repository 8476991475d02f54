"""The machine-readable head of a case: YAML between two `---` lines, read with the line of every field.

Every scalar is text: no bare `no`, `65:00` or `0x1f` turns into something else. Anchors, aliases, tags and repeated
fields are refused.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

Place = tuple[str | int, ...]
Value = str | list[Any] | dict[str, Any]

HEAD_LIMIT = 16 * 1024
DEPTH_LIMIT = 4
MARK = "---"
# Control characters, line breaks other than \n, and characters that reorder the text around them.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Problem(NamedTuple):
    """One thing wrong in one file; `line` counts from 1."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


class CaseError(ValueError):
    """One or more cases cannot be used; the message has one `file:line: what was expected` per problem."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True)
class Head:
    """The fields as plain text, lists and mappings; where each stands in the file; and the Markdown below them."""

    values: dict[str, Any]
    body: str
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        """Return the line of a field, or of the nearest field around it, or 1."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read_head(text: str, *, name: str) -> Head:
    """Split a case file into head and body. Raises CaseError with `name` and the line."""
    text = text.replace("\r\n", "\n")
    if found := UNPRINTABLE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise CaseError([Problem(name, line, f"expected printable text, found U+{ord(found.group()):04X}")])
    rows = text.split("\n")
    if rows[0].rstrip() != MARK:
        raise CaseError([Problem(name, 1, f"expected '{MARK}' as the first line, then the YAML head")])
    end = next((number for number, row in enumerate(rows[1:], start=1) if row.rstrip() == MARK), None)
    if end is None:
        raise CaseError([Problem(name, len(rows), f"expected a line '{MARK}' that ends the head")])
    head = "\n".join(rows[1:end]) + "\n"
    if len(head.encode()) > HEAD_LIMIT:
        raise CaseError([Problem(name, 2, f"expected a head of at most {HEAD_LIMIT} bytes")])
    builder = _Builder(name, head)
    return Head(builder.document(), "\n".join(rows[end + 1 :]).strip("\n"), builder.lines)


class _Builder:
    """Build values from YAML events, so that places, repeats and aliases stay visible."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines: dict[Place, int] = {}
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=LOADER))

    def fail(self, line: int, text: str) -> CaseError:
        return CaseError([Problem(self.name, line, text)])

    def next(self) -> Any:
        try:
            event = next(self.events)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            raise self.fail(_line(mark) if mark else 2, f"expected YAML: {getattr(error, 'problem', error)}") from None
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self.fail(_line(event.start_mark), "expected no anchors or aliases; write the value out")
        if getattr(event, "tag", None) is not None:
            raise self.fail(_line(event.start_mark), "expected no YAML tags; quote the text instead")
        return event

    def document(self) -> dict[str, Any]:
        self.next()  # stream start
        if isinstance(self.next(), yaml.StreamEndEvent):
            raise self.fail(2, "expected fields, found an empty head")
        event = self.next()
        value = self.value(event, ())
        if not isinstance(value, dict):
            raise self.fail(_line(event.start_mark), "expected fields, one 'name: value' a line")
        self.next()  # document end
        following = self.next()
        if not isinstance(following, yaml.StreamEndEvent):
            raise self.fail(_line(following.start_mark), "expected one YAML document in the head")
        return value

    def value(self, event: Any, place: Place) -> Value:
        if len(place) > DEPTH_LIMIT:
            raise self.fail(_line(event.start_mark), f"expected at most {DEPTH_LIMIT} levels")
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(place)
        return str(event.value)

    def mapping(self, place: Place) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            line = _line(event.start_mark)
            if not isinstance(event, yaml.ScalarEvent):
                raise self.fail(line, "expected a plain field name")
            key = str(event.value)
            here = (*place, key)
            if key in values:
                raise self.fail(line, f"expected each field once; '{key}' is already on line {self.lines[here]}")
            self.lines[here] = line
            values[key] = self.value(self.next(), here)
        return values

    def sequence(self, place: Place) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            here = (*place, len(values))
            self.lines[here] = _line(event.start_mark)
            values.append(self.value(event, here))
        return values


def _line(mark: Any) -> int:
    """Turn a mark inside the head (from 0) into a line of the file (from 1, after the opening mark)."""
    return int(mark.line) + 2
