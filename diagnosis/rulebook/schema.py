"""The shape of a rule file. A rule states what is true of a fault everywhere, and carries its proof as examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from diagnosis.model import Action, Strength

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_duration(value: Any) -> float:
    """Return seconds for `90s`, `10m`, `2h` or `7d`; raises ValueError for anything else."""
    match = _DURATION.fullmatch(str(value))
    if not match:
        raise ValueError("expected a duration such as 90s, 10m, 2h or 7d")
    return float(match[1]) * _SECONDS[match[2]]


Duration = Annotated[float, BeforeValidator(lambda value: value if isinstance(value, float) else parse_duration(value))]
EntityKind = Literal[
    "cluster", "queue", "job", "pod", "container", "process", "rank", "namespace", "node", "gpu", "mig_instance", "nvlink",
    "nvswitch", "pcie_device", "nic", "link", "switch", "rack", "volume", "filesystem",
]  # fmt: skip


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class Text(_Model):
    """A sentence in both languages."""

    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)

    def in_language(self, language: str) -> str:
        """Return the sentence in `en` or `zh`."""
        return self.zh if language == "zh" else self.en


class Test(_Model):
    """What an attribute must be. Numbers compare as numbers; `'{name}'` stands for another attribute of the same fact."""

    __test__ = False

    equals: str | int | float | None = None
    not_: str | int | float | None = Field(default=None, alias="not")
    in_: list[str | int | float] | None = Field(default=None, alias="in")
    above: str | int | float | None = None
    below: str | int | float | None = None
    at_least: str | int | float | None = None
    at_most: str | int | float | None = None
    bits: int | None = None
    matches: str | None = None
    exists: bool | None = None


class When(_Model):
    """A condition: one of the forms below. See `rules/README.md`."""

    # a typed fact
    source: str | list[str] | None = None
    kind: str | None = None
    code: str | int | list[str | int] | None = None
    where: dict[str, str | int | float | Test] = Field(default_factory=dict)
    # a line of text
    pattern: str | None = None
    anchor: str | None = None
    # a metric
    metric: str | list[str] | None = None
    above: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    bits: int | None = None
    rises: float | None = None
    for_: Duration | None = Field(default=None, alias="for")
    outlier: Literal["low", "high"] | None = None
    factor: float = 2.0
    peers: int = 3
    # a named SQL query of rules/queries/
    query: str | None = None
    # combinations
    all_: list[When] | None = Field(default=None, alias="all")
    any_: list[When] | None = Field(default=None, alias="any")
    none_: list[When] | None = Field(default=None, alias="none")
    of: When | None = None
    count: int | None = None
    distinct: str | None = None
    spread: Literal["one", "many"] | None = None
    by: str | None = None
    first: When | None = None
    then: When | None = None
    # ties between the parts of a combination
    same: str | None = None
    within: Duration | None = None
    within_lines: int | None = None

    @cached_property
    def form(self) -> str:
        """Return which form this condition has: all, any, none, count, spread, order, query, metric, text or fact."""
        for form, value in (
            ("all", self.all_), ("any", self.any_), ("none", self.none_), ("count", self.count), ("spread", self.spread),
            ("order", self.first), ("query", self.query), ("metric", self.metric), ("text", self.pattern), ("fact", self.kind),
        ):  # fmt: skip
            if value is not None:
                return form
        raise ValueError("a condition needs one of: kind, pattern, metric, query, all, any, none, count, spread, first")

    @model_validator(mode="after")
    def _check(self) -> When:
        form = self.form
        if form in ("count", "spread") and self.of is None:
            raise ValueError(f"`{form}` needs `of: {{...}}`, the condition that is counted")
        if form == "spread" and self.by is None:
            raise ValueError("`spread` needs `by:` (gpu, node, pid, ...)")
        if form == "order" and self.then is None:
            raise ValueError("`first` needs `then`")
        if form == "all" and all(part.form == "none" for part in self.all_ or ()):
            raise ValueError("`all` needs at least one part that is not `none`: absence alone is no evidence")
        if any(part.form == "none" for part in self.parts() if part not in (self.all_ or ())):
            raise ValueError("`none` stands only inside `all`: absence alone is no evidence")
        if form == "metric" and all(
            value is None
            for value in (self.above, self.below, self.at_least, self.at_most, self.bits, self.rises, self.outlier)
        ):
            raise ValueError("a metric needs one of above, below, at_least, at_most, bits, rises, outlier")
        return self

    def parts(self) -> list[When]:
        """Return the conditions directly inside this one."""
        return [
            *(self.all_ or ()),
            *(self.any_ or ()),
            *(self.none_ or ()),
            *(p for p in (self.of, self.first, self.then) if p),
        ]

    def leaves(self, absent: bool = True) -> Iterator[When]:
        """Yield the conditions that are not combinations, in order; unless `absent`, without those that must not hold."""
        parts = self.parts()
        if not parts:
            yield self
        if self.none_ is None or absent:
            for part in parts:
                yield from part.leaves(absent)


class Example(_Model):
    """Raw lines that go through the real collector. A metric example gives `series` and `values` instead of `text`."""

    text: str | None = None
    series: list[str] | str | None = None
    values: list[str] | str | None = None
    step: Duration = 60.0
    entity: str | None = None
    also: list[str] = Field(default_factory=list)
    why: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check(self) -> Example:
        if (self.text is None) == (self.series is None):
            raise ValueError("an example has either `text` or `series` with `values`")
        return self


class Examples(_Model):
    """Lines on which the evidence must hold, and lines on which it must not (each with a `why`)."""

    match: list[Example] = Field(min_length=1)
    no_match: list[Example] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> Examples:
        if any(example.why is None for example in self.no_match):
            raise ValueError("a no_match example says `why` it must not match")
        return self


def _refuse_absence(when: When) -> When:
    if when.form == "none":
        raise ValueError("`none` stands only inside `all`: absence alone is no evidence")
    return when


Condition = Annotated[When, AfterValidator(_refuse_absence)]


class Evidence(_Model):
    """A condition that supports (or, under `against`, contradicts) the cause."""

    when: Condition
    strength: Strength
    entity: EntityKind | None = None  # what it is about, where that is narrower than the rule's entity: a rank of a job
    why: Text | None = None
    examples: Examples


class Against(_Model):
    """A condition that speaks against the cause."""

    when: Condition
    strength: Strength
    why: Text
    examples: Examples | None = None


class Check(_Model):
    """A read-only command that separates this cause from its rivals. `{node}`, `{pci}`, ... are filled in."""

    run: str
    on: str
    confirms: str = ""
    tells: Text | None = None


class _Rule(_Model):
    title: Text
    entity: EntityKind
    evidence: list[Evidence] = Field(min_length=1)
    lag: Duration = 600.0

    @property
    def id(self) -> str:
        """Return the id in the taxonomy."""
        raise NotImplementedError

    def conditions(self) -> list[tuple[str, int, When]]:
        """Return every condition with its place: ("evidence" or "against", number, condition)."""
        return [("evidence", number, entry.when) for number, entry in enumerate(self.evidence)]


class SymptomRule(_Rule):
    """What a person reports, and the lines that show it."""

    symptom: str

    @property
    def id(self) -> str:
        return self.symptom


class CauseRule(_Rule):
    """A root cause with its proof, its consequences, its checks and what to do."""

    cause: str
    status: Literal["draft", "stable", "deprecated"] = "stable"
    summary: Text | None = None
    against: list[Against] = Field(default_factory=list)
    leads_to: list[str] = Field(default_factory=list)
    stands_for: list[str] = Field(
        default_factory=list,
        description="Symptoms for which this is a stand-in; any evidenced cause of them, but another stand-in, explains it.",
    )
    inconclusive: bool = Field(
        default=False, description="It says what failed and not why: as first answer the report ends `undecided`."
    )
    checks: list[Check] = Field(min_length=1)
    fix: list[Text] = Field(min_length=1)
    action: Action
    references: list[str] = Field(min_length=1)

    @property
    def id(self) -> str:
        return self.cause

    def conditions(self) -> list[tuple[str, int, When]]:
        """Return every condition with its place: ("evidence" or "against", number, condition)."""
        return super().conditions() + [("against", number, entry.when) for number, entry in enumerate(self.against)]


Rule = CauseRule | SymptomRule
