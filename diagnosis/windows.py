"""When and where things happen together: times cut into windows at gaps, windows joined where their owners work together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time on one owner (a host, a job); without a time when no line tells one."""

    owner: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Incident:
    """Owners in whose windows things happened together, from the first moment to the last."""

    owners: tuple[str, ...]
    start: float | None = None
    end: float | None = None


def cut(times: Iterable[float], gap: float) -> list[tuple[float, float]]:
    """Return (first, last) of each stretch of times that no gap longer than `gap` breaks.

    >>> cut([50.0, 1.0, 2.0, 99.0], 30.0)
    [(1.0, 2.0), (50.0, 50.0), (99.0, 99.0)]
    """
    stretches: list[tuple[float, float]] = []
    for time in sorted(times):
        if stretches and time - stretches[-1][1] <= gap:
            stretches[-1] = (stretches[-1][0], time)
        else:
            stretches.append((time, time))
    return stretches


def make_windows(moments: Mapping[str, Collection[float]], gap: float) -> list[Window]:
    """Return the windows of each owner, one without a time for an owner whose moments are unknown."""
    return [
        window
        for owner in sorted(moments)
        for window in (
            [Window(owner, start, end) for start, end in cut(moments[owner], gap)]
            if moments[owner]
            else [Window(owner)]
        )
    ]


def join(windows: Sequence[Window], ties: Mapping[str, Collection[str]], gap: float) -> list[Incident]:
    """Return what happened together: windows of owners that share a tie and lie no more than `gap` apart.

    An owner without times joins every incident of those it is tied to, as its lines may belong to any of them; tied to
    none, it is an incident by itself.
    """
    timed = sorted(
        (one for one in windows if one.start is not None and one.end is not None),
        key=lambda one: (one.start, one.end, one.owner),
    )
    parent = list(range(len(timed)))

    def find(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    open_at: dict[str, list[tuple[float, int]]] = {}  # by tie: windows that may still be near the next one
    for place, window in enumerate(timed):
        assert window.start is not None and window.end is not None
        for tie in sorted({f"owner {window.owner}", *ties.get(window.owner, ())}):
            near = [(end, other) for end, other in open_at.get(tie, ()) if window.start - end <= gap]
            for _, other in near:
                parent[find(place)] = find(other)
            open_at[tie] = [(max([window.end, *(end for end, _ in near)]), place)]
    members: dict[int, list[Window]] = {}
    for place, window in enumerate(timed):
        members.setdefault(find(place), []).append(window)
    found = [_incident(group) for group in members.values()]
    for window in windows:
        if window.start is None:
            found = _join_untimed(window.owner, found, ties)
    return sorted(found, key=lambda one: (one.start is None, one.start or 0.0, one.end or 0.0, one.owners))


def _incident(group: Sequence[Window]) -> Incident:
    starts = [one.start for one in group if one.start is not None]
    ends = [one.end for one in group if one.end is not None]
    return Incident(tuple(sorted({one.owner for one in group})), min(starts), max(ends))


def _join_untimed(owner: str, found: Sequence[Incident], ties: Mapping[str, Collection[str]]) -> list[Incident]:
    wanted = set(ties.get(owner, ()))
    joined, met = [], False
    for one in found:
        shared = any(wanted & set(ties.get(other, ())) for other in one.owners)
        met = met or shared
        joined.append(Incident(tuple(sorted({*one.owners, owner})), one.start, one.end) if shared else one)
    return joined if met else [*joined, Incident((owner,))]
