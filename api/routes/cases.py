"""`GET /v1/cases`: past incidents with their confirmed causes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from api.deps import ServiceDep
from api.problems import ProblemError, responses
from casebase.case import Case, Text

router = APIRouter(tags=["knowledge"])


class CaseLine(BaseModel):
    """A case in a list."""

    id: str
    title: Text
    cause: str
    layer: str
    symptoms: list[str]


class CaseList(BaseModel):
    """Cases that were asked for."""

    total: int = Field(description="How many there are; `cases` holds the first of them.")
    cases: list[CaseLine]


@router.get("/v1/cases", responses=responses(422))
async def list_cases(
    service: ServiceDep,
    search: Annotated[str, Query(max_length=500, description="Words to look for, in English or Chinese.")] = "",
    cause: Annotated[str, Query(max_length=80, description="Id of a cause.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> CaseList:
    """List cases: the best matches for words first, else in order of id."""
    library = service.knowledge.library
    found = library.search(search, limit=len(library)) if search.strip() else library.all()
    if cause:
        wanted = set(library.with_cause(cause))
        found = tuple(case for case in found if case in wanted)
    lines = [
        CaseLine(id=case.id, title=case.title, cause=case.cause, layer=case.layer, symptoms=list(case.symptoms))
        for case in found[:limit]
    ]
    return CaseList(total=len(found), cases=lines)


@router.get("/v1/cases/{id}", responses=responses(404, 422))
async def get_case(case_id: Annotated[str, Path(alias="id", max_length=80)], service: ServiceDep) -> Case:
    """Return a case."""
    case = service.knowledge.library.get(case_id)
    if case is None:
        raise ProblemError(404, "no-case", "There is no case with this id.")
    return case
