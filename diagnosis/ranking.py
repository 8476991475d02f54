"""Order hypotheses: support, contradiction, root told from consequence. Pure; every number is a named part.

Support is a noisy-OR over independent evidence, `1 - Π(1 - s)`; contradictions multiply, `Π(1 - c)`. A hypothesis that an
evidenced cause brings about, on something that rests on that cause's entity, and not before it, is its consequence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import networkx as nx

from collectors.observation import HOST_KINDS
from diagnosis.entities import kind_of
from diagnosis.figures import read_number
from diagnosis.graph import find_path, rests_on
from diagnosis.model import LAYERS, Finding, Hypothesis, ScorePart
from diagnosis.recovery import Recovery, ended_by
from diagnosis.rulebook import Rulebook

EVIDENCED = 0.4  # a cause below this explains nothing away; what is blamed itself needs a cause that is blamed
CONCERN = 0.5  # from here on a root is blamed
SHOWN = 0.1
_SLACK = 900.0  # seconds beyond the timeout: clocks differ, and what brought it about may have lasted
_BEFORE, _AFTER = 600.0, 300.0  # seconds: how long before its effect a cause may end, and how long after it may begin
_SAME_BOOT = 300.0  # seconds by which the start of one boot may differ, told from lines that syslog stamped late
_OLD = 86400.0  # seconds: a cause last seen this long before the first complaint is history

_SENTENCES: dict[str, dict[str, str]] = {
    "against": {"en": "speaks against it", "zh": "与之矛盾"},
    "draft": {"en": "draft rule", "zh": "草案规则"},
    "old": {
        "en": "last seen more than a day before the first complaint",
        "zh": "最后一次出现比首个故障现象早一天以上",
    },
    "earlier-boot": {
        "en": "last seen before the host was started anew, and {other} was seen after that",
        "zh": "最后一次出现在主机上次启动之前，而此后出现的是“{other}”",
    },
    "ended-boot": {
        "en": "the host was started anew afterwards, and nothing of it was seen since",
        "zh": "此后主机已重新启动，且再未出现",
    },
    "ended-reset": {
        "en": "the GPU was reset afterwards, and nothing of it was seen since",
        "zh": "此后该 GPU 已复位，且再未出现",
    },
    "ended-cleared": {
        "en": "the driver took its request back afterwards (Xid 154: None), and nothing of it was seen since",
        "zh": "此后驱动已撤回恢复要求（Xid 154：None），且再未出现",
    },
    "unrelated": {
        "en": "explains none of the symptoms seen",
        "zh": "不能解释已看到的任何症状",
    },
    "explains": {"en": "explains {count} other finding(s)", "zh": "能解释另外 {count} 项发现"},
    "shared": {
        "en": "rests only on lines that {other} explains better",
        "zh": "所依据的日志行由“{other}”解释得更好",
    },
}


def rank(
    causes: Sequence[Hypothesis],
    symptoms: Sequence[Hypothesis],
    graph: nx.DiGraph,
    rulebook: Rulebook,
    *,
    priors: Mapping[str, float] | None = None,
    recoveries: Sequence[Recovery] = (),
    language: str = "en",
) -> list[Hypothesis]:
    """Score the hypotheses, tell roots from consequences and return them best first.

    Sets `probability`, `parts`, `verdict`, `because_of`, `explains` and `path` on each hypothesis.
    """
    complaint = min((time for one in symptoms if (time := one.times()[0]) is not None), default=None)
    for one in causes:
        _score_support(one, language)
        last = one.times()[1]
        if complaint is not None and last is not None and last < complaint - max(_OLD, _lag(one, rulebook)):
            _multiply(one, "old", 0.5, _SENTENCES["old"][language])
    _tell_consequences(causes, graph, rulebook)
    roots = [one for one in causes if one.verdict == "root"]
    _explain_away(roots, rulebook, language)
    for one in roots:
        one.explains = sorted(
            [other for other in causes if _root_of(other) is one and other is not one]
            + [
                symptom
                for symptom in symptoms
                if symptom.id in rulebook.reach(one.id) and _fits(symptom, one, graph, rulebook)
            ],
            key=lambda other: other.key,
        )
        _score_reach(one, symptoms, language)
    _put_back_earlier_boots(roots, language)
    _put_back_ended(roots, recoveries, rulebook, language)
    prior = priors or {}
    ordered = _join_siblings(sorted(causes, key=lambda one: _order(one, prior)))
    for one in ordered:
        one.path = _path(one, symptoms, graph, rulebook)
    return ordered


def _score_support(one: Hypothesis, language: str) -> None:
    missing = 1.0
    for finding in _independent(one.findings):
        if finding.supports:
            missing *= 1.0 - finding.strength
            one.parts.append(
                ScorePart(
                    "evidence", round(finding.strength, 3), finding.because or _cite(finding.observations()[0].text)
                )
            )
    one.probability = 1.0 - missing
    for finding in one.findings:
        if not finding.supports:
            one.probability *= 1.0 - finding.strength
            one.parts.append(
                ScorePart("against", -round(finding.strength, 3), finding.because or _SENTENCES["against"][language])
            )


def _independent(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings without those that say nothing but what a stronger one says of the same lines already."""
    told: set[tuple[str, int]] = set()
    kept: set[int] = set()
    for finding in sorted((one for one in findings if one.supports), key=lambda one: (-one.strength, one.key)):
        lines = {(one.input, one.line) for one in finding.observations()}
        if not lines <= told:
            kept.add(id(finding))
            told |= lines
    return [one for one in findings if not one.supports or id(one) in kept]


