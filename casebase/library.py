"""The cases at hand: read from a folder, kept in order of id, found by id, by cause and by words."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from casebase.case import Case, CaseError, read_case
from casebase.head import Problem
from casebase.words import WordIndex

SHIPPED = Path(__file__).with_name("cases")
FILES_LIMIT = 20_000


@dataclass(frozen=True)
class Library:
    """An ordered collection of cases that never changes. Raises ValueError when two cases share an id."""

    cases: tuple[Case, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", tuple(sorted(self.cases, key=lambda case: case.id)))
        if len(self._by_id) != len(self.cases):
            twice = min(name for name, count in Counter(case.id for case in self.cases).items() if count > 1)
            raise ValueError(f"expected each case once, found {twice!r} again")

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __contains__(self, case_id: object) -> bool:
        return case_id in self._by_id

    def get(self, case_id: str) -> Case | None:
        """Return the case with this id."""
        return self._by_id.get(case_id)

    def all(self) -> tuple[Case, ...]:
        """Return every case, in order of id."""
        return self.cases

    def with_cause(self, cause: str) -> tuple[Case, ...]:
        """Return the cases whose cause this is, or in which it was also seen, in order of id."""
        return self._by_cause.get(cause, ())

    def extended(self, other: Self) -> "Library":
        """Return both collections together; a case of `other` takes the place of ours with the same id."""
        return Library(tuple({**self._by_id, **other._by_id}.values()))

    def search(self, text: str, *, limit: int = 20) -> tuple[Case, ...]:
        """Return the cases that hold most of the words in `text`, best first, ties by id; none for no known word.

        English goes by words, Chinese by pairs of characters; title, cause and signals count more than prose.
        """
        found = self._index.search(text)[: max(limit, 0)]
        return tuple(self._by_id[name] for name, _ in found)

    @cached_property
    def spread(self) -> Mapping[str, int]:
        """In how many cases each signal or symptom was seen."""
        return Counter(feature for case in self.cases for feature in case.features)

    @cached_property
    def _by_id(self) -> Mapping[str, Case]:
        return {case.id: case for case in self.cases}

    @cached_property
    def _by_cause(self) -> Mapping[str, tuple[Case, ...]]:
        found: dict[str, tuple[Case, ...]] = {}
        for case in self.cases:
            for cause in (case.cause, *case.also):
                found[cause] = (*found.get(cause, ()), case)
        return found

    @cached_property
    def _index(self) -> WordIndex:
        return WordIndex({case.id: _texts(case) for case in self.cases})


def load_cases(
    folder: Path | None = None,
    *,
    causes: Collection[str] | None = None,
    symptoms: Collection[str] | None = None,
) -> Library:
    """Read every `*.md` of a folder, by default the shipped one; `causes` and `symptoms` are the ids that exist.

    Raises CaseError with the problems of all files, each with file and line.
    """
    folder = SHIPPED if folder is None else folder
    if not folder.is_dir():
        raise CaseError([Problem(str(folder), 1, "expected a folder of cases")])
    paths = sorted(path for path in folder.glob("*.md") if path.is_file())
    if len(paths) > FILES_LIMIT:
        raise CaseError([Problem(str(folder), 1, f"expected at most {FILES_LIMIT} cases, found {len(paths)}")])
    cases: list[Case] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            cases.append(read_case(path, causes=causes, symptoms=symptoms))
        except CaseError as error:
            problems.extend(error.problems)
    if problems:
        raise CaseError(problems)
    return Library(tuple(cases))


def _texts(case: Case) -> list[tuple[str, float]]:
    """Return what a search looks at, with how much it counts."""
    ids = " ".join((case.id, case.cause, *case.signals, *case.symptoms))
    return [
        (case.title.en, 3.0),
        (case.title.zh, 3.0),
        (ids, 3.0),
        (f"{case.summary.en}\n{case.summary.zh}", 2.0),
        (f"{case.fix.en}\n{case.fix.zh}", 1.0),
        (f"{case.source} {case.layer} {case.entity} {' '.join(case.also)}", 1.0),
        (case.body, 1.0),
    ]
