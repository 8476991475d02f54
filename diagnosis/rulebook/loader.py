"""From rule files to a rulebook: every file `<folder>/*.yaml` below the rules folder, checked as a whole."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import VERSION, ValidationError

from diagnosis import cache
from diagnosis.rulebook.document import Document, RuleError
from diagnosis.rulebook.lint import find_pattern_problems, find_regex_problems
from diagnosis.rulebook.rulebook import Rulebook
from diagnosis.rulebook.schema import CauseRule, Rule, SymptomRule, Test, When
from diagnosis.rulebook.vocabulary import Vocabulary, load_vocabulary


@dataclass(frozen=True, slots=True)
class _Place:
    document: Document
    index: int

    def at(self, *path: str | int) -> str:
        line = self.document.line_of([self.index, *path])
        return f"{self.document.name}:{line}"


def find_rules_folder() -> Path:
    """Return the shipped rules: inside the installed package, else beside it in a checkout."""
    packaged = Path(__file__).resolve().parents[1] / "_rules"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / "rules"


def load_rulebook(folder: Path | None = None, *, extra: Path | None = None, cached: bool = False) -> Rulebook:
    """Load the shipped rules (or `folder`), then those of `extra`, which add to or override them by id.

    With `cached`, rules that were checked before and have not changed since are not checked again.
    Raises RuleError naming file:line of every problem found.
    """
    base = folder or find_rules_folder()
    key = _make_key(base, extra) if cached else ""
    if key:
        kept = _load_kept(key)
        if kept is not None:
            return kept
    vocabulary = load_vocabulary(base / "taxonomy.yaml")
    problems: list[str] = []
    rules: dict[str, Rule] = {}
    places: dict[str, _Place] = {}
    trusted: set[str] = set()
    for root in (base, *([extra] if extra else [])):
        if not root.is_dir():
            raise RuleError([f"{root}: no such folder"])
        seen: dict[str, str] = {}
        for path in sorted(root.glob("*/*.yaml")) + (sorted(root.glob("*.yaml")) if root is extra else []):
            name = f"{root.resolve().name}/{path.relative_to(root)}"
            for rule, place in _read_file(path, name, problems):
                if rule.id in seen:
                    problems.append(f"{place.at()}: `{rule.id}` stands already at {seen[rule.id]}")
                    continue
                seen[rule.id] = place.at()
                rules[rule.id], places[rule.id] = rule, place
                (trusted.add if root is base else trusted.discard)(rule.id)
    for name in sorted(rules):
        problems.extend(_check_rule(rules[name], places[name], vocabulary))
    queries = {path.stem: path.read_text("utf-8") for path in sorted((base / "queries").glob("*.sql"))}
    if not problems:
        problems.extend(_check_whole(rules, places, vocabulary, queries))
    if problems:
        raise RuleError(problems)
    if key:
        _keep(key, vocabulary, rules, places, queries, trusted)
    return Rulebook.build(
        vocabulary, rules, queries, trusted=frozenset(trusted), places={k: v.at() for k, v in places.items()}
    )


def _make_key(base: Path, extra: Path | None) -> str:
    """Return a key over the rule files and over the code that reads them, "" when a file can't be read."""
    parts = [sys.version.encode(), VERSION.encode(), *cache.read_code(Path(__file__).parent)]
    try:
        for root in (base, *([extra] if extra else [])):
            parts.append(str(root).encode())
            for path in sorted([*root.glob("*.yaml"), *root.glob("*/*.yaml"), *root.glob("queries/*.sql")]):
                parts.extend((str(path.relative_to(root)).encode(), path.read_bytes()))
    except OSError:
        return ""
    return cache.make_key(parts)


def _keep(
    key: str, vocabulary: Vocabulary, rules: dict[str, Rule], places: dict[str, _Place], queries: dict[str, str],
    trusted: set[str],
) -> None:  # fmt: skip
    """Keep the rules as they were written, for they have been checked."""
    entries = [
        (place.document.value[place.index], place.at(), name in trusted)
        for name, place in ((name, places[name]) for name in rules)
    ]
    words = (vocabulary.layers, vocabulary.entities, vocabulary.symptoms, vocabulary.causes)
    try:
        body = json.dumps({"vocabulary": words, "rules": entries, "queries": queries}, ensure_ascii=False)
    except (TypeError, ValueError):  # a date or another value that JSON has no word for
        return
    cache.keep("rules", key, body.encode())


def _load_kept(key: str) -> Rulebook | None:
    body = cache.load("rules", key)
    if body is None:
        return None
    try:
        kept = json.loads(body)
        layers, entities, symptoms, causes = kept["vocabulary"]
        vocabulary = Vocabulary(
            layers, tuple(entities), symptoms, {name: (layer, when) for name, (layer, when) in causes.items()}
        )
        rules: dict[str, Rule] = {}
        places, trusted = {}, set()
        for entry, place, is_trusted in kept["rules"]:
            rule: Rule = (CauseRule if "cause" in entry else SymptomRule).model_validate(entry)
            rules[rule.id], places[rule.id] = rule, place
            if is_trusted:
                trusted.add(rule.id)
        return Rulebook.build(vocabulary, rules, kept["queries"], trusted=frozenset(trusted), places=places)
    except (KeyError, TypeError, ValueError):
        return None


