"""Ranking: support, contradiction, root and consequence, time, and an order that does not hang on the order of input."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path

import pytest

from collectors.observation import Observation
from diagnosis.graph import JOB, build_graph
from diagnosis.model import STRENGTHS, Finding, Hypothesis, Match
from diagnosis.ranking import rank
from diagnosis.rulebook import Rulebook
from tests.diagnosis.making import cause, fact, hypothesis, make_facts, make_rulebook, symptom

GPU, OTHER = "gpu:node-a/0", "gpu:node-a/1"


@pytest.fixture
def rulebook(tmp_path: Path) -> Rulebook:
    return make_rulebook(
        tmp_path,
        cause("gpu.lost", {"kind": "a"}, leads_to=["nccl.peer", "gone"]),
        cause("gpu.hot", {"kind": "a"}, leads_to=["slow"]),
        cause("node.driver", {"kind": "a"}, leads_to=["gpu.lost"]),
        cause("nccl.peer", {"kind": "a"}, leads_to=["hang"]),
        cause("nccl.timeout", {"kind": "a"}, leads_to=["hang"], stands_for=["hang"]),
        cause("link.flap", {"kind": "a"}, leads_to=["hang"], lag="2h"),
        cause("app.bug", {"kind": "a"}, leads_to=["crash"]),
        symptom("hang", {"kind": "a"}),
        symptom("crash", {"kind": "a"}),
        symptom("gone", {"kind": "a"}, entity="gpu"),
    )


def ranked(
    rulebook: Rulebook,
    causes: Sequence[Hypothesis],
    symptoms: Sequence[Hypothesis] = (),
    *,
    priors: Mapping[str, float] | None = None,
) -> list[Hypothesis]:
    graph = build_graph(make_facts(), [one.entity for one in (*causes, *symptoms) if one.entity])
    return rank(causes, symptoms, graph, rulebook, priors=priors)


def told(found: Sequence[Hypothesis]) -> list[tuple[str, str, str]]:
    return [(one.id, one.verdict, one.because_of.id if one.because_of else "") for one in found]


# --- support


@pytest.mark.parametrize(
    ("strengths", "expected"),
    [
        (["strong"], 0.8),
        (["strong", "strong"], 0.96),
        (["weak", "moderate"], 1 - 0.8 * 0.55),
        (["decisive"], 0.95),
        (["weak"] * 3, 1 - 0.8**3),
    ],
)
def test_support_is_a_noisy_or(rulebook: Rulebook, strengths: list[str], expected: float) -> None:
    one = hypothesis("gpu.lost", GPU, *(fact("a") for _ in strengths))
    one.findings = [
        Finding(item.key, STRENGTHS[name], "why", item.matches)
        for item, name in zip(one.findings, strengths, strict=True)
    ]
    (found,) = ranked(rulebook, [one])
    assert found.probability == pytest.approx(expected)
    assert [(part.part, part.value, part.because) for part in found.parts] == [
        ("evidence", STRENGTHS[name], "why") for name in strengths
    ]


def test_repeats_of_one_signal_count_once(rulebook: Rulebook) -> None:
    one = hypothesis("gpu.lost", GPU, fact("a"))
    one.findings = [Finding("gpu.lost#0", 0.8, "", tuple(Match((fact("a", text="x" * 300),)) for _ in range(50)))]
    (found,) = ranked(rulebook, [one])
    assert found.probability == pytest.approx(0.8)
    assert len(found.parts[0].because) == 160


@pytest.mark.parametrize(("strength", "expected"), [(0.95, 0.04), (0.5, 0.4), (1.0, 0.0)])
def test_a_contradiction_multiplies(rulebook: Rulebook, strength: float, expected: float) -> None:
    one = hypothesis("gpu.lost", GPU, fact("a"))
    one.findings.append(Finding("gpu.lost!0", strength, "it was planned", (Match((fact("b"),)),), supports=False))
    (found,) = ranked(rulebook, [one])
    assert found.probability == pytest.approx(expected)
    assert (found.parts[1].part, found.parts[1].value, found.parts[1].because) == (
        "against",
        -strength,
        "it was planned",
    )


def test_a_contradicted_cause_explains_nothing_away(rulebook: Rulebook) -> None:
    one = hypothesis("gpu.lost", GPU, fact("a"))
    one.findings.append(Finding("gpu.lost!0", 0.8, "", (Match((fact("b"),)),), supports=False))
    found = ranked(rulebook, [one, hypothesis("nccl.peer", "rank:1", fact("a"))])
    assert told(found) == [("nccl.peer", "root", ""), ("gpu.lost", "root", "")]


# --- root and consequence


def test_what_a_cause_leads_to_is_its_consequence(rulebook: Rulebook) -> None:
    found = ranked(
        rulebook,
        [hypothesis("nccl.peer", "rank:1", fact("a"), strength="decisive"), hypothesis("gpu.lost", GPU, fact("a"))],
    )
    assert told(found) == [("gpu.lost", "root", ""), ("nccl.peer", "consequence", "gpu.lost")]
    assert [one.id for one in found[0].explains] == ["nccl.peer"]
    assert found[1].path == ["rank:1", "job:this job", "rank:1"] or found[1].path[0] == "rank:1"


def test_a_chain_ends_at_its_root(rulebook: Rulebook) -> None:
    names = {"node.driver": "node:node-a", "gpu.lost": GPU, "nccl.peer": "rank:1"}
    found = ranked(rulebook, [hypothesis(name, entity, fact("a")) for name, entity in names.items()])
    assert told(found) == [
        ("node.driver", "root", ""),
        ("gpu.lost", "consequence", "node.driver"),
        ("nccl.peer", "consequence", "node.driver"),
    ]


def test_a_weak_cause_explains_nothing(rulebook: Rulebook) -> None:
    found = ranked(
        rulebook,
        [hypothesis("nccl.peer", "rank:1", fact("a")), hypothesis("gpu.lost", GPU, fact("a"), strength="weak")],
    )
    assert told(found) == [("nccl.peer", "root", ""), ("gpu.lost", "root", "")]


def test_a_fault_on_another_thing_explains_nothing(rulebook: Rulebook) -> None:
    found = ranked(
        rulebook, [hypothesis("gpu.lost", OTHER, fact("a")), hypothesis("node.driver", "node:node-b", fact("a"))]
    )
    assert {one.verdict for one in found} == {"root"}


@pytest.mark.parametrize(
    ("cause_time", "effect_time", "verdict"),
    [
        (1000.0, 1000.0, "consequence"),
        (1000.0, 1600.0, "consequence"),
        (1000.0, 1601.0, "root"),  # too long ago
        (1300.0, 1000.0, "consequence"),  # logs come late
        (1301.0, 1000.0, "root"),  # later than what it would explain
        (None, 1000.0, "consequence"),
        (1000.0, None, "consequence"),
    ],
)
def test_time_links_or_parts(
    rulebook: Rulebook, cause_time: float | None, effect_time: float | None, verdict: str
) -> None:
    found = ranked(
        rulebook,
        [
            hypothesis("nccl.peer", "rank:1", fact("a", time=effect_time)),
            hypothesis("gpu.lost", GPU, fact("a", time=cause_time)),
        ],
    )
    assert next(one.verdict for one in found if one.id == "nccl.peer") == verdict


def test_a_lag_of_its_own_reaches_further(rulebook: Rulebook) -> None:
    causes = [
        hypothesis("link.flap", "nic:node-a/mlx5_0", fact("a", time=1000.0)),
        hypothesis("nccl.timeout", "job:1", fact("a", time=8000.0)),
    ]
    assert told(ranked(rulebook, causes)) == [("link.flap", "root", ""), ("nccl.timeout", "consequence", "link.flap")]


@pytest.mark.parametrize(("waited", "verdict"), [("7200000", "consequence"), ("600000", "root"), ("x", "consequence")])
def test_a_stated_timeout_says_how_far_to_look_back(rulebook: Rulebook, waited: str, verdict: str) -> None:
    found = ranked(
        rulebook,
        [
            hypothesis("link.flap", "nic:node-a/mlx5_0", fact("watchdog-timeout", time=1000.0, ran_ms=waited)),
            hypothesis("nccl.timeout", "job:1", fact("a", time=8000.0)),
        ],
    )
    assert next(one.verdict for one in found if one.id == "nccl.timeout") == verdict


def test_a_stand_in_gives_way_to_any_cause_of_what_it_stands_for(rulebook: Rulebook) -> None:
    causes = [
        hypothesis("nccl.timeout", "job:1", fact("a"), strength="decisive"),
        hypothesis("nccl.peer", "rank:1", fact("a")),
    ]
    assert told(ranked(rulebook, causes)) == [("nccl.peer", "root", ""), ("nccl.timeout", "consequence", "nccl.peer")]
    alone = ranked(
        rulebook, [hypothesis("nccl.timeout", "job:1", fact("a")), hypothesis("app.bug", "job:1", fact("a"))]
    )
    assert {one.verdict for one in alone} == {"root"}


def test_a_stand_in_and_what_it_leads_to_do_not_explain_each_other(tmp_path: Path) -> None:
    rulebook = make_rulebook(
        tmp_path,
        cause("nccl.timeout", {"kind": "a"}, leads_to=["nccl.peer", "hang"], stands_for=["hang"]),
        cause("nccl.peer", {"kind": "a"}, leads_to=["hang"]),
    )
    causes = [
        hypothesis("nccl.timeout", "job:1", fact("a"), strength="decisive"),
        hypothesis("nccl.peer", "rank:1", fact("a")),
    ]
    for order in (causes, causes[::-1]):
        fresh = deepcopy(order)
        assert told(ranked(rulebook, fresh)) == [
            ("nccl.peer", "root", ""),
            ("nccl.timeout", "consequence", "nccl.peer"),
        ]


def test_the_better_evidenced_of_two_causes_is_named(rulebook: Rulebook) -> None:
    causes = [
        hypothesis("nccl.timeout", "job:1", fact("a")),
        hypothesis("link.flap", "nic:node-a/mlx5_0", fact("a"), strength="moderate"),
        hypothesis("nccl.peer", "rank:1", fact("a"), strength="strong"),
    ]
    assert told(ranked(rulebook, causes))[-1] == ("nccl.timeout", "consequence", "nccl.peer")


# --- the same lines, old lines, symptoms


def test_a_root_that_rests_on_anothers_lines_counts_less(rulebook: Rulebook) -> None:
    shared = fact("a")
    found = ranked(rulebook, [hypothesis("gpu.hot", GPU, shared), hypothesis("app.bug", "job:1", shared, fact("b"))])
    assert [(one.id, round(one.probability, 2)) for one in found] == [("app.bug", 0.96), ("gpu.hot", 0.48)]
    assert (found[1].parts[-1].part, found[1].parts[-1].because) == (
        "shared",
        "rests only on lines that Title of app.bug explains better",
    )


def test_two_that_rest_on_the_same_lines_equally_stay(rulebook: Rulebook) -> None:
    shared = fact("a")
    found = ranked(rulebook, [hypothesis("gpu.hot", GPU, shared), hypothesis("app.bug", "job:1", shared)])
    assert [one.probability for one in found] == [pytest.approx(0.8), pytest.approx(0.8)]


def test_history_counts_half(rulebook: Rulebook) -> None:
    seen = [hypothesis("hang", "job:1", fact("a", time=200_000.0), layer="")]
    old, new = (
        hypothesis("link.flap", "nic:node-a/mlx5_0", fact("a", time=100_000.0)),
        hypothesis("nccl.peer", "rank:1", fact("a", time=199_999.0)),
    )
    found = ranked(rulebook, [old, new], seen)
    assert [one.id for one in found] == ["nccl.peer", "link.flap"]
    assert "old" in {part.part for part in found[1].parts}
    assert "old" not in {part.part for part in found[0].parts}


def test_the_present_boot_goes_before_earlier_ones(rulebook: Rulebook) -> None:
    old = hypothesis("gpu.lost", GPU, fact("a", time=100_000.0, uptime="7.2"), strength="decisive")
    new = hypothesis("app.bug", "node:node-a", fact("a", time=150_000.0, uptime="249.3"))
    found = ranked(rulebook, [old, new])
    assert [one.id for one in found] == ["app.bug", "gpu.lost"]
    assert "earlier-boot" in {part.part for part in found[1].parts}


@pytest.mark.parametrize(
    "later",
    [
        hypothesis("app.bug", "node:node-a", fact("a", time=150_000.0)),  # does not tell its boot
        hypothesis("app.bug", "node:node-b", fact("a", time=150_000.0, uptime="249.3")),  # another host
        hypothesis("app.bug", "node:node-a", fact("a", time=150_000.0, uptime="50007.0")),  # the same boot
        hypothesis(
            "app.bug", "node:node-a", fact("a", time=150_000.0, uptime="249.3"), strength="moderate"
        ),  # no fault
    ],
)
def test_an_earlier_boot_counts_in_full_without_a_later_fault(rulebook: Rulebook, later: Hypothesis) -> None:
    old = hypothesis("gpu.lost", GPU, fact("a", time=100_000.0, uptime="7.2"), strength="decisive")
    assert "earlier-boot" not in {part.part for one in ranked(rulebook, [old, later]) for part in one.parts}


def test_a_cause_explains_the_symptoms_that_it_leads_to(rulebook: Rulebook) -> None:
    seen = [
        hypothesis("hang", "job:1", fact("a"), layer=""),
        hypothesis("gone", GPU, fact("a"), layer=""),
        hypothesis("gone", "gpu:node-b/0", fact("a"), layer=""),
    ]
    lost, bug = ranked(
        rulebook, [hypothesis("app.bug", "job:1", fact("a")), hypothesis("gpu.lost", GPU, fact("a"))], seen
    )
    assert [one.key for one in lost.explains] == [("gone", GPU), ("hang", "job:1")]
    assert (bug.id, bug.explains, bug.parts[-1].part) == ("app.bug", [], "unrelated")
    assert bug.probability == pytest.approx(0.8 * 0.85)
    assert lost.path[0] == "job:1" and lost.path[-1] == GPU


# --- order


def test_ties_are_broken_by_depth_prior_time_and_name(rulebook: Rulebook) -> None:
    def order(*causes: Hypothesis, priors: Mapping[str, float] | None = None) -> list[str]:
        return [one.id for one in ranked(rulebook, causes, priors=priors)]

    assert order(hypothesis("app.bug", "job:1", fact("a")), hypothesis("gpu.hot", GPU, fact("a"))) == [
        "gpu.hot",
        "app.bug",
    ]
    assert order(hypothesis("gpu.lost", GPU, fact("a")), hypothesis("gpu.hot", GPU, fact("a"))) == [
        "gpu.hot",
        "gpu.lost",
    ]
    assert order(
        hypothesis("gpu.lost", GPU, fact("a")), hypothesis("gpu.hot", GPU, fact("a")), priors={"gpu.lost": 0.1}
    ) == ["gpu.lost", "gpu.hot"]
    assert order(hypothesis("gpu.lost", GPU, fact("a", time=5.0)), hypothesis("gpu.hot", GPU, fact("a", time=6.0))) == [
        "gpu.lost",
        "gpu.hot",
    ]
    assert order(hypothesis("app.bug", "job:1", fact("a"), fact("b")), hypothesis("gpu.hot", GPU, fact("a"))) == [
        "app.bug",
        "gpu.hot",
    ]


def test_a_prior_never_decides_alone(rulebook: Rulebook) -> None:
    causes = [hypothesis("gpu.lost", GPU, fact("a"), strength="moderate"), hypothesis("gpu.hot", GPU, fact("a"))]
    assert [one.id for one in ranked(rulebook, causes, priors={"gpu.lost": 0.99})] == ["gpu.hot", "gpu.lost"]


def _scene() -> tuple[list[Hypothesis], list[Hypothesis]]:
    shared = [fact("a", line=number + 1, time=100.0 + number) for number in range(4)]
    rows: list[tuple[str, str, list[Observation], str]] = [
        ("gpu.lost", GPU, [shared[0]], "strong"), ("gpu.lost", OTHER, [shared[1]], "strong"), ("gpu.hot", GPU, shared[:2], "moderate"),
        ("node.driver", "node:node-a", [shared[2]], "strong"), ("nccl.peer", "rank:3", shared[1:], "decisive"),
        ("nccl.timeout", "", [shared[3]], "strong"), ("link.flap", "nic:node-b/mlx5_0", [shared[3]], "strong"), ("app.bug", "job:1", [shared[3]], "strong"),
    ]  # fmt: skip
    causes = [hypothesis(name, entity, *facts, strength=strength) for name, entity, facts, strength in rows]
    return causes, [hypothesis("hang", "job:1", shared[3], layer=""), hypothesis("crash", "", shared[0], layer="")]


def test_shuffled_hypotheses_come_out_in_one_order(rulebook: Rulebook) -> None:
    expected: list[object] = []
    for seed in range(20):
        causes, symptoms = _scene()
        random.Random(seed).shuffle(causes)
        random.Random(seed).shuffle(symptoms)
        found = [
            (
                one.key,
                one.verdict,
                one.because_of and one.because_of.key,
                one.probability,
                [(part.part, part.value) for part in one.parts],
                [other.key for other in one.explains],
                one.path,
            )
            for one in ranked(rulebook, causes, symptoms)
        ]
        expected = expected or list(found)
        assert found == expected


def test_a_thousand_hypotheses_with_many_lines_are_ranked(rulebook: Rulebook) -> None:
    lines = [fact("a", time=number / 10) for number in range(1000)]
    causes = [hypothesis("gpu.lost", f"gpu:node-{number}/0", *lines[: number % 40 + 1]) for number in range(400)]
    causes += [hypothesis("node.driver", f"node:node-{number}", *lines[:3]) for number in range(400)]
    causes += [hypothesis("nccl.peer", f"rank:{number}", *lines[-5:]) for number in range(200)]
    found = ranked(rulebook, causes, [hypothesis("hang", "", *lines, layer="")])
    roots = [one for one in found if one.verdict == "root"]
    assert len(roots) == 1 and len(roots[0].others) == 399  # one cause on 400 hosts, told by the same lines


# --- one cause on several things of one host


def test_siblings_on_one_host_are_told_once(rulebook: Rulebook) -> None:
    one, two = (
        hypothesis("gpu.lost", GPU, fact("a", line=1), strength="strong"),
        hypothesis("gpu.lost", OTHER, fact("a", line=2), strength="strong"),
    )
    (found,) = ranked(rulebook, [one, two])
    assert (found.entity, found.others) == (GPU, (OTHER,))
    assert len(found.findings) == 2


def test_a_hint_does_not_ride_on_the_proof_on_another(rulebook: Rulebook) -> None:
    found = ranked(
        rulebook,
        [
            hypothesis("gpu.lost", GPU, fact("a", line=3), strength="strong"),
            hypothesis("gpu.lost", OTHER, fact("a", line=4), strength="weak"),
        ],
    )
    assert [(one.entity, one.others) for one in found] == [(GPU, ()), (OTHER, ())]


def test_two_causes_stay_two(rulebook: Rulebook) -> None:
    found = ranked(
        rulebook,
        [
            hypothesis("gpu.lost", GPU, fact("a", line=5), strength="strong"),
            hypothesis("gpu.hot", OTHER, fact("a", line=6), strength="strong"),
        ],
    )
    assert sorted(one.id for one in found) == ["gpu.hot", "gpu.lost"]


def test_hosts_that_one_line_names_are_told_once(rulebook: Rulebook) -> None:
    (found,) = ranked(
        rulebook,
        [hypothesis("node.driver", f"node:node-{name}", fact("a", line=9), strength="strong") for name in "abc"],
    )
    assert (found.entity, found.others) == ("node:node-a", ("node:node-b", "node:node-c"))
    assert [part.part for part in found.parts] == ["evidence"]  # none explains the other away


def test_hosts_with_lines_of_their_own_stay_apart(rulebook: Rulebook) -> None:
    both = [hypothesis("node.driver", f"node:node-{line}", fact("a", line=line), strength="strong") for line in (1, 2)]
    assert [one.others for one in ranked(rulebook, both)] == [(), ()]


def test_hosts_stay_apart(rulebook: Rulebook) -> None:
    found = ranked(
        rulebook,
        [
            hypothesis("gpu.lost", GPU, fact("a", line=7), strength="strong"),
            hypothesis("gpu.lost", "gpu:node-b/0", fact("a", line=8), strength="strong"),
        ],
    )
    assert len(found) == 2


def test_what_the_job_suffers_from_comes_before_what_it_does_not_feel(rulebook: Rulebook) -> None:
    apart = hypothesis("gpu.lost", OTHER, fact("a"), strength="decisive")
    felt = hypothesis("app.bug", "rank:3", fact("a"))
    symptoms = [hypothesis("crash", JOB, fact("a"), layer=""), hypothesis("gone", OTHER, fact("a"), layer="")]
    assert [one.id for one in ranked(rulebook, [apart, felt], symptoms)] == ["app.bug", "gpu.lost"]
    assert [one.id for one in ranked(rulebook, [apart, felt], symptoms[1:])] == ["gpu.lost", "app.bug"]


def test_the_way_to_a_host_runs_by_the_rank_whose_process_the_evidence_names(rulebook: Rulebook) -> None:
    killed = fact("a", node="node-a", pid="4242")
    ranks = [
        fact("init", entity=f"rank:{rank}", node="node-a", rank=str(rank), pid=str(4240 + rank)) for rank in range(8)
    ]
    one = hypothesis("app.bug", "node:node-a", killed)
    hurt = hypothesis("crash", JOB, fact("a"), layer="")
    graph = build_graph(make_facts(killed, *ranks), ["node:node-a", JOB])
    assert rank([one], [hurt], graph, rulebook)[0].path == [JOB, "rank:2", "node:node-a"]
