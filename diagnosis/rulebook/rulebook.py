"""The rules, ready for use: by id, with the patterns for the scan and the causal graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from collectors.patterns import Pattern
from diagnosis.rulebook.schema import CauseRule, Rule, SymptomRule, When
from diagnosis.rulebook.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Rulebook:
    """All rules. Build it with `Rulebook.build` or `load_rulebook`."""

    vocabulary: Vocabulary
    causes: Mapping[str, CauseRule]
    symptoms: Mapping[str, SymptomRule]
    queries: Mapping[str, str]
    patterns: tuple[Pattern, ...]
    places: Mapping[str, str]
    _keys: Mapping[str, str] = field(default_factory=dict)  # regex -> key of the pattern that looks for it
    _reach: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def build(
        cls, vocabulary: Vocabulary, rules: Mapping[str, Rule], queries: Mapping[str, str], *, trusted: frozenset[str],
        places: Mapping[str, str],
    ) -> Rulebook:  # fmt: skip
        """Index the rules; a regex that several rules share is scanned for once."""
        keys: dict[str, str] = {}
        patterns = []
        shown = {
            leaf.pattern for rule in rules.values() for _, _, when in rule.conditions() for leaf in when.leaves(False)
        }
        for name in sorted(rules):
            for key, leaf in _number_leaves(rules[name]):
                if leaf.pattern is not None and leaf.pattern not in keys:
                    keys[leaf.pattern] = key
                    absent = (
                        leaf.pattern not in shown
                    )  # it only matters that there is none: a thousand are as good as one
                    patterns.append(Pattern(key, leaf.pattern, leaf.anchor, trusted=name in trusted, context=absent))
        causes = {name: rule for name, rule in sorted(rules.items()) if isinstance(rule, CauseRule)}
        symptoms = {name: rule for name, rule in sorted(rules.items()) if isinstance(rule, SymptomRule)}
        return cls(vocabulary, causes, symptoms, dict(queries), tuple(patterns), dict(places), keys, _close(causes))

    def rules(self) -> list[Rule]:
        """Return all rules: causes, then symptoms, each by id."""
        return [*self.causes.values(), *self.symptoms.values()]

    def key_of(self, leaf: When) -> str:
        """Return the key under which the scan reports a text condition."""
        return self._keys[leaf.pattern or ""]

    def reach(self, cause: str) -> frozenset[str]:
        """Return every cause and symptom that this cause brings about, directly or through others."""
        return self._reach.get(cause, frozenset())

    def title(self, name: str, language: str) -> str:
        """Return the title of a cause or symptom; for one without a rule, what the taxonomy says of it."""
        rule = self.causes.get(name) or self.symptoms.get(name)
        if rule is not None:
            return rule.title.in_language(language)
        return self.vocabulary.symptoms.get(name) or self.vocabulary.causes.get(name, ("", name))[1]

    def layer_of(self, cause: str) -> str:
        """Return the layer of a cause."""
        return self.vocabulary.layer_of(cause)


def _number_leaves(rule: Rule) -> Iterator[tuple[str, When]]:
    for part, number, when in rule.conditions():
        mark = "#" if part == "evidence" else "!"
        for place, leaf in enumerate(when.leaves()):
            yield f"{rule.id}{mark}{number}.{place}", leaf


def _close(causes: Mapping[str, CauseRule]) -> dict[str, frozenset[str]]:
    closed: dict[str, frozenset[str]] = {}

    def close(name: str) -> frozenset[str]:
        if name not in closed:
            found: set[str] = set()
            for target in causes[name].leads_to if name in causes else ():
                found.add(target)
                found |= close(target)
            closed[name] = frozenset(found)
        return closed[name]

    for name in causes:
        close(name)
    return closed