def _read_file(path: Path, name: str, problems: list[str]) -> Iterator[tuple[Rule, _Place]]:
    try:
        document = Document.read(path, name)
    except RuleError as error:
        problems.extend(error.problems)
        return
    if not isinstance(document.value, list):
        problems.append(f"{name}:1: expected a list of rules (`- cause: ...` or `- symptom: ...`)")
        return
    for index, entry in enumerate(document.value):
        place = _Place(document, index)
        kind: type[CauseRule | SymptomRule] = CauseRule if isinstance(entry, dict) and "cause" in entry else SymptomRule
        if not isinstance(entry, dict) or ("cause" not in entry and "symptom" not in entry):
            problems.append(f"{place.at()}: expected `cause:` or `symptom:`")
            continue
        try:
            yield kind.model_validate(entry), place
        except ValidationError as error:
            problems.extend(_explain(error, document, index))


def _explain(error: ValidationError, document: Document, index: int) -> Iterator[str]:
    for item in error.errors(include_url=False, include_context=False):
        path = [step for step in item["loc"] if not (isinstance(step, str) and step.endswith("]"))]
        line = document.line_of([index, *path])
        where = ".".join(str(step) for step in path)
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(path[-1]), _known_keys(), n=1)
            hint = "" if not near else "; did you mean `{}`?" if near[0] != path[-1] else ", which belongs elsewhere"
            message = f"unknown key `{path[-1]}`" + hint.format(*near)
        yield f"{document.name}:{line}: {where}: {message} | {document.quote(line)}"


def _known_keys() -> list[str]:
    from diagnosis.rulebook import schema

    names: set[str] = set()
    for model in (
        CauseRule,
        SymptomRule,
        When,
        schema.Evidence,
        schema.Example,
        schema.Examples,
        schema.Check,
        schema.Test,
    ):
        names |= {field.alias or name for name, field in model.model_fields.items()}
    return sorted(names)


def _check_rule(rule: Rule, place: _Place, vocabulary: Vocabulary) -> Iterator[str]:
    known: dict[str, Any] = vocabulary.causes if isinstance(rule, CauseRule) else vocabulary.symptoms
    if rule.id not in known:
        near = difflib.get_close_matches(rule.id, known, n=1)
        yield f"{place.at()}: `{rule.id}` is not in the taxonomy" + (f"; did you mean `{near[0]}`?" if near else "")
    for name, number, when in rule.conditions():
        for leaf in when.leaves():
            for regex in (leaf.pattern, leaf.anchor):
                if regex is not None:
                    for problem in find_pattern_problems(regex):
                        yield f"{place.at(name, number, 'when')}: pattern {problem} | {regex[:100]}"
            for attribute, test in leaf.where.items():
                if isinstance(test, Test) and test.matches is not None:
                    for problem in find_regex_problems(test.matches):
                        yield f"{place.at(name, number, 'when')}: {attribute}: {problem} | {test.matches[:100]}"
    if isinstance(rule, CauseRule):
        for number, target in enumerate(rule.leads_to):
            if target not in vocabulary.causes and target not in vocabulary.symptoms:
                near = difflib.get_close_matches(target, [*vocabulary.causes, *vocabulary.symptoms], n=1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                yield f"{place.at('leads_to', number)}: `{target}` is not in the taxonomy{hint}"
        for number, target in enumerate(rule.stands_for):
            if target not in vocabulary.symptoms:
                yield f"{place.at('stands_for', number)}: `{target}` is no symptom of the taxonomy"


def _check_whole(
    rules: dict[str, Rule], places: dict[str, _Place], vocabulary: Vocabulary, queries: dict[str, str]
) -> Iterator[str]:
    causes = {name: rule for name, rule in rules.items() if isinstance(rule, CauseRule)}
    for name, rule in rules.items():
        for part, number, when in rule.conditions():
            for leaf in when.leaves():
                if leaf.query is not None and leaf.query not in queries:
                    known = ", ".join(queries) or "none"
                    yield f"{places[name].at(part, number)}: no query `{leaf.query}`; there are {known}"
    cycle = _find_cycle(causes)
    if cycle:
        yield f"{places[cycle[0]].at('leads_to')}: `leads_to` runs in a circle: {' -> '.join(cycle)}"
        return
    for name in sorted(causes):
        if not _reaches_symptom(name, causes, vocabulary, {}):
            yield f"{places[name].at()}: `{name}` leads to no symptom, so no complaint can reach it: add one to `leads_to`"


def _find_cycle(causes: dict[str, CauseRule]) -> tuple[str, ...] | None:
    done: set[str] = set()

    def follow(name: str, trail: tuple[str, ...]) -> tuple[str, ...] | None:
        if name in done or name not in causes:
            return None
        if name in trail:
            return (*trail[trail.index(name) :], name)
        for target in causes[name].leads_to:
            cycle = follow(target, (*trail, name))
            if cycle:
                return cycle
        done.add(name)
        return None

    return next((cycle for name in sorted(causes) if (cycle := follow(name, ()))), None)


def _reaches_symptom(name: str, causes: dict[str, CauseRule], vocabulary: Vocabulary, known: dict[str, bool]) -> bool:
    if name in vocabulary.symptoms:
        return True
    if name not in known:
        known[name] = False
        targets = causes[name].leads_to if name in causes else []
        known[name] = any(_reaches_symptom(target, causes, vocabulary, known) for target in targets)
    return known[name]
