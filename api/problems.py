"""Errors as `application/problem+json` (RFC 9457). They name what was expected and never repeat what was sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from fastapi import Response
from pydantic import BaseModel, Field, ValidationError

MEDIA_TYPE = "application/problem+json"
_BASE = "urn:faultwalk:problem:"
_TITLES = {
    400: "Bad request", 401: "Token required", 403: "Refused", 404: "Not found", 405: "Method not allowed",
    408: "Request too slow", 413: "Body too large", 415: "Unsupported content", 421: "Unknown host",
    422: "Unexpected content", 431: "Head too large", 500: "Internal error", 503: "Busy",
}  # fmt: skip
_MOST_ERRORS = 20


class FieldError(BaseModel):
    """One place of the body that is wrong."""

    pointer: str = Field(description="JSON pointer; names that the sender chose stand as `*`.")
    code: str
    expected: str


class ProblemBody(BaseModel):
    """The body of every error."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] = Field(default_factory=list)


class ProblemError(Exception):
    """An error with an answer of its own; `code` is stable and ends the problem's `type`."""

    def __init__(
        self, status: int, code: str, detail: str, *, errors: Sequence[FieldError] = (), headers: Mapping[str, str] | None = None
    ) -> None:  # fmt: skip
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.errors, self.headers = list(errors), dict(headers or {})

    def body(self) -> dict[str, Any]:
        """Return the problem as a JSON object."""
        values: dict[str, Any] = {
            "type": _BASE + self.code, "title": _TITLES.get(self.status, "Error"), "status": self.status, "detail": self.detail,
        }  # fmt: skip
        if self.errors:
            values["errors"] = [one.model_dump() for one in self.errors]
        return values

    def response(self) -> Response:
        """Return the answer."""
        content = json.dumps(self.body(), ensure_ascii=False).encode()
        return Response(content, self.status, headers=self.headers, media_type=MEDIA_TYPE)


def refuse_content(error: ValidationError, known: frozenset[str]) -> NoReturn:
    """Raise a 422 for a body that a model refused; only field names that are ours (`known`) stand in the pointers."""
    errors = []
    for item in error.errors(include_url=False, include_context=False, include_input=False)[:_MOST_ERRORS]:
        names = [str(part) if isinstance(part, int) or part in known else "*" for part in item["loc"]]
        expected = "a known field" if item["type"] == "extra_forbidden" else item["msg"]
        errors.append(FieldError(pointer="".join(f"/{name}" for name in names), code=item["type"], expected=expected))
    raise ProblemError(422, "unexpected-content", "The body does not have the expected shape.", errors=errors)


def names_of(*models: type[BaseModel]) -> frozenset[str]:
    """Return the field names, with aliases, of models."""
    fields = [(name, info) for model in models for name, info in model.model_fields.items()]
    return frozenset(name for key, info in fields for name in (key, info.alias or key))


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of the errors that a route can answer with."""
    schema = {"$ref": "#/components/schemas/ProblemBody"}
    return {
        status: {"description": _TITLES[status], "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in sorted({*statuses, 400, 401, 403, 421})
    }
