"""`/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from api.deps import ServiceDep
from api.metrics import CONTENT_TYPE
from api.problems import ProblemError, responses

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """That the process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """That knowledge is loaded and the store answers."""

    status: Literal["ready"] = "ready"
    causes: int
    symptoms: int
    cases: int


@router.get("/healthz", responses=responses())
async def healthz() -> Health:
    """Tell that the process is alive."""
    return Health()


@router.get("/readyz", responses=responses(503))
async def readyz(service: ServiceDep) -> Readiness:
    """Tell whether requests can be answered."""
    try:
        await service.read(lambda store: store.query("SELECT count(*) FROM meta"))
    except Exception as error:  # whatever the store raises, it is not ready
        raise ProblemError(503, "store", "The store does not answer.") from error
    rulebook = service.knowledge.rulebook
    return Readiness(causes=len(rulebook.causes), symptoms=len(rulebook.symptoms), cases=len(service.knowledge.library))


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **responses()},
)
async def metrics(service: ServiceDep) -> Response:
    """Return counters for Prometheus."""
    return Response(service.metrics.text(), media_type=CONTENT_TYPE)
