"""`POST /v1/triage`: logs in, the report out."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from api.bodies import read_inputs_of
from api.deps import Service, ServiceDep
from api.intake import triage_in_languages
from api.problems import responses
from api.reports import Face, save_reports
from collectors.ingest import Input
from collectors.store import Store
from diagnosis.engine import Knowledge
from diagnosis.model import Language, Report

router = APIRouter(tags=["diagnosis"])
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "text/plain": {"schema": {"type": "string", "pattern": r"\S"}},
            "application/json": {"schema": {"$ref": "#/components/schemas/TriageBody"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "pattern": r"\S"},
                        "language": {"type": "string", "enum": ["en", "zh"]},
                        "files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
                    },
                    "anyOf": [{"required": ["text"]}, {"required": ["files"]}],
                }
            },
        },
    },
    "parameters": [
        {
            "name": "language",
            "in": "query",
            "description": "Language of the report, for bodies that don't say.",
            "schema": {"type": "string", "enum": ["en", "zh"]},
        }
    ],
}


@router.post("/v1/triage", response_model=Report, responses=responses(408, 413, 415, 422, 503), openapi_extra=_BODY)
async def triage(request: Request, service: ServiceDep) -> Response:
    """Diagnose logs: several kinds may be mixed, archives are opened. The text is not kept; the report is."""
    settings = service.settings
    inputs, language = await read_inputs_of(request, most=settings.most_body, most_files=settings.most_files)
    report = (await diagnose_inputs(service, inputs, [language], "api"))[0]
    return Response(report.model_dump_json(by_alias=True), media_type="application/json")


async def diagnose_inputs(service: Service, inputs: list[Input], languages: list[Language], face: Face) -> list[Report]:
    """Diagnose inputs when there is a turn, and keep the reports: on return they are on disk."""

    def job(knowledge: Knowledge, store: Store) -> list[Report]:
        now, settings = service.clock(), service.settings
        reports = triage_in_languages(inputs, knowledge, now=now, languages=languages, limits=settings.limits())
        service.write(store, save_reports(reports, face=face, received=now, keep=settings.keep_reports))
        return reports

    reports = await service.work(job)
    service.count_report(face, reports[0])
    return reports
