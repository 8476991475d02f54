"""What a report needs beside the hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from casebase.library import Library
from diagnosis.facts import Facts
from diagnosis.model import InputPart, Language
from diagnosis.rulebook import Rulebook


@dataclass(frozen=True, slots=True)
class Context:
    """Facts, rules, cases and inputs of one diagnosis; the language and the time to tell it in."""

    facts: Facts
    rulebook: Rulebook
    library: Library
    inputs: Sequence[InputPart]
    looked_at: Mapping[str, Sequence[str]]  # layer -> inputs that let one judge it
    language: Language
    now: float
