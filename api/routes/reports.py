"""`GET /v1/reports/{id}`: a report that was answered before, as JSON or Markdown."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from api.deps import Service, ServiceDep
from api.markdown import render_markdown
from api.problems import ProblemError, responses
from api.reports import KeptReport, load_report
from diagnosis.model import Report

router = APIRouter(tags=["diagnosis"])
ReportId = Annotated[str, Path(alias="id", description="The report's id.", max_length=64)]


async def find_report(service: Service, report_id: str) -> KeptReport:
    """Return a kept report. Raises a 404 problem."""
    kept = await service.read(lambda store: load_report(store, report_id))
    if kept is None:
        raise ProblemError(404, "no-report", "There is no report with this id, or it is no longer kept.")
    return kept


@router.get("/v1/reports/{id}", response_model=Report, responses=responses(404, 422))
async def get_report(report_id: ReportId, service: ServiceDep) -> Response:
    """Return a report."""
    kept = await find_report(service, report_id)
    return Response(kept.report.model_dump_json(by_alias=True), media_type="application/json")


@router.get(
    "/v1/reports/{id}/markdown",
    response_class=Response,
    responses={
        200: {"description": "The report.", "content": {"text/markdown": {"schema": {"type": "string"}}}},
        **responses(404, 422),
    },
)
async def get_markdown(report_id: ReportId, service: ServiceDep) -> Response:
    """Return a report as Markdown."""
    kept = await find_report(service, report_id)
    return Response(render_markdown(kept.report), media_type="text/markdown")
