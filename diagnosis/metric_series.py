"""Conditions on a metric: the last value of each series, its rise, how long it lasted, and its peers."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

from collectors.observation import Sample
from diagnosis.comparisons import as_strings, holds, in_bounds
from diagnosis.facts import observe_sample
from diagnosis.model import Match
from diagnosis.rulebook import When


def find_series(when: When, by_metric: Mapping[str, Sequence[Sample]]) -> list[Match]:
    """Return a match for each series of samples for which a condition on a metric holds."""
    series: dict[tuple[str, str, str], list[Sample]] = defaultdict(list)
    for name in as_strings(when.metric):
        for sample in by_metric.get(name, ()):
            series[(name, sample.node, sample.entity or _name(sample))].append(sample)
    peers = _peer_medians(series) if when.outlier else {}
    found = []
    for key, samples in sorted(series.items()):
        samples.sort(key=lambda one: (one.time if one.time is not None else 0.0, one.input, one.line))
        chosen = _judge(when, samples, peers.get(key))
        if chosen:
            found.append(Match(tuple(observe_sample(sample) for sample in chosen)))
    return found


def _judge(when: When, samples: list[Sample], peer: tuple[float, int] | None) -> list[Sample]:
    last = samples[-1]
    if when.where and not all(holds(test, name, observe_sample(last)) for name, test in when.where.items()):
        return []
    if when.rises is not None:
        rise = last.value - samples[0].value
        return [samples[0], last] if len(samples) > 1 and rise >= when.rises else []
    window = [last]
    if when.for_ is not None:
        if last.time is None:
            return []
        window = [one for one in samples if one.time is not None and one.time >= last.time - when.for_]
        if len(window) < 2 or window[0].time is None or last.time - window[0].time < 0.8 * when.for_:
            return []
    if not all(in_bounds(when, one.value) for one in window):
        return []
    if when.outlier is not None:
        if peer is None or peer[1] < when.peers:
            return []
        middle = peer[0]
        low = when.outlier == "low"
        if not (
            last.value * when.factor <= middle and last.value < middle  # peers that all idle have no straggler
            if low
            else last.value >= middle * when.factor and last.value > 0
        ):
            return []
    return [last] if window[0] is last else [window[0], last]


def _name(sample: Sample) -> str:
    return "|".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))


def _peer_medians(series: Mapping[tuple[str, str, str], list[Sample]]) -> dict[tuple[str, str, str], tuple[float, int]]:
    """For each series, the median of the last values of the other series of its metric, and how many they are."""
    by_metric: dict[str, list[tuple[tuple[str, str, str], float]]] = defaultdict(list)
    for key, samples in series.items():
        last = max(samples, key=lambda one: (one.time if one.time is not None else 0.0, one.input, one.line))
        by_metric[key[0]].append((key, last.value))
    found = {}
    for rows in by_metric.values():
        values = sorted(value for _, value in rows)
        peers = len(values) - 1
        for key, value in rows if peers else ():
            own = bisect_left(values, value)
            # where the middle of the others stands among all, once its own place is skipped
            low, high = (at if at < own else at + 1 for at in ((peers - 1) // 2, peers // 2))
            found[key] = ((values[low] + values[high]) / 2, peers)
    return found
