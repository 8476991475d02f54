"""`POST /v1/ingest/{kind}`: keep evidence, for alerts to be diagnosed from."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from api.bodies import LONGEST_NAME, clean_name, content_type, read_body
from api.deps import ServiceDep
from api.intake import IngestAnswer, keep_evidence, source_kinds
from api.problems import ProblemError, responses
from collectors.identity import normalise_node

router = APIRouter(tags=["evidence"])
_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"text/plain": {"schema": {"type": "string", "pattern": r"\S"}}}},
}


@router.post("/v1/ingest/{kind}", responses=responses(404, 408, 413, 415, 422, 503), openapi_extra=_BODY)
async def ingest(
    request: Request,
    service: ServiceDep,
    kind: Annotated[str, Path(max_length=64, description="A source kind such as `kernel`, or `auto`.")],
    node: Annotated[str, Query(max_length=253, description="Host that the lines are from, where they don't say.")] = "",
    name: Annotated[str, Query(max_length=LONGEST_NAME, description="Name for citations.")] = "",
) -> IngestAnswer:
    """Keep a text's facts. The answer comes when they are on disk; the same text sent again is kept once."""
    kinds = source_kinds(service.knowledge.registry)
    if kind != "auto" and kind not in kinds:
        raise ProblemError(404, "unknown-kind", f"Expected auto or one of: {', '.join(kinds)}.")
    if content_type(request) in ("application/json", "multipart/form-data"):
        raise ProblemError(415, "content-type", "Send the text itself, as text/plain.")
    data = await read_body(request, service.settings.most_body)
    if not data.strip():
        raise ProblemError(422, "empty", "The body holds no text.")
    place, label = normalise_node(clean_name(node)) if node.strip() else "", clean_name(name) if name.strip() else ""
    answer = await service.work(
        lambda knowledge, store: keep_evidence(
            data, knowledge, store, service.writing(), kind=kind, node=place, name=label, now=service.clock()
        )
    )
    if not answer.already_kept:
        service.metrics.lines.inc(answer.lines)
    return answer
