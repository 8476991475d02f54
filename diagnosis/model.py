"""The words of a diagnosis: matches, hypotheses, score parts and the report (a public contract).

An observation is a fact from an input (`collectors.observation`); a signal is one that a rule cares about; a hypothesis
is a cause on an entity with its score parts; the report is the ranked answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from collectors.observation import Observation

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
Strength = Literal["decisive", "strong", "moderate", "weak"]
STRENGTHS: dict[str, float] = {"decisive": 0.95, "strong": 0.8, "moderate": 0.45, "weak": 0.2}
LAYERS = ("application", "framework", "scheduler", "platform", "runtime", "node", "fabric", "storage", "hardware")
Layer = Literal["application", "framework", "scheduler", "platform", "runtime", "node", "fabric", "storage", "hardware"]
Action = Literal[
    "ignore", "restart-app", "reset-gpu", "reboot", "drain", "replace", "reconfigure", "contact-support", "investigate"
]
Outcome = Literal["diagnosed", "undecided", "nothing-found"]
Verdict = Literal["root", "consequence"]
Status = Literal["fault", "suspect", "clear", "no-data"]

# Of a probability.
EVIDENCED = 0.4  # a cause below this explains nothing away; what is blamed itself needs a cause that is blamed
CONCERN = 0.5  # from here on a root is blamed
SHOWN = 0.1


@dataclass(frozen=True, slots=True)
class Match:
    """One way in which a condition holds: the observations that make it true, best first.

    `subject` is the derived fact that these observations are the proof of; it names the entity and what ties parts together.
    """

    observations: tuple[Observation, ...]
    subject: Observation | None = None

    def facts(self) -> tuple[Observation, ...]:
        """Return what the match is about: the derived fact before the observations behind it."""
        return (self.subject, *self.observations) if self.subject is not None else self.observations

    @property
    def first(self) -> Observation:
        return self.observations[0]


@dataclass(frozen=True, slots=True)
class Finding:
    """An evidence or contradiction of a rule that holds, with the matches that belong to one entity."""

    key: str
    strength: float
    because: str
    matches: tuple[Match, ...]
    supports: bool = True

    def observations(self) -> tuple[Observation, ...]:
        """Return every observation behind it, once."""
        return tuple(dict.fromkeys(one for match in self.matches for one in match.observations))


@dataclass(slots=True)
class ScorePart:
    """A named part of a score and the sentence that defends it."""

    part: str
    value: float
    because: str


@dataclass(slots=True)
class Hypothesis:
    """A cause (or symptom) on an entity; `node` is the host it stands on, "" when unknown."""

    id: str
    entity: str
    node: str
    layer: str
    findings: list[Finding] = field(default_factory=list)
    others: tuple[str, ...] = ()  # further entities of the same kind with the same finding
    probability: float = 0.0
    verdict: Verdict = "root"
    because_of: Hypothesis | None = None
    parts: list[ScorePart] = field(default_factory=list)
    explains: list[Hypothesis] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    _observations: dict[bool, list[Observation]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _times: tuple[float | None, float | None] | None = field(default=None, init=False, repr=False, compare=False)
    _waited: float | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def key(self) -> tuple[str, str]:
        return (self.id, self.entity)

    @property
    def host(self) -> str:
        """The entity of its host, "" when unknown."""
        return f"node:{self.node}" if self.node else ""

    @property
    def place(self) -> str:
        """The entity that it is about, its host where it names no other."""
        return self.entity or self.host

    def observations(self, *, supporting: bool = True) -> list[Observation]:
        """Return the observations of its findings, once each, in the order of the inputs; findings are final by then."""
        if supporting not in self._observations:
            found = dict.fromkeys(
                one for finding in self.findings if finding.supports == supporting for one in finding.observations()
            )
            self._observations[supporting] = sorted(found, key=lambda one: (one.input, one.line, one.kind, one.code))
        return self._observations[supporting]

    def add_findings(self, findings: Iterable[Finding]) -> None:
        """Take over the findings of the same cause on another thing."""
        self.findings.extend(findings)
        self._observations.clear()
        self._times = self._waited = None

    def times(self) -> tuple[float | None, float | None]:
        """Return when its evidence was first and last seen; None where no line tells."""
        if self._times is None:
            times = [one.time for one in self.observations() if one.time is not None]
            self._times = (min(times), max(times)) if times else (None, None)
        return self._times

    def waited(self) -> float:
        """Return the longest time, in seconds, that its evidence says something waited until it was given up; 0 when none does."""
        if self._waited is None:
            self._waited = max((_waited(one) for one in self.observations()), default=0.0)
        return self._waited


def _waited(one: Observation) -> float:
    text = one.attributes.get("ran_ms") or one.attributes.get("timeout_ms") or ""
    return float(text) / 1000 if one.kind == "watchdog-timeout" and text.isdecimal() and len(text) < 12 else 0.0


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class InputPart(_Part):
    """What was handed over and how much of it was understood."""

    input: str = Field(description="The input's name as given.")
    kind: str = Field(description="Its source kind, `unknown` or `binary`; several kinds are joined by `+`.")
    lines: int
    recognised: int = Field(description="Lines that a collector or a rule understood as a fact.")
    unrecognised_errors: int = Field(description="Lines that look like errors and that nothing knows.")
    notes: list[str] = Field(default_factory=list, description="What was cut, guessed or left out.")


class EvidencePart(_Part):
    """A cited line."""

    input: str
    line: int = Field(description="Counts from 1 in that input.")
    line_end: int | None = Field(default=None, description="Last line when the fact spans several.")
    text: str = Field(
        description="The line verbatim, or the first lines of a fact that spans several (secrets hidden)."
    )
    signal: str = Field(description="Which rule or fact this line is a signal of.")
    role: Literal["supports", "contradicts"] = "supports"
    why: str = ""
    time: str | None = Field(default=None, description="ISO 8601, UTC; absent when the line does not tell.")


class SymptomPart(_Part):
    """What hurts, and where."""

    symptom: str
    title: str
    entity: str
    evidence: list[EvidencePart]


class ScorePartOut(_Part):
    """A named part of a score with the sentence that defends it."""

    part: str
    value: float
    because: str


class CheckPart(_Part):
    """A command that confirms a cause or separates it from its rivals."""

    run: str
    on: str
    confirms: str = ""
    tells: str = ""


class CasePart(_Part):
    """A past incident that looked like this."""

    case: str
    title: str
    similarity: float
    why: str


class Explained(_Part):
    """A symptom or cause that this cause brings about."""

    id: str
    title: str
    entity: str


class CausePart(_Part):
    """One hypothesis of the answer."""

    rank: int
    cause: str
    title: str
    summary: str = ""
    layer: Layer
    entity: str
    also_on: list[str] = Field(default_factory=list, description="Further entities with the same finding.")
    probability: float = Field(ge=0, le=1)
    verdict: Verdict
    because_of: str | None = Field(default=None, description="For a consequence: the cause that explains it.")
    action: Action
    score: list[ScorePartOut]
    evidence: list[EvidencePart]
    explains: list[Explained]
    path: list[str] = Field(description="Entities from what hurts to the culprit.")
    checks: list[CheckPart]
    fix: list[str]
    cases: list[CasePart]
    references: list[str] = Field(default_factory=list)


class LayerPart(_Part):
    """How one layer came out. A layer nobody looked at is `no-data`, never `clear`."""

    layer: Layer
    status: Status
    looked_at: list[str]
    findings: list[str]


class NextCheck(_Part):
    """What to run next, and which causes it separates."""

    run: str
    on: str
    separates: list[str]
    because: str


class UnexplainedPart(_Part):
    """Error-looking lines that no rule knows, grouped."""

    template: str
    count: int
    first: EvidencePart


class Report(_Part):
    """The ranked answer. Causes come best first; the first `root` is the answer."""

    schema_: Literal["faultwalk.report/1"] = Field(default="faultwalk.report/1", alias="schema")
    id: str
    created: str
    language: Language
    outcome: Outcome
    verdict: str = Field(description="The answer in one sentence.")
    inputs: list[InputPart]
    symptoms: list[SymptomPart]
    causes: list[CausePart]
    walk: list[LayerPart]
    next_checks: list[NextCheck]
    unexplained: list[UnexplainedPart]

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)
