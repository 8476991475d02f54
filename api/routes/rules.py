"""`GET /v1/rules`: the causes and symptoms that have a rule."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from api.deps import ServiceDep
from api.problems import ProblemError, responses
from diagnosis.rulebook.schema import Text

router = APIRouter(tags=["knowledge"])


class RuleLine(BaseModel):
    """A rule in a list."""

    id: str
    kind: Literal["cause", "symptom"]
    layer: str = Field(description="The layer of a cause; a symptom has none.")
    title: Text


class RuleList(BaseModel):
    """Every rule."""

    rules: list[RuleLine]


class RuleBody(BaseModel):
    """A rule as it is written, with its examples, checks and references."""

    id: str
    kind: Literal["cause", "symptom"]
    place: str = Field(description="File and line.")
    rule: dict[str, Any]


@router.get("/v1/rules", responses=responses())
async def list_rules(service: ServiceDep) -> RuleList:
    """List causes and symptoms in order of id."""
    rulebook = service.knowledge.rulebook
    causes = [
        RuleLine(id=name, kind="cause", layer=rulebook.layer_of(name), title=rule.title)
        for name, rule in rulebook.causes.items()
    ]
    symptoms = [
        RuleLine(id=name, kind="symptom", layer="", title=rule.title) for name, rule in rulebook.symptoms.items()
    ]
    return RuleList(rules=sorted([*causes, *symptoms], key=lambda one: one.id))


@router.get("/v1/rules/{id}", responses=responses(404, 422))
async def get_rule(rule_id: Annotated[str, Path(alias="id", max_length=80)], service: ServiceDep) -> RuleBody:
    """Return a rule."""
    rulebook = service.knowledge.rulebook
    rule = rulebook.causes.get(rule_id) or rulebook.symptoms.get(rule_id)
    if rule is None:
        raise ProblemError(404, "no-rule", "There is no rule with this id.")
    return RuleBody(
        id=rule_id,
        kind="cause" if rule_id in rulebook.causes else "symptom",
        place=str(rulebook.places[rule_id]),
        rule=rule.model_dump(mode="json", by_alias=True, exclude_defaults=True),
    )
