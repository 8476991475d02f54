"""Which conditions of the rulebook hold: a `When` and the facts in, the matches out."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from collectors.observation import Observation, Sample
from diagnosis.facts import Facts, observe_sample
from diagnosis.figures import read_number
from diagnosis.model import Match
from diagnosis.rulebook import Rulebook, Test, When

MOST_MATCHES = 2000  # matches of one condition that are looked at: repeats of a line prove nothing new


class Conditions:
    """Evaluates conditions over one set of facts."""

    def __init__(self, facts: Facts, rulebook: Rulebook) -> None:
        self.facts, self.rulebook = facts, rulebook

    def find(self, when: When) -> list[Match]:
        """Return the matches of a condition, an empty list when it does not hold."""
        form = when.form
        evaluate: Callable[[When], list[Match]] = getattr(self, f"_find_{form}")
        return evaluate(when)[:MOST_MATCHES]

    def _find_text(self, when: When) -> list[Match]:
        return self._select(self.facts.by_key.get(self.rulebook.key_of(when), ()), when)

    def _find_fact(self, when: When) -> list[Match]:
        return self._select(self.facts.by_kind.get(when.kind or "", ()), when)

    def _find_query(self, when: When) -> list[Match]:
        return self._select(self.facts.queries.get(when.query or "", ()), when)

    def _select(self, observations: Iterable[Observation], when: When) -> list[Match]:
        sources = _strings(when.source)
        codes = _strings(when.code)
        derived = self.facts.derived_kinds
        found = []
        for one in observations:
            if sources and "any" not in sources and one.source not in sources:
                continue
            if codes and when.kind is not None and one.code not in codes:
                continue
            if when.where and not all(_holds(test, name, one) for name, test in when.where.items()):
                continue
            proof = self.facts.because.get(one) if one.kind in derived else None
            found.append(Match(proof, one) if proof else Match((one,)))
        return found

    def _find_metric(self, when: When) -> list[Match]:
        series: dict[tuple[str, str, str], list[Sample]] = defaultdict(list)
        for name in _strings(when.metric):
            for sample in self.facts.by_metric.get(name, ()):
                series[(name, sample.node, sample.entity or _series(sample))].append(sample)
        peers = _peer_medians(series) if when.outlier else {}
        found = []
        for key, samples in sorted(series.items()):
            samples.sort(key=lambda one: (one.time if one.time is not None else 0.0, one.input, one.line))
            chosen = self._judge(when, samples, peers.get(key))
            if chosen:
                found.append(Match(tuple(observe_sample(sample) for sample in chosen)))
        return found

    def _judge(self, when: When, samples: list[Sample], peer: tuple[float, int] | None) -> list[Sample]:
        last = samples[-1]
        if when.where and not all(_holds(test, name, observe_sample(last)) for name, test in when.where.items()):
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
        if not all(_in_bounds(when, one.value) for one in window):
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

    def _find_any(self, when: When) -> list[Match]:
        return [match for part in when.any_ or () for match in self.find(part)]

    def _find_none(self, when: When) -> list[Match]:
        raise ValueError("`none` stands only inside `all`")

    def _find_all(self, when: When) -> list[Match]:
        wanted = [part for part in when.all_ or () if part.form != "none"]
        barred = [inner for part in when.all_ or () if part.form == "none" for inner in part.none_ or ()]
        parts = [self.find(part) for part in wanted]
        if not all(parts) or any(self._may_be_dropped(part) for part in barred):
            return []
        refused = [match for part in barred for match in self.find(part)]
        if when.same is None:
            return self._join(when, parts, refused)
        found = []
        for *chosen, out in self._align([*parts, refused], when.same, len(parts)):
            if all(chosen):
                found.extend(self._join(when, chosen, out))
        return found

    def _may_be_dropped(self, part: When) -> bool:
        """Tell whether what has to be absent may have been taken out of its source by a filter (`dmesg | grep -i nvidia`)."""
        sources = (part.source,) if isinstance(part.source, str) else tuple(part.source or ())
        return any(
            one.source in sources and not any(word in one.code.lower() for word in (part.kind or "", "nvrm") if word)
            for one in self.facts.by_kind.get("filtered", ())
        )

    def _align(self, parts: Sequence[list[Match]], same: str, deciding: int) -> Iterator[list[list[Match]]]:
        """Yield, for each value of `same` in the first `deciding` parts, the matches with this value or with none."""
        groups = [self._group(part, same) for part in parts]
        for value in sorted({value for group in groups[:deciding] for value in group if value}) or [""]:
            yield [[*group.get(value, ()), *(group.get("", ()) if value else ())] for group in groups]

    def _join(self, when: When, parts: list[list[Match]], refused: list[Match]) -> list[Match]:
        if when.within is None and when.within_lines is None:
            return [] if refused else [_merge(match for part in parts for match in part)]
        others, barred = [_Near(when, part) for part in parts[1:]], _Near(when, refused)
        for anchor in parts[0]:
            near = [[anchor], *(part.to(anchor) for part in others)]
            if all(near) and not barred.to(anchor):
                return [_merge(match for part in near for match in part)]
        return []

    def _find_count(self, when: When) -> list[Match]:
        assert when.of is not None and when.count is not None
        groups = self._group(self.find(when.of), when.same)
        found = []
        for _, matches in sorted(groups.items()):
            for chosen in _windows(matches, when.within):
                distinct = when.distinct
                size = len({self._value(match, distinct) for match in chosen} - {""}) if distinct else len(chosen)
                if size >= when.count:
                    found.append(_merge(chosen))
                    break
        return found

    def _find_spread(self, when: When) -> list[Match]:
        assert when.of is not None and when.by is not None
        found = []
        for _, matches in sorted(self._group(self.find(when.of), when.same).items()):
            values = {self._value(match, when.by) for match in matches} - {""}
            if len(values) == 1 if when.spread == "one" else len(values) > 1:
                found.append(_merge(matches))
        return found

    def _find_order(self, when: When) -> list[Match]:
        assert when.first is not None and when.then is not None
        parts = [self.find(when.first), self.find(when.then)]
        found = []
        for earlier, later in self._align(parts, when.same, 2) if when.same else [parts]:
            pair = _find_pair(earlier, later, when.within)
            if pair:
                found.append(_merge(pair))
        return list(dict.fromkeys(found))

    def _group(self, matches: list[Match], same: str | None) -> dict[str, list[Match]]:
        groups: dict[str, list[Match]] = defaultdict(list)
        for match in matches:
            groups[self._value(match, same) if same else ""].append(match)
        return groups

    def _value(self, match: Match, key: str) -> str:
        for one in match.facts():
            if key in ("input", "source", "kind", "code"):
                return str(getattr(one, key))
            if key == "time":
                return str(one.time) if one.time is not None else f"{one.input}:{one.line}"
            if key == "entity":
                return self.facts.resolver.resolve(one.entity, one.node)
            value = self.facts.resolver.entity_of(one, key) or one.attributes.get(key, "")
            if value:
                return value
        return ""


def _strings(value: str | int | Sequence[str | int] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else (str(value),)


def _series(sample: Sample) -> str:
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


def _in_bounds(when: When, value: float) -> bool:
    return (
        (when.above is None or value > when.above)
        and (when.below is None or value < when.below)
        and (when.at_least is None or value >= when.at_least)
        and (when.at_most is None or value <= when.at_most)
        and (when.bits is None or bool(int(value) & when.bits if 0 <= value < 2**62 else 0))
    )


def _number(text: Any) -> float | None:
    """Return the number that a text is, is in hexadecimal (`0x80`) or begins with (`12 GiB`)."""
    text = str(text)
    try:
        number = float(int(text, 16)) if text[:2] in ("0x", "0X") else float(text)
    except ValueError:
        match = re.match(r"-?\d+(?:\.\d+)?", text)
        number = float(match[0]) if match else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _holds(test: str | int | float | Test, name: str, one: Observation) -> bool:
    value = one.attributes.get(name)
    if value is None:
        value = {"node": one.node, "entity": one.entity, "text": one.text, "code": one.code}.get(name) or None
    if not isinstance(test, Test):
        return value is not None and _equal(value, test)
    if test.exists is not None and test.exists != (value is not None):
        return False
    if value is None:
        return test.exists is False
    if test.equals is not None and not _equal(value, _refer(test.equals, one)):
        return False
    if test.not_ is not None and _equal(value, _refer(test.not_, one)):
        return False
    if test.in_ is not None and not any(_equal(value, item) for item in test.in_):
        return False
    if test.matches is not None and not _regex(test.matches).search(value):
        return False
    number = _number(value)
    if test.bits is not None and (number is None or not int(number) & test.bits):
        return False
    for field, compare in _COMPARE.items():
        if getattr(test, field) is not None:
            bound = _number(_refer(getattr(test, field), one))
            if number is None or bound is None or not compare(number, bound):
                return False
    return True


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "above": lambda value, bound: value > bound,
    "below": lambda value, bound: value < bound,
    "at_least": lambda value, bound: value >= bound,
    "at_most": lambda value, bound: value <= bound,
}


def _refer(value: Any, one: Observation) -> Any:
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        return one.attributes.get(value[1:-1])
    return value


def _equal(value: str, other: Any) -> bool:
    if isinstance(other, bool):
        return value.lower() == str(other).lower()
    if isinstance(other, int | float):
        number = _number(value)
        return number is not None and number == other
    return value == str(other)


@cache
def _regex(regex: str) -> Any:
    import re2

    return re2.compile(regex)


def _merge(matches: Iterable[Match]) -> Match:
    joined = list(matches)
    subjects = list(dict.fromkeys(match.subject for match in joined if match.subject is not None))
    same = len({(one.entity, one.node) for one in subjects}) == 1
    return Match(
        tuple(dict.fromkeys(one for match in joined for one in match.observations)), subjects[0] if same else None
    )


class _Near:
    """Finds among matches those near another in time or lines, without comparing all with all."""

    def __init__(self, when: When, matches: Sequence[Match]) -> None:
        self._when, self._matches = when, matches
        self._groups: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for index, match in enumerate(matches):
            group, place = self._place(match) or ("", 0.0)
            self._groups[group].append((place, index))
        for places in self._groups.values():
            places.sort()

    def _place(self, match: Match) -> tuple[str, float] | None:
        """Return on which line (of an input, or of time) a match stands and where; None when it may be anywhere."""
        one = match.first
        if self._when.within_lines is not None:
            return f"input {one.input}", float(one.line)
        return None if one.time is None else ("time", one.time)

    def to(self, anchor: Match) -> list[Match]:
        """Return the matches near `anchor`, in their order."""
        place = self._place(anchor)
        if place is None:
            return list(self._matches)
        reach = self._when.within_lines if self._when.within_lines is not None else self._when.within or 0.0
        group = self._groups.get(place[0], [])
        low, high = (
            bisect_left(group, (place[1] - reach, -1)),
            bisect_right(group, (place[1] + reach, len(self._matches))),
        )
        chosen = sorted(index for _, index in (*group[low:high], *self._groups.get("", ())))
        return [self._matches[index] for index in chosen if _is_near(self._when, anchor, self._matches[index])]


def _is_near(when: When, one: Match, other: Match) -> bool:
    a, b = one.first, other.first
    if when.within_lines is not None and (a.input != b.input or abs(a.line - b.line) > when.within_lines):
        return False
    return when.within is None or a.time is None or b.time is None or abs(a.time - b.time) <= when.within


def _is_before(one: Observation, other: Observation, within: float | None) -> bool:
    if one.time is not None and other.time is not None and (one.time != other.time or one.input != other.input):
        return 0 <= other.time - one.time <= (within if within is not None else 1e12)
    age, later = read_number(one, "age"), read_number(other, "age")
    if (
        one.kind == other.kind == "event"
        and one.input == other.input
        and age is not None
        and later is not None
        and age != later
    ):
        return 0 <= age - later <= (within if within is not None else 1e12)
    return one.input == other.input and one.line < other.line


def _find_pair(earlier: Sequence[Match], later: Sequence[Match], within: float | None) -> tuple[Match, Match] | None:
    """Return the first of `earlier` that one of `later` follows, and that one."""
    timed = sorted(
        (match for match in later if match.first.time is not None),
        key=lambda match: (match.first.time or 0.0, match.first.input, match.first.line),
    )
    untimed = [match for match in later if match.first.time is None]
    times = [match.first.time or 0.0 for match in timed]
    for match in earlier:
        one = match.first
        low = 0 if one.time is None else bisect_left(times, one.time)
        high = len(times) if one.time is None or within is None else bisect_right(times, one.time + within)
        for other in (*timed[low:high], *untimed):
            if _is_before(one, other.first, within):
                return match, other
    return None


def _windows(matches: list[Match], within: float | None) -> Iterable[list[Match]]:
    """Yield the groups of matches that may be counted together: all, or those within a span of each other."""
    if within is None:
        yield matches
        return
    timed = sorted(
        (m for m in matches if m.first.time is not None),
        key=lambda m: (m.first.time or 0.0, m.first.input, m.first.line),
    )
    untimed = [m for m in matches if m.first.time is None]
    if not timed:
        yield untimed
        return
    low = 0
    for high, match in enumerate(timed):
        while (match.first.time or 0.0) - (timed[low].first.time or 0.0) > within:
            low += 1
        if high + 1 == len(timed) or (timed[high + 1].first.time or 0.0) - (timed[low].first.time or 0.0) > within:
            yield [*timed[low : high + 1], *untimed]
