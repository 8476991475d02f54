"""`faultwalk cases`: list and show past incidents."""

from __future__ import annotations

from pathlib import Path

from api.command import fail
from casebase.case import CaseError, Language
from casebase.library import Library, load_cases
from diagnosis.rulebook import load_rulebook


def _load(folder: Path | None) -> Library:
    vocabulary = load_rulebook().vocabulary
    try:
        library = load_cases()
        if folder is not None:
            library = library.extended(load_cases(folder, causes=vocabulary.causes, symptoms=vocabulary.symptoms))
    except CaseError as error:
        raise fail("the cases have problems:\n" + str(error)) from error
    return library


def list_cases(query: str | None, folder: Path | None, language: Language) -> None:
    """Print one line a case: id, cause, title; with a query, those that match, best first."""
    library = _load(folder)
    for case in library.search(query) if query else library.all():
        print(f"{case.id:<52} {case.cause:<32} {case.title.get(language)}")


def show(name: str, folder: Path | None, language: Language) -> None:
    """Print one case."""
    case = _load(folder).get(name)
    if case is None:
        raise fail(f"no case `{name}`; `faultwalk cases list` shows them")
    print(f"{case.title.get(language)}\n{case.cause} · {case.layer} · {case.confidence} · {case.source}\n")
    print(case.summary.get(language) + "\n")
    print(case.prose(language).strip())