def _put_back_earlier_boots(roots: Sequence[Hypothesis], language: str) -> None:
    """Halve what was last seen in an earlier boot of a host on which another root is seen in a later one.

    Only lines with both a time and an uptime tell their boot; a root with evidence that does not stays as it is.
    """
    starts = {one.key: start for one in roots if (start := _last_start(one)) is not None}
    for one in roots:
        later = [
            other
            for other in roots
            if other.key in starts
            and one.key in starts
            and other.node == one.node
            and other.probability >= CONCERN
            and starts[other.key] > starts[one.key] + _SAME_BOOT
        ]
        if later and one.probability >= CONCERN:
            best = max(later, key=lambda other: (other.probability, other.key))
            _multiply(one, "earlier-boot", 0.5, _SENTENCES["earlier-boot"][language].format(other=best.id))


def _put_back_ended(
    roots: Sequence[Hypothesis], recoveries: Sequence[Recovery], rulebook: Rulebook, language: str
) -> None:
    """Halve what was ended by its remedy (reboot, reset) and explains nothing beside its own lines: it is over.

    What a job or a pod complains of stays explained by it.
    """
    for one in roots:
        ended = ended_by(one, rulebook.causes[one.id].action, recoveries) if recoveries else None
        own = {(fact.input, fact.line) for fact in one.observations()}
        hurt = any((fact.input, fact.line) not in own for other in one.explains for fact in other.observations())
        if ended is not None and not hurt:
            _multiply(one, "ended", 0.5, _SENTENCES[f"ended-{ended.code}"][language])


def _last_start(one: Hypothesis) -> float | None:
    """Return when the host was started in whose boot the evidence was last seen, None when some of it does not tell."""
    starts = []
    for finding in one.findings:
        for seen in finding.observations() if finding.supports else ():
            uptime = read_number(seen, "uptime")
            if seen.time is None or uptime is None:
                return None
            starts.append(seen.time - uptime)
    return max(starts, default=None)


