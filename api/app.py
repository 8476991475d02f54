"""The HTTP application: routes, error answers, OpenAPI, and the gate around all of them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.staticfiles import StaticFiles
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from api import pages
from api.bodies import TriageBody
from api.deps import Service
from api.gate import Gate
from api.notification import Notification
from api.problems import FieldError, ProblemBody, ProblemError
from api.routes import alerts, cases, health, ingest, reports, rules, triage
from api.settings import Settings
from collectors.store import Store
from diagnosis.engine import Knowledge

_STATIC = Path(__file__).with_name("web") / "static"


def create_app(settings: Settings, knowledge: Knowledge, *, clock: Callable[[], float] = time.time) -> FastAPI:
    """Return the application with its store open. Raises SettingsError and StoreError."""
    settings.check()
    if settings.store is not None:
        settings.store.parent.mkdir(parents=True, exist_ok=True)
    service = Service(settings, knowledge, Store.open(settings.store), clock)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="faultwalk",
        version=_version(),
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        separate_input_output_schemas=False,
    )
    app.state.service = service
    for module in (triage, reports, cases, rules, ingest, alerts, health):
        app.include_router(module.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_exception_handler(ProblemError, _problem)
    app.add_exception_handler(RequestValidationError, _parameters)
    app.add_exception_handler(HTTPException, _http)
    app.add_middleware(Gate, service=service)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return pages.show_problem(request, error) or error.response()


async def _parameters(request: Request, error: Exception) -> Response:
    """Answer for wrong parameters: which one and what was expected, not what it was."""
    assert isinstance(error, RequestValidationError)
    errors = [
        FieldError(
            pointer="/" + "/".join(str(part) for part in item["loc"][:2]), code=item["type"], expected=item["msg"]
        )
        for item in error.errors()
    ]
    return await _problem(request, ProblemError(422, "parameter", "A parameter is not as expected.", errors=errors))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    details = {404: "There is nothing here.", 405: "This address does not take that method."}
    detail = details.get(error.status_code, "The request can't be answered.")
    problem = ProblemError(error.status_code, f"http-{error.status_code}", detail, headers=error.headers)
    return await _problem(request, problem)


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes, description=_DESCRIPTION)
        models = [(model, "validation") for model in (TriageBody, Notification, ProblemBody)]
        _, extra = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
        components = schema.setdefault("components", {}).setdefault("schemas", {})
        components.update({name: body for name, body in extra["$defs"].items() if name not in components})
        components.pop("HTTPValidationError", None)
        components.pop("ValidationError", None)
        if app.state.service.settings.token is not None:
            schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema


_DESCRIPTION = (
    "From pasted logs or an alert to the root cause, with the lines that prove it. Errors are `application/problem+json` and never "
    "repeat what was sent."
)


def _version() -> str:
    try:
        return version("faultwalk")
    except PackageNotFoundError:
        return "0"
