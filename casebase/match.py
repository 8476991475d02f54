"""Which past case looks like this one: the same cause, and how much of what was seen is shared."""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from casebase.case import Case, Language
from casebase.library import Library
from casebase.phrases import listed, name

SAME_CAUSE = 0.3  # for the same cause alone; the rest comes from what is shared
BESIDE = 0.5  # the most for a case in which the cause was seen beside another
MISSED = 0.6  # how much something seen in the case but not here counts against it
ADDED = 0.15  # and something seen here but not in the case: reports differ in how much they look at


class Citation(BaseModel):
    """A past case that resembles what is seen now; `case` is its id, `why` one sentence in the language asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    case: str
    title: str
    similarity: Annotated[float, Field(ge=0.0, le=1.0)]
    why: str


def cite(
    library: Library,
    cause: str,
    *,
    signals: Collection[str],
    symptoms: Collection[str],
    limit: int = 3,
    language: Language = "en",
    names: Mapping[str, str] | None = None,
) -> list[Citation]:
    """Return the cases that resemble this cause with these signals and symptoms, best first, ties by id.

    A case is cited when the cause is its own, or was seen beside its own and something else is shared too. Signals are
    ids of causes and symptoms, and codes such as `xid:79`; rare ones weigh more. `names` are words for ids in `why`.
    """
    seen = frozenset(item.casefold() for item in (*signals, *symptoms)) - {cause}
    found: list[tuple[float, str, Case]] = []
    for case in library.with_cause(cause):
        share = _share(library, seen, _features(case, cause))
        similarity = SAME_CAUSE + (1 - SAME_CAUSE) * share if case.cause == cause else BESIDE * share
        if similarity > 0:
            found.append((round(similarity, 4), case.id, case))
    found.sort(key=lambda item: (-item[0], item[1]))
    return [
        Citation(
            case=case.id,
            title=case.title.get(language),
            similarity=similarity,
            why=_why(case, cause, _shared(library, case, cause, seen), language=language, names=names),
        )
        for similarity, _, case in found[: max(limit, 0)]
    ]


def _features(case: Case, cause: str) -> frozenset[str]:
    """Return what can be shared: what was seen, and the case's own cause when it was another."""
    return (case.features | {case.cause}) - {cause}


def _weight(library: Library, features: Iterable[str]) -> float:
    """Return the summed weight of features: the fewer cases know one, the more it says."""
    return math.fsum(math.log(1 + len(library) / max(library.spread.get(item, 0), 1)) for item in features)


def _share(library: Library, seen: frozenset[str], case: frozenset[str]) -> float:
    """Return how much of the two is shared, 0 to 1; what no case knows doesn't count."""
    shared = _weight(library, seen & case)
    missed = _weight(library, case - seen)
    added = _weight(library, (item for item in seen - case if item in library.spread))
    return shared / (shared + MISSED * missed + ADDED * added) if shared else 0.0


def _shared(library: Library, case: Case, cause: str, seen: frozenset[str]) -> list[str]:
    """Return what the case and `seen` have in common, as the case writes it, the rarest first."""
    written = {item.casefold(): item for item in (*case.signals, *case.symptoms)}
    shared = sorted(_features(case, cause) & seen, key=lambda item: (library.spread.get(item, 0), item))
    return [written.get(item, item) for item in shared]


def _why(case: Case, cause: str, shared: list[str], *, language: Language, names: Mapping[str, str] | None) -> str:
    """Say in one sentence what the two have in common."""
    phrase = listed([name(item, language, names) for item in shared], language) if shared else ""
    own, other = name(cause, language, names), name(case.cause, language, names)
    if language == "zh":
        start = "根因相同" if case.cause == cause else f"那次的根因是 {other}，{own} 是同时看到的"
        return f"{start}；两次都看到：{phrase}。" if shared else f"{start}；那次的其他迹象这次没有看到。"
    start = "Same root cause" if case.cause == cause else f"That case ended at {other}, with {own} beside it"
    return f"{start}; both showed {phrase}." if shared else f"{start}; the other signs of that case were not seen here."
