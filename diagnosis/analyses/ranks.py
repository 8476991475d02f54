"""Ranks in facts about collectives: lists of them, their order, and facts on one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from collectors.observation import Observation
from diagnosis.analyses.derived import derive_at
from diagnosis.figures import MOST_RANKS, parse_whole


def expand_ranks(text: str) -> list[str]:
    """Return the ranks that `first-last/step` or a list stands for.

    >>> expand_ranks("0-16/8"), expand_ranks("0,1,5"), expand_ranks("")
    (['0', '8', '16'], ['0', '1', '5'], [])
    """
    if "/" in text:
        span, _, step = text.partition("/")
        first, _, last = span.partition("-")
        low, high, by = parse_whole(first), parse_whole(last), parse_whole(step)
        if low is None or high is None or by is None:
            return []
        return [str(rank) for rank in range(low, min(high, MOST_RANKS) + 1, max(1, by))]
    return [one for one in text.split(",") if one]


def order_rank(rank: str) -> tuple[bool, int, str]:
    """Return a key that sorts ranks by number, those without one last."""
    number = parse_whole(rank)
    return number is None, number or 0, rank


def make_collective(
    code: str,
    one: Observation,
    rank: str,
    attributes: Mapping[str, str],
    text: str,
    *,
    whole: bool = False,
    place: Observation | None = None,
) -> Observation:
    """Make a derived `collective` fact at `one`; `whole`: its host is not the rank's; `place`: where the rank itself says so."""
    where = place or one
    named = rank if rank.isdigit() else ""
    derived = derive_at(
        where, "collective", code, text, {**attributes, "rank": named}, node="" if whole else None,
        entity=f"rank:{named}" if named else "",
    )  # fmt: skip
    return replace(derived, time=one.time)
