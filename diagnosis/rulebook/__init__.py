"""The rulebook: what rule files look like, how they are read and checked, and what they say together."""

from diagnosis.rulebook.document import RuleError
from diagnosis.rulebook.loader import find_rules_folder, load_rulebook
from diagnosis.rulebook.rulebook import Rulebook
from diagnosis.rulebook.schema import CauseRule, Rule, SymptomRule, Test, When

__all__ = [
    "CauseRule",
    "Rule",
    "RuleError",
    "Rulebook",
    "SymptomRule",
    "Test",
    "When",
    "find_rules_folder",
    "load_rulebook",
]
