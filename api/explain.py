"""`faultwalk explain`: what a cause, a symptom or a code means and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from api.codes import explain_code, split_name
from api.command import fail
from api.wording import word
from diagnosis.model import Language
from diagnosis.rulebook import CauseRule, Rulebook, RuleError, find_rules_folder, load_rulebook
from diagnosis.tables import TableError, load_tables


def run(name: str, pasted: str, rules: Path | None, language: Language) -> None:
    """Print an explanation, also of a pasted line; exits with 2 for a name that nothing here knows.

    The line may stand in the same argument as the name: `explain 'xid:74 NVRM: Xid (...'`.
    """
    head, _, tail = name.strip().partition(" ")
    if tail and not pasted and split_name(head)[0]:
        name, pasted = head, tail
    try:
        rulebook = load_rulebook(extra=rules, cached=True)
    except RuleError as error:
        raise fail("the rules have problems:\n" + str(error)) from error
    lines = _explain_id(name, rulebook, language)
    if not lines:
        try:
            tables = load_tables(find_rules_folder(), rulebook.vocabulary.causes)
        except TableError as error:
            raise fail("the tables have problems:\n" + str(error)) from error
        lines = explain_code(name, pasted, rulebook, tables, language)
    console = Console(highlight=False, soft_wrap=True)
    if not lines:
        raise fail(f"`{name}`: no such cause, symptom or code; try `faultwalk rules list` or a code such as xid:79")
    for line in lines:
        console.print(line)


def _explain_id(name: str, rulebook: Rulebook, language: Language) -> list[Text]:
    rule = rulebook.causes.get(name)
    if rule is not None:
        return list(_cause(rule, rulebook, language))
    symptom = rulebook.symptoms.get(name)
    if symptom is not None:
        able = sorted(cause for cause in rulebook.causes if name in rulebook.reach(cause))
        head = [Text(f"{symptom.title.in_language(language)}  ({name})", style="bold")]
        return head + [Text(f"  {cause:<36} {rulebook.title(cause, language)}") for cause in able]
    if name in rulebook.vocabulary.causes:
        layer, meaning = rulebook.vocabulary.causes[name]
        return [Text(f"{name}  ({word('layer.' + layer, language)})", style="bold"), Text(meaning)]
    return []


def _cause(rule: CauseRule, rulebook: Rulebook, language: Language) -> Iterator[Text]:
    layer = word("layer." + rulebook.layer_of(rule.id), language)
    yield Text.assemble((rule.title.in_language(language), "bold"), (f"  {rule.id} · {layer}", "dim"))
    if rule.summary:
        yield Text(rule.summary.in_language(language))
    yield Text(f"{word('action', language)}: {word('action.' + rule.action, language)}")
    for step in rule.fix:
        yield Text(f"- {step.in_language(language)}")
    yield Text(word("evidence", language), style="bold")
    for evidence in rule.evidence:
        why = evidence.why.in_language(language) if evidence.why else ""
        example = evidence.examples.match[0]
        shown = example.text.strip().splitlines()[0] if example.text else f"{example.series} {example.values}"
        yield Text.assemble(f"  [{evidence.strength}] {why}\n", (f"    {shown[:200]}", "dim"))
    if rule.leads_to:
        yield Text(
            f"{word('explains', language)}: " + "; ".join(rulebook.title(name, language) for name in rule.leads_to)
        )
    for check in rule.checks:
        tells = check.tells.in_language(language) if check.tells else check.confirms
        yield Text.assemble("  $ ", (check.run, "cyan"), f"   {tells}")
    yield Text(f"{word('references', language)}: " + "; ".join(rule.references), style="dim")
