"""From a request's body to named inputs: plain text, JSON or files, also gzip-encoded."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.exceptions import HTTPException

from api.problems import ProblemError, names_of, refuse_content
from api.strict_json import parse_json
from collectors.ingest import Input, text_input
from diagnosis.model import LANGUAGES, Language

LONGEST_NAME = 200
# Types under which tools send plain bytes when nobody names one: curl's --data-binary says form-urlencoded.
_PLAIN = ("", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded")


class InputBody(BaseModel):
    """One text to look at."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)] = Field(
        default="pasted", description="Citations use this name. Names that contain a host name place the text there."
    )
    text: str


class TriageBody(BaseModel):
    """What `POST /v1/triage` takes as JSON."""

    model_config = ConfigDict(extra="forbid")

    inputs: Annotated[list[InputBody], Field(min_length=1, max_length=1000)]
    language: Literal["en", "zh"] = "en"


def choose_language(value: str | None, accepted: str = "") -> Language:
    """Return the language asked for; else the first one of `Accept-Language` that is spoken here."""
    if value is not None:
        if value not in LANGUAGES:
            raise ProblemError(422, "language", "Expected en or zh as the language.")
        return "zh" if value == "zh" else "en"
    for part in accepted.lower().split(","):
        if part.strip()[:2] in LANGUAGES:
            return "zh" if part.strip().startswith("zh") else "en"
    return "en"


def content_type(request: Request) -> str:
    """Return the media type of the body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request, most: int) -> bytes:
    """Return the body, unpacked when it is gzip-encoded. Raises 413 above the limit and 415 for other encodings."""
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise ProblemError(415, "content-encoding", "The body may be gzip-encoded or not encoded.")
    body = await request.body()
    return _unpack(body, most) if encoding == "gzip" else body


def _unpack(body: bytes, most: int) -> bytes:
    try:
        unpacker = zlib.decompressobj(wbits=31)
        data = unpacker.decompress(body, most + 1)
    except zlib.error:
        raise ProblemError(400, "gzip", "The body is not gzip.") from None
    if len(data) > most:
        raise ProblemError(413, "body-too-large", f"The body is larger than {most} bytes when unpacked.")
    if not unpacker.eof or unpacker.unused_data:
        raise ProblemError(400, "gzip", "The body is not one whole gzip stream.")
    return data


async def read_inputs_of(request: Request, *, most: int, most_files: int) -> tuple[list[Input], Language]:
    """Return the inputs of a triage request and the language it asks for."""
    kind = content_type(request)
    accepted = request.headers.get("accept-language", "")
    language = choose_language(request.query_params.get("language"), accepted)
    if kind == "application/json":
        value = parse_json(await read_body(request, most))
        try:
            body = TriageBody.model_validate(value)
        except ValidationError as error:
            refuse_content(error, names_of(TriageBody, InputBody))
        if len(body.inputs) > most_files:
            raise ProblemError(413, "too-many-inputs", f"Expected at most {most_files} inputs.")
        return _distinct([text_input(one.name, one.text) for one in body.inputs]), body.language
    if kind == "multipart/form-data":
        form = await read_form(request, most_files=most_files)
        return form.inputs(), choose_language(form.fields.get("language"), accepted)
    if kind not in _PLAIN:
        raise ProblemError(415, "content-type", "Send text/plain, application/json or multipart/form-data.")
    body_bytes = await read_body(request, most)
    if not body_bytes.strip():
        raise ProblemError(422, "empty", "The body holds no text.")
    return [text_input("pasted", body_bytes)], language


@dataclass(slots=True)
class Form:
    """A multipart form: its text fields and its files."""

    fields: dict[str, str]
    files: list[Input]

    def inputs(self) -> list[Input]:
        """Return the field `text` and every file as inputs. Raises a 422 problem when there is nothing."""
        text = self.fields.get("text", "")
        pasted = [text_input("pasted", text.replace("\r\n", "\n"))] if text.strip() else []
        if not pasted and not self.files:
            raise ProblemError(422, "empty", "There is no text and no file.")
        return _distinct([*pasted, *self.files])


async def read_form(request: Request, *, most_files: int) -> Form:
    """Return a multipart form. Raises a 400 problem when it is broken."""
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ProblemError(415, "content-encoding", "A form may not be encoded.")
    fields: dict[str, str] = {}
    files: list[Input] = []
    try:
        async with request.form(max_files=most_files, max_fields=16, max_part_size=64 << 20) as form:
            for name, value in form.multi_items():
                if isinstance(value, str):
                    fields[name] = value
                elif value.filename or value.size:
                    files.append(text_input(value.filename or "upload", await value.read()))
    except HTTPException:
        raise ProblemError(400, "form", f"The form can't be read, or holds more than {most_files} files.") from None
    return Form(fields, files)


def _distinct(inputs: Sequence[Input]) -> list[Input]:
    """Give each input a name of its own that is safe to show: no control characters, no folders above, not too long."""
    seen: dict[str, int] = {}
    for one in inputs:
        name = clean_name(one.name)
        seen[name] = seen.get(name, 0) + 1
        one.name = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return list(inputs)


def clean_name(name: str) -> str:
    """Return a name without control and format characters, shortened.

    >>> clean_name("../../x"), clean_name("a\\r\\nSet-Cookie: b"), clean_name("\\u202egol.b")
    ('x', 'a Set-Cookie: b', 'gol.b')
    """
    text = "".join(c if c.isprintable() else " " for c in name if c not in _INVISIBLE)
    parts = [part for part in " ".join(text.split()).replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return "/".join(parts)[-LONGEST_NAME:].strip() or "unnamed"


_INVISIBLE = frozenset("\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
