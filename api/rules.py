"""`faultwalk rules`: check, list and show."""

from __future__ import annotations

import json
from pathlib import Path

from api.command import fail
from diagnosis.rulebook import Rulebook, RuleError, find_rules_folder, load_rulebook
from diagnosis.tables import TableError, load_tables
from diagnosis.tables.link_registers import load_link_bits


def _load(folder: Path | None) -> Rulebook:
    try:
        return load_rulebook(extra=folder)
    except RuleError as error:
        raise fail(f"{len(error.problems)} problem(s) in the rules:\n" + str(error)) from error


def check(folder: Path | None) -> None:
    """Print what was checked; exits with 2 and file:line of each problem."""
    rulebook = _load(folder)
    try:
        load_tables(find_rules_folder(), rulebook.vocabulary.causes)
        load_link_bits(find_rules_folder())
    except TableError as error:
        raise fail(f"{len(error.problems)} problem(s) in the tables:\n" + str(error)) from error
    evidence = sum(len(rule.evidence) for rule in rulebook.rules())
    print(
        f"{len(rulebook.causes)} causes and {len(rulebook.symptoms)} symptoms with {evidence} pieces of evidence "
        f"and {len(rulebook.patterns)} patterns: no problem found"
    )


def list_rules(folder: Path | None, language: str) -> None:
    """Print one line a rule: id, layer, title."""
    rulebook = _load(folder)
    for name, cause in rulebook.causes.items():
        print(f"{name:<36} {rulebook.layer_of(name):<12} {cause.title.in_language(language)}")
    for name, symptom in rulebook.symptoms.items():
        print(f"{name:<36} {'symptom':<12} {symptom.title.in_language(language)}")


def show(name: str, folder: Path | None, language: str) -> None:
    """Print one rule as JSON with its place."""
    rulebook = _load(folder)
    rule = rulebook.causes.get(name) or rulebook.symptoms.get(name)
    if rule is None:
        raise fail(f"no rule `{name}`; `faultwalk rules list` shows them")
    print(f"# {rulebook.places[name]}")
    print(json.dumps(rule.model_dump(mode="json", by_alias=True, exclude_defaults=True), indent=2, ensure_ascii=False))