def _cite(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."


def _multiply(one: Hypothesis, part: str, factor: float, because: str) -> None:
    one.probability *= factor
    one.parts.append(ScorePart(part, round(factor - 1.0, 3), because))


def _lag(one: Hypothesis, rulebook: Rulebook) -> float:
    """Return how long before or after a hypothesis its counterpart may stand: where its lines state a timeout, that and some more."""
    rule = rulebook.causes.get(one.id) or rulebook.symptoms.get(one.id)
    lag = rule.lag if rule is not None else _BEFORE
    return one.waited() + _SLACK if lag > _BEFORE and one.waited() else lag


def _fits(effect: Hypothesis, cause: Hypothesis, graph: nx.DiGraph, rulebook: Rulebook) -> bool:
    """Tell whether cause and effect agree in place and time."""
    upper, lower = effect.entity or _as_node(effect), cause.entity or _as_node(cause)
    if not rests_on(graph, upper, lower):
        return False
    effect_first, effect_last = effect.times()
    cause_first, cause_last = cause.times()
    if effect_first is None or effect_last is None or cause_first is None or cause_last is None:
        return True
    lag = max(_BEFORE, _lag(effect, rulebook), _lag(cause, rulebook))
    return cause_first <= effect_last + _AFTER and cause_last >= effect_first - lag


def _as_node(one: Hypothesis) -> str:
    return f"node:{one.node}" if one.node else ""


def _tell_consequences(causes: Sequence[Hypothesis], graph: nx.DiGraph, rulebook: Rulebook) -> None:
    for one in causes:
        rule = rulebook.causes[one.id]
        stands_for = set(rule.stands_for)
        explaining = []
        for other in causes:
            needed = EVIDENCED if rule.inconclusive or one.probability < CONCERN else CONCERN
            if other.id == one.id or other.probability < needed:
                continue
            reach = rulebook.reach(other.id)
            stand_in = bool(rulebook.causes[other.id].stands_for)
            known = one.id in reach or (bool(stands_for & reach) and not stand_in)
            if known and _fits(one, other, graph, rulebook):
                explaining.append(other)
        if explaining:
            one.verdict = "consequence"
            one.because_of = min(explaining, key=lambda other: (-round(other.probability, 3), _depth(other), other.key))
    for one in causes:  # a stand-in and what it leads to may explain each other: one of them has to be the root
        loop = _find_loop(one)
        if loop:
            root = min(
                loop,
                key=lambda other: (
                    bool(rulebook.causes[other.id].stands_for),
                    -round(other.probability, 3),
                    _depth(other),
                    other.key,
                ),
            )
            root.verdict, root.because_of = "root", None
    for one in causes:  # follow each chain to its root, which is never a consequence itself
        if one.because_of is not None:
            one.because_of = _root_of(one)


def _find_loop(one: Hypothesis) -> list[Hypothesis]:
    """Return the hypotheses that explain one another in a circle, where the chain from this one runs into such."""
    trail: list[Hypothesis] = []
    places: dict[int, int] = {}
    step: Hypothesis | None = one
    while step is not None:
        if id(step) in places:
            return trail[places[id(step)] :]
        places[id(step)] = len(trail)
        trail.append(step)
        step = step.because_of
    return []


def _root_of(one: Hypothesis) -> Hypothesis:
    while one.because_of is not None:
        one = one.because_of
    return one


def _explain_away(roots: Sequence[Hypothesis], rulebook: Rulebook, language: str) -> None:
    """A root that rests only on lines which a stronger root explains too has nothing of its own."""
    ordered = sorted(roots, key=lambda root: root.key)
    lines = {id(one): {(fact.input, fact.line) for fact in one.observations()} for one in ordered}
    holders: dict[tuple[str, int], list[Hypothesis]] = {}
    for one in ordered:
        for line in lines[id(one)]:
            holders.setdefault(line, []).append(one)
    for one in ordered:
        own = lines[id(one)]
        fewest: list[Hypothesis] = min((holders[line] for line in own), key=len, default=[])
        for other in fewest:
            if other is one or (other.probability, _own_strength(other)) <= (one.probability, _own_strength(one)):
                continue
            if own <= lines[id(other)]:
                title = rulebook.title(other.id, language)
                _multiply(one, "shared", 0.6, _SENTENCES["shared"][language].format(other=title))
                break


def _own_strength(one: Hypothesis) -> float:
    return max((finding.strength for finding in one.findings if finding.supports), default=0.0)


def _score_reach(one: Hypothesis, symptoms: Sequence[Hypothesis], language: str) -> None:
    others = [other for other in one.explains if other.layer and other.probability >= EVIDENCED]
    if others:
        before = one.probability
        one.probability = 1.0 - (1.0 - before) * 0.7 ** min(len(others), 2)
        sentence = _SENTENCES["explains"][language].format(count=len(others))
        one.parts.append(ScorePart("explains", round(one.probability - before, 3), sentence))
    if symptoms and not any(not other.layer for other in one.explains):
        _multiply(one, "unrelated", 0.85, _SENTENCES["unrelated"][language])


def _depth(one: Hypothesis) -> int:
    return -LAYERS.index(one.layer) if one.layer in LAYERS else 0


def _order(one: Hypothesis, priors: Mapping[str, float]) -> tuple[object, ...]:
    first = one.times()[0]
    # what the job suffers from comes before a fault that it does not feel
    felt = one.probability >= CONCERN and any(
        not other.layer and kind_of(other.entity) == "job" for other in one.explains
    )
    return (
        one.verdict != "root",
        not felt,
        -round(one.probability, 2),
        -len(one.explains),
        -sum(1 for finding in one.findings if finding.supports),
        _depth(one),
        -priors.get(one.id, 0.0),
        first if first is not None else math.inf,
        one.key,
    )


def _join_siblings(ordered: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Tell one cause on several GPUs, NICs or disks of one host once: the best stands, with the others' names and lines.

    Blamed ones join blamed ones only, so that a hint on one thing never rides on the proof on another.
    """
    kept: list[Hypothesis] = []
    firsts: dict[tuple[object, ...], Hypothesis] = {}
    stands_in: dict[int, Hypothesis] = {}
    for one in ordered:
        if one.because_of is not None:
            one.because_of = stands_in.get(id(one.because_of), one.because_of)
        kind, root = kind_of(one.entity), one.because_of
        place = (one.id, kind, one.node, root.key if root else None, one.probability >= CONCERN)
        first = firsts.setdefault(place, one)
        if first is one or kind not in HOST_KINDS:
            kept.append(one)
            continue
        stands_in[id(one)] = first
        first.others = tuple(dict.fromkeys((*first.others, one.entity, *one.others)))
        first.add_findings(one.findings)
        first.explains.extend(one.explains)
    for one in kept:
        one.explains = list(
            {id(other): other for each in one.explains if (other := stands_in.get(id(each), each)) is not one}.values()
        )
    return kept


def _path(one: Hypothesis, symptoms: Sequence[Hypothesis], graph: nx.DiGraph, rulebook: Rulebook) -> list[str]:
    """Return the entities from what hurts most visibly to the culprit."""
    if one.because_of is not None:
        return find_path(graph, one.entity or _as_node(one), one.because_of.entity or _as_node(one.because_of))
    hurt = sorted(
        (s for s in one.explains if not s.layer and s.entity), key=lambda s: (s.entity.split(":")[0] != "job", s.key)
    )
    start = hurt[0].entity if hurt else ""
    if not start:
        start = next((other.entity for other in one.explains if other.entity and other.entity != one.entity), "")
    end = one.entity or _as_node(one)
    known = kind_of(end) != "node" and start in graph and end in graph and nx.has_path(graph, start, end)
    ranks = [] if known else _ranks_named(one, graph) or _ranks_hit(one, graph)
    if len(ranks) == 1 and start not in ("", ranks[0], end):  # of the many that may be on a host, the one that was hit
        return list(
            dict.fromkeys([*find_path(graph, start, ranks[0]), ranks[0], *find_path(graph, _as_node(one), end), end])
        )
    return find_path(graph, start, end)


def _ranks_named(one: Hypothesis, graph: nx.DiGraph) -> list[str]:
    """Return the ranks whose processes the evidence names, or that say it themselves."""
    found: dict[str, None] = {}
    for fact in one.observations():
        process = f"process:{fact.node}/{fact.attributes.get('pid', '')}"
        if process in graph:
            found |= dict.fromkeys(name for name in sorted(graph.predecessors(process)) if kind_of(name) == "rank")
        if fact.entity.startswith("rank:") and fact.node == one.node:
            found[fact.entity] = None
    return list(found)


def _ranks_hit(one: Hypothesis, graph: nx.DiGraph) -> list[str]:
    """Return the ranks of which what a cause brought about is told, unless they are known to run on another host."""
    ranks = {other.entity for other in one.explains if other.layer and kind_of(other.entity) == "rank"}
    hosts = {
        rank: {name for name in graph.successors(rank) if kind_of(name) == "node"} if rank in graph else set()
        for rank in ranks
    }
    return sorted(rank for rank, names in hosts.items() if not names or _as_node(one) in names)
