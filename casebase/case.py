"""One past incident: what was seen, what it turned out to be, and what helped.

A case is one Markdown file `<id>.md`: a YAML head between `---` lines, then prose. `casebase/README.md` shows one.
"""

import codecs
import datetime as dt
import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator

from casebase.head import CaseError, Place, Problem, read_head

__all__ = ["CHINESE", "Case", "CaseError", "Language", "Text", "parse_case", "read_case"]

Language = Literal["en", "zh"]
SLUG = "^[a-z0-9]+(-[a-z0-9]+)*$"
CAUSE = "^[a-z0-9]+[.][a-z0-9]+(-[a-z0-9]+)*$"
ENTITY = "^[a-z]+(_[a-z]+)*$"
SIGNAL = "^[A-Za-z0-9_.-]+(:[A-Za-z0-9_./-]+)?$"
Slug = Annotated[str, StringConstraints(pattern=SLUG, max_length=80)]
CauseId = Annotated[str, StringConstraints(pattern=CAUSE, max_length=80)]
EntityKind = Annotated[str, StringConstraints(pattern=ENTITY, max_length=40)]
Signal = Annotated[str, StringConstraints(pattern=SIGNAL, max_length=80)]
Prose = Annotated[str, StringConstraints(min_length=1, max_length=1500, strip_whitespace=True)]

FILE_LIMIT = 64 * 1024
CHINESE_PART = "# 中文"  # above this line the body is English, below it Chinese
CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
EXPECTED = {
    SLUG: "words in small letters joined by '-'",
    CAUSE: "a cause such as gpu.fell-off-bus",
    ENTITY: "a kind of entity such as gpu or node",
    SIGNAL: "a signal such as xid:79, nccl.peer-died or nccl-hang",
}


class Text(BaseModel):
    """A text that people read, in both languages."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    en: Prose
    zh: Prose

    @field_validator("zh")
    @classmethod
    def _is_chinese(cls, value: str) -> str:
        if not CHINESE.search(value):
            raise ValueError("expected Chinese text")
        return value

    def get(self, language: Language) -> str:
        """Return the text in the language."""
        return self.zh if language == "zh" else self.en


class Case(BaseModel):
    """A past incident with a known cause; ids are those of `rules/taxonomy.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Slug
    title: Text
    cause: CauseId
    also: Annotated[tuple[CauseId, ...], Field(max_length=16)] = ()
    layer: Slug
    symptoms: Annotated[tuple[Slug, ...], Field(max_length=16)] = ()
    entity: EntityKind
    signals: Annotated[tuple[Signal, ...], Field(min_length=1, max_length=32)]
    summary: Text
    wrong_turns: Annotated[tuple[CauseId, ...], Field(max_length=16)] = ()
    fix: Text
    source: Prose
    confidence: Literal["confirmed", "maintainer", "inferred"]
    date: dt.date | None = None
    body: Annotated[str, StringConstraints(min_length=1)]

    @field_validator("also", "symptoms", "signals", "wrong_turns")
    @classmethod
    def _once_each(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        if repeated := sorted({value for value in values if values.count(value) > 1}):
            raise ValueError(f"expected each entry once, found {repeated[0]} again")
        return values

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.cause in self.also:
            raise ValueError(f"expected other causes than {self.cause} under 'also'")
        if right := sorted({self.cause, *self.also} & set(self.wrong_turns)):
            raise ValueError(f"expected wrong causes under 'wrong_turns', found {right[0]}, which was right")
        return self

    @cached_property
    def features(self) -> frozenset[str]:
        """What was seen, signals and symptoms together, in small letters."""
        return frozenset(item.casefold() for item in (*self.signals, *self.symptoms))

    def prose(self, language: Language) -> str:
        """Return the part of the body in the language; a body without a Chinese part serves both."""
        english, mark, chinese = f"\n{self.body}\n".partition(f"\n{CHINESE_PART}\n")
        return (chinese if mark and language == "zh" else english).strip()


def read_case(path: Path, *, causes: Collection[str] | None = None, symptoms: Collection[str] | None = None) -> Case:
    """Read one case file, whose name must be its id. Raises CaseError; see `parse_case`."""
    name = str(path)
    try:
        with path.open("rb") as file:
            data = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise CaseError([Problem(name, 1, f"expected a readable file: {error.strerror}")]) from None
    if len(data) > FILE_LIMIT:
        raise CaseError([Problem(name, 1, f"expected at most {FILE_LIMIT} bytes")])
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CaseError([Problem(name, line, f"expected UTF-8, found byte 0x{data[error.start]:02x}")]) from None
    case = parse_case(text, name=name, causes=causes, symptoms=symptoms)
    if case.id != path.stem:
        line = read_head(text, name=name).line(("id",))
        raise CaseError([Problem(name, line, f"expected id {path.stem!r} as in the file's name, found {case.id!r}")])
    return case


def parse_case(
    text: str, *, name: str, causes: Collection[str] | None = None, symptoms: Collection[str] | None = None
) -> Case:
    """Read a case from text; `name` stands in errors, `causes` and `symptoms` are the ids that exist (None: any).

    Raises CaseError with every problem and its line.
    """
    head = read_head(text, name=name)
    if "body" in head.values:
        raise CaseError([Problem(name, head.line(("body",)), "expected the body below the head, not in it")])
    try:
        case = Case.model_validate({**head.values, "body": head.body})
    except ValidationError as error:
        problems = [Problem(name, head.line(item["loc"]), _explain(item)) for item in error.errors()]
        raise CaseError(problems) from None
    unknown = [
        Problem(name, head.line(place), _unknown(kind, found, known))
        for place, kind, found, known in _ids(case, causes, symptoms)
        if known is not None and found not in known
    ]
    if unknown:
        raise CaseError(unknown)
    return case


def _ids(
    case: Case, causes: Collection[str] | None, symptoms: Collection[str] | None
) -> Iterator[tuple[Place, str, str, Collection[str] | None]]:
    """Yield each id of the case with its place, kind and the ids that exist."""
    yield ("cause",), "cause", case.cause, causes
    for field in ("also", "wrong_turns"):
        for index, cause in enumerate(getattr(case, field)):
            yield (field, index), "cause", cause, causes
    for index, symptom in enumerate(case.symptoms):
        yield ("symptoms", index), "symptom", symptom, symptoms
    for index, signal in enumerate(case.signals):
        if ":" not in signal:
            kind, known = ("cause", causes) if "." in signal else ("symptom", symptoms)
            yield ("signals", index), kind, signal, known


def _unknown(kind: str, found: str, known: Collection[str]) -> str:
    near = get_close_matches(found, sorted(known), n=1)
    return f"expected a known {kind}, found {found!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _explain(item: Any) -> str:
    """Say what was expected, from one pydantic error."""
    where = ".".join(str(part) for part in item["loc"])
    found = repr(item["input"])
    found = found if len(found) <= 60 else found[:57] + "..."
    match item["type"]:
        case "missing":
            return f"expected the field '{where}'"
        case "extra_forbidden":
            fields = sorted(Text.model_fields if len(item["loc"]) > 1 else set(Case.model_fields) - {"body"})
            return f"unknown field '{where}'; expected one of: {', '.join(fields)}"
        case "value_error":
            return f"{where}: {item['ctx']['error']}" if where else str(item["ctx"]["error"])
        case "string_pattern_mismatch":
            return f"{where}: expected {EXPECTED[item['ctx']['pattern']]}, found {found}"
        case _:
            return f"{where}: {item['msg'].replace('Input should be', 'expected')}, found {found}"
