"""The pages: a box to paste into, and the report. Rendered here; scripts only add comfort."""

from __future__ import annotations

import hmac
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from api.bodies import choose_language, read_form
from api.deps import ServiceDep
from api.page_words import page_word, problem_text
from api.problems import ProblemError
from api.routes.reports import ReportId, find_report
from api.routes.triage import diagnose_inputs
from api.samples import sample_folder, sample_inputs
from api.sessions import COOKIE, SECONDS
from diagnosis.model import CausePart, EvidencePart, Language, Report
from diagnosis.wording import describe_entity, percent

router = APIRouter(include_in_schema=False)
_TEMPLATES = Path(__file__).with_name("web") / "templates"
_MARKS = {"fault": "✕", "suspect": "!", "clear": "✓", "no-data": "–"}
_HIDDEN = frozenset(
    "\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
LangQuery = Annotated[str | None, Query(alias="lang", max_length=5)]


def visible(text: str) -> str:
    """Return a log line with control and direction characters shown instead of obeyed.

    >>> visible("a\\x1b[31m\\u202eb")
    'a␛[31m⟨U+202E⟩b'
    """
    return "".join(_show(c) for c in text)


def visible_lines(text: str) -> str:
    """Return what `visible` returns for each line of a citation."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _show(c: str) -> str:
    if c in _HIDDEN:
        return f"⟨U+{ord(c):04X}⟩"
    if c < " " and c != "\t":
        return chr(0x2400 + ord(c))
    return "␡" if "\x7f" <= c <= "\x9f" else c


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(visible=visible, visible_lines=visible_lines, probability=percent)
    environment.globals.update(mark=_MARKS.get, first_evidence=first_evidence)
    return environment


def render(template: str, language: Language, *, status: int = 200, other: str = "", **values: Any) -> HTMLResponse:
    """Return a page; `other` is the address of the same page in the other language."""

    def say(key: str, **parts: object) -> str:
        return page_word(key, language, **parts)

    def entity(name: str) -> str:
        return describe_entity(name, language)

    text = _environment().get_template(template).render(lang=language, say=say, entity=entity, other=other, **values)
    return HTMLResponse(text, status)


def first_evidence(cause: CausePart) -> EvidencePart | None:
    """Return the line that says most for a cause: of the strongest finding, the first."""
    return next((line for line in cause.evidence if line.role == "supports"), None)


def page_language(request: Request, chosen: str | None = None) -> Language:
    """Return the language of a page."""
    value = chosen if chosen in ("en", "zh") else None
    return choose_language(value, request.headers.get("accept-language", ""))


@router.get("/")
async def index(request: Request, service: ServiceDep, lang: LangQuery = None) -> Response:
    """Show the box."""
    return _index(request, page_language(request, lang), most_body=service.settings.most_body)


def _index(
    request: Request, language: Language, *, most_body: int, problem: ProblemError | None = None, text: str = ""
) -> Response:
    message = problem_text(problem.code, problem.detail, language) if problem else ""
    return render(
        "index.html",
        language,
        status=problem.status if problem else 200,
        other=f"/?lang={_other(language)}",
        message=message,
        text=text,
        size=most_body >> 20,
        has_sample=sample_folder() is not None,
    )


@router.post("/")
async def diagnose_form(request: Request, service: ServiceDep) -> Response:
    """Diagnose what the form holds, in both languages, and lead to the report; on an error the text stays in the box."""
    language, text = page_language(request), ""
    try:
        form = await read_form(request, most_files=service.settings.most_files)
        language, text = page_language(request, form.fields.get("language")), form.fields.get("text", "")
        folder = sample_folder() if form.fields.get("sample") else None
        inputs = sample_inputs(folder) if folder is not None else form.inputs()
        reports = await diagnose_inputs(service, inputs, [language, _other(language)], "page")
    except ProblemError as problem:
        return _index(request, language, most_body=service.settings.most_body, problem=problem, text=text)
    return RedirectResponse(f"/reports/{reports[0].id}#answer", status_code=303)


@router.get("/reports/{id}")
async def show_report(report_id: ReportId, service: ServiceDep) -> Response:
    """Show a report."""
    kept = await find_report(service, report_id)
    other = f"/reports/{kept.twin}" if kept.twin else ""
    return render("report.html", kept.report.language, other=other, **_parts(kept.report))


def _parts(report: Report) -> dict[str, Any]:
    roots = [cause for cause in report.causes if cause.verdict == "root"]
    main = roots if report.outcome == "undecided" else roots[:1]
    main = main[:3]
    titles = {cause.cause: cause.title for cause in report.causes}
    rest = [cause for cause in report.causes if cause not in main]
    return {"report": report, "main": main, "rest": rest, "titles": titles}


@router.get("/cases/{id}")
async def show_case(request: Request, service: ServiceDep, lang: LangQuery = None) -> Response:
    """Show a past incident."""
    language = page_language(request, lang)
    case = service.knowledge.library.get(request.path_params["id"])
    if case is None:
        raise ProblemError(404, "no-case", "There is no case with this id.")
    return render(
        "case.html",
        language,
        other=f"/cases/{case.id}?lang={_other(language)}",
        case=case,
        blocks=_blocks(case.prose(language)),
    )


def _blocks(prose: str) -> list[tuple[str, str]]:
    """Cut the prose of a case into headings, code and paragraphs; markup inside them stays text."""
    blocks: list[tuple[str, str]] = []
    code: list[str] | None = None
    for line in prose.splitlines():
        if line.startswith("```"):
            if code is not None:
                blocks.append(("code", "\n".join(code)))
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
        elif line.startswith("#"):
            blocks.append(("heading", line.lstrip("# ")))
        elif line.strip():
            if blocks and blocks[-1][0] == "open":
                blocks[-1] = ("open", f"{blocks[-1][1]} {line.strip()}")
            else:
                blocks.append(("open", line.strip()))
        elif blocks and blocks[-1][0] == "open":
            blocks[-1] = ("text", blocks[-1][1])
    return [("text" if kind == "open" else kind, text) for kind, text in blocks]


@router.get("/login")
async def login_form(request: Request, lang: LangQuery = None) -> Response:
    """Ask for the token."""
    language = page_language(request, lang)
    return render("login.html", language, other=f"/login?lang={_other(language)}", message="")


@router.post("/login")
async def login(request: Request, service: ServiceDep) -> Response:
    """Open a session for who knows the token."""
    language = page_language(request)
    form = await read_form(request, most_files=1)
    token, given = service.settings.token, form.fields.get("token", "")
    if token is None or not hmac.compare_digest(
        token.get_secret_value().encode(), given.strip().encode("utf-8", "replace")
    ):
        return render("login.html", language, status=403, message=page_word("token_wrong", language))
    response = RedirectResponse("/", status_code=303)
    secure = request.url.scheme == "https" or service.settings.public_url.startswith("https:")
    response.set_cookie(
        COOKIE, service.sessions.open(), max_age=SECONDS, httponly=True, samesite="strict", secure=secure
    )
    return response


def show_problem(request: Request, problem: ProblemError) -> Response | None:
    """Return an error as a page when a person asked for one, else None."""
    path = request.url.path
    if path.startswith(("/v1/", "/static/")) or "text/html" not in request.headers.get("accept", ""):
        return None
    language = page_language(request, request.query_params.get("lang"))
    message = problem_text(problem.code, problem.detail, language)
    return render("problem.html", language, status=problem.status, message=message)


def _other(language: Language) -> Language:
    return "en" if language == "zh" else "zh"
