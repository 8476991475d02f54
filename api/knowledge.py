"""Load rules, cases and the compiled scan for a command or the service."""

from __future__ import annotations

from pathlib import Path

from casebase.library import load_cases
from diagnosis.engine import Knowledge
from diagnosis.rulebook import load_rulebook


def load_knowledge(rules: Path | None = None) -> Knowledge:
    """Return the shipped knowledge, with a folder of own rules on top. Raises RuleError."""
    return Knowledge.build(load_rulebook(extra=rules, cached=True), load_cases(), cached=True)
