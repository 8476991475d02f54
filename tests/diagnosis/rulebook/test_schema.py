"""The shape of a rule: durations, the forms of a condition, and what each form needs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from diagnosis.rulebook.schema import CauseRule, Evidence, Example, Examples, SymptomRule, When, parse_duration
from tests.diagnosis.making import cause, evidence, symptom

XID: dict[str, Any] = {"kind": "xid"}


@pytest.mark.parametrize(
    ("value", "seconds"), [("90s", 90), ("10m", 600), ("2h", 7200), ("7d", 604800), ("250ms", 0.25), ("1.5h", 5400)]
)
def test_a_duration(value: str, seconds: float) -> None:
    assert parse_duration(value) == seconds


@pytest.mark.parametrize("value", ["", "10", 10, "ten minutes", "-5m", "5 m", "5w", None])
def test_no_duration(value: object) -> None:
    with pytest.raises(ValueError, match=r"^expected a duration such as 90s, 10m, 2h or 7d$"):
        parse_duration(value)


@pytest.mark.parametrize(
    ("when", "form"),
    [
        (XID, "fact"),
        ({"pattern": "x"}, "text"),
        ({"metric": "m", "above": 1}, "metric"),
        ({"query": "q"}, "query"),
        ({"all": [XID]}, "all"),
        ({"any": [XID]}, "any"),
        ({"count": 2, "of": XID}, "count"),
        ({"spread": "one", "by": "gpu", "of": XID}, "spread"),
        ({"first": XID, "then": XID}, "order"),
    ],
)
def test_forms(when: dict[str, Any], form: str) -> None:
    assert When.model_validate(when).form == form


ABSENCE = "`none` stands only inside `all`: absence alone is no evidence"


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ({}, "a condition needs one of: kind, pattern, metric, query, all, any, none, count, spread, first"),
        ({"source": "kernel"}, "a condition needs one of"),
        ({"count": 2}, "`count` needs `of: {...}`, the condition that is counted"),
        ({"spread": "one", "by": "gpu"}, "`spread` needs `of: {...}`"),
        ({"spread": "one", "of": XID}, "`spread` needs `by:` (gpu, node, pid, ...)"),
        ({"first": XID}, "`first` needs `then`"),
        ({"all": []}, "`all` needs at least one part that is not `none`"),
        ({"all": [{"none": [XID]}]}, "`all` needs at least one part that is not `none`"),
        ({"metric": "m"}, "a metric needs one of above, below, at_least, at_most, bits, rises, outlier"),
        ({"none": [XID]}, ABSENCE),
        ({"any": [XID, {"none": [XID]}]}, ABSENCE),
        ({"count": 1, "of": {"none": [XID]}}, ABSENCE),
        ({"first": {"none": [XID]}, "then": XID}, ABSENCE),
        ({"first": XID, "then": XID, "within": "soon"}, "expected a duration such as 90s, 10m, 2h or 7d"),
        ({"spread": "few", "by": "gpu", "of": XID}, "Input should be 'one' or 'many'"),
        ({"kind": "xid", "where": {"pid": {"over": 3}}}, "Extra inputs are not permitted"),
    ],
)
def test_what_a_condition_lacks(when: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Evidence.model_validate(evidence(when))
    assert message in str(caught.value)


def test_leaves_come_in_order() -> None:
    when = When.model_validate(
        {
            "all": [
                {"kind": "a"},
                {"any": [{"kind": "b"}, {"count": 2, "of": {"kind": "c"}}]},
                {"none": [{"first": {"kind": "d"}, "then": {"kind": "e"}}]},
            ]
        }
    )
    assert [leaf.kind for leaf in when.leaves()] == ["a", "b", "c", "d", "e"]


def test_an_example_is_a_line_or_a_series() -> None:
    assert Example.model_validate("a line").text == "a line"
    assert Example.model_validate({"series": "m{}", "values": "1x3", "step": "30s"}).step == 30
    for wrong in ({}, {"text": "x", "series": "m"}):
        with pytest.raises(ValidationError, match="an example has either `text` or `series` with `values`"):
            Example.model_validate(wrong)


def test_examples_match_and_say_why_not() -> None:
    with pytest.raises(ValidationError, match="at least 1 item"):
        Examples.model_validate({"match": []})
    with pytest.raises(ValidationError, match="a no_match example says `why` it must not match"):
        Examples.model_validate({"match": ["x"], "no_match": ["y"]})
    assert (
        Examples.model_validate({"match": ["x"], "no_match": [{"text": "y", "why": "other"}]}).no_match[0].why
        == "other"
    )


def test_a_rule_has_an_id_and_places_for_its_conditions() -> None:
    rule = CauseRule.model_validate(
        cause(
            "gpu.lost", XID, {"kind": "smi"}, against=[{"when": XID, "strength": "weak", "why": {"en": "x", "zh": "y"}}]
        )
    )
    assert rule.id == "gpu.lost"
    assert [(part, number) for part, number, _ in rule.conditions()] == [
        ("evidence", 0),
        ("evidence", 1),
        ("against", 0),
    ]
    assert rule.title.in_language("zh") == "中Title of gpu.lost"
    assert SymptomRule.model_validate(symptom("hang", XID)).id == "hang"


@pytest.mark.parametrize("field", ["title", "entity", "evidence", "checks", "fix", "action", "references"])
def test_a_cause_needs_its_fields(field: str) -> None:
    rule = cause("gpu.lost", XID)
    del rule[field]
    with pytest.raises(ValidationError, match=rf"{field}\n  Field required"):
        CauseRule.model_validate(rule)
    if isinstance(cause("gpu.lost", XID)[field], list):
        with pytest.raises(ValidationError, match="at least 1 item"):
            CauseRule.model_validate({**rule, field: []})
