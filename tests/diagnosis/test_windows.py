"""Windows: cut at gaps, joined where owners work together, the same in any order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.windows import Incident, Window, cut, join, make_windows

GAP = 30.0


@given(st.lists(st.floats(0, 1e6)), st.floats(0, 1e3))
def test_each_time_is_in_one_stretch_and_stretches_lie_apart(times: list[float], gap: float) -> None:
    found = cut(times, gap)
    assert all(sum(start <= time <= end for start, end in found) == 1 for time in times)
    assert all(later[0] - earlier[1] > gap for earlier, later in pairwise(found))


def test_owners_that_share_a_job_are_one_incident_while_it_lasts() -> None:
    windows = make_windows({"a": [0.0, 10.0, 500.0], "b": [35.0], "c": [12.0], "d": [510.0]}, GAP)
    ties = {"a": ["job 1"], "b": ["job 1"], "c": ["job 2"], "d": ["job 1"]}
    assert join(windows, ties, GAP) == [
        Incident(("a", "b"), 0.0, 35.0),
        Incident(("c",), 12.0, 12.0),
        Incident(("a", "d"), 500.0, 510.0),
    ]


def test_a_long_window_stays_open_for_later_ones() -> None:
    windows = [Window("a", 0.0, 1000.0), Window("b", 5.0, 6.0), Window("c", 900.0, 901.0)]
    ties = {"a": ["job"], "b": ["job"], "c": ["job"]}
    assert join(windows, ties, GAP) == [Incident(("a", "b", "c"), 0.0, 1000.0)]


def test_who_has_no_times_joins_all_it_is_tied_to() -> None:
    windows = make_windows({"a": [0.0, 500.0], "log": [], "other": []}, GAP)
    assert join(windows, {"a": ["job"], "log": ["job"]}, GAP) == [
        Incident(("a", "log"), 0.0, 0.0),
        Incident(("a", "log"), 500.0, 500.0),
        Incident(("other",)),
    ]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 300), st.floats(0, 100)), max_size=8),
    st.dictionaries(st.sampled_from("abc"), st.lists(st.sampled_from("xy"))),
    st.randoms(use_true_random=False),
)
def test_the_order_of_windows_does_not_matter(
    raw: list[tuple[str, float, float]], ties: dict[str, list[str]], random: object
) -> None:
    windows = [Window(owner, start, start + length) for owner, start, length in raw]
    shuffled = list(windows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert join(shuffled, ties, GAP) == join(windows, ties, GAP)
