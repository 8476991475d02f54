"""Which conditions of the rulebook hold: a `When` and the facts in, the matches out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from collectors.observation import Observation
from diagnosis.comparisons import as_strings, holds
from diagnosis.facts import Facts
from diagnosis.metric_series import find_series
from diagnosis.model import Match
from diagnosis.nearness import Near, find_pair, make_groups
from diagnosis.rulebook import Rulebook, When

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
        sources = as_strings(when.source)
        codes = as_strings(when.code)
        derived = self.facts.derived_kinds
        found = []
        for one in observations:
            if sources and "any" not in sources and one.source not in sources:
                continue
            if codes and when.kind is not None and one.code not in codes:
                continue
            if when.where and not all(holds(test, name, one) for name, test in when.where.items()):
                continue
            proof = self.facts.because.get(one) if one.kind in derived else None
            found.append(Match(proof, one) if proof else Match((one,)))
        return found

    def _find_metric(self, when: When) -> list[Match]:
        return find_series(when, self.facts.by_metric)

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
        others, barred = [Near(when, part) for part in parts[1:]], Near(when, refused)
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
            for chosen in make_groups(matches, when.within):
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
            pair = find_pair(earlier, later, when.within)
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


def _merge(matches: Iterable[Match]) -> Match:
    joined = list(matches)
    subjects = list(dict.fromkeys(match.subject for match in joined if match.subject is not None))
    same = len({(one.entity, one.node) for one in subjects}) == 1
    return Match(
        tuple(dict.fromkeys(one for match in joined for one in match.observations)), subjects[0] if same else None
    )
