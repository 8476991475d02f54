"""What every request passes: known host, same origin, token, size and time of the body; and what every answer carries."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from urllib.parse import urlsplit

from loguru import logger
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.deps import Service
from api.problems import ProblemError
from api.sessions import COOKIE

_OPEN = ("/healthz", "/readyz", "/login")  # without a token, and under any host name: probes name an address
_SAFE = ("GET", "HEAD", "OPTIONS")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser's own forms would come from the origin `null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Gate:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service
        token = service.settings.token
        self._token = _digest(token.get_secret_value().encode()) if token is not None else None
        self._hosts = {"localhost", "127.0.0.1", "::1", service.settings.host.strip("[]").lower()}
        self._hosts |= {name.lower() for name in service.settings.allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope)
            await self.app(scope, self._limit(scope, receive), answer)
        except ProblemError as problem:
            await problem.response()(scope, receive, answer)
        except _LoginNeededError as login:
            await login.response(scope, receive, answer)
        except Exception as error:  # noqa: BLE001  nothing may reach the server as a bare traceback
            logger.opt(exception=error).error("{} failed", scope["method"])
            if status == 0:
                await ProblemError(500, "internal", "Something went wrong here; the log says what.").response()(
                    scope, receive, answer
                )
            status = 500
        finally:
            self.service.metrics.count(_route(scope), status or 500, time.monotonic() - began)

    def _check(self, scope: Scope) -> None:
        path, headers = scope["path"], Headers(scope=scope)
        host = headers.get("host", "")
        if self._token is None and path not in _OPEN and _name(host) not in self._hosts:
            raise ProblemError(
                421, "unknown-host", "This service does not answer under that host name (FAULTWALK_ALLOWED_HOSTS)."
            )
        if scope["method"] not in _SAFE:
            origin, site = headers.get("origin"), headers.get("sec-fetch-site")
            if (origin is not None and urlsplit(origin).netloc.lower() != host.lower()) or site in (
                "cross-site",
                "same-site",
            ):
                raise ProblemError(403, "other-origin", "The request comes from a page of another origin.")
        if self._token is not None and path not in _OPEN and not path.startswith("/static/"):
            self._check_token(scope, headers)

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        assert self._token is not None
        if scheme.lower() == "bearer" and hmac.compare_digest(_digest(given.strip().encode()), self._token):
            return
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if cookie and self.service.sessions.holds(cookie):
            return
        if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            raise _LoginNeededError
        raise ProblemError(
            401, "token-required", "Send `Authorization: Bearer TOKEN`.", headers={"WWW-Authenticate": "Bearer"}
        )

    def _limit(self, scope: Scope, receive: Receive) -> Receive:
        """Return a `receive` that gives up on bodies that are too large or too slow."""
        settings = self.service.settings
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdigit() and int(declared[:20]) > settings.most_body:
            raise self.too_large()
        taken, ended = 0, False
        deadline = asyncio.get_running_loop().time() + settings.body_seconds

        async def limited() -> Message:
            nonlocal taken, ended
            if ended:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise ProblemError(
                    408, "slow-body", f"The body did not arrive within {settings.body_seconds:g} seconds.",
                    headers={"Connection": "close"},
                ) from None  # fmt: skip
            if message["type"] == "http.disconnect":  # also what the server says of chunks that make no sense
                raise ProblemError(400, "broken-body", "The body broke off.", headers={"Connection": "close"})
            taken += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            if taken > settings.most_body:
                raise self.too_large()
            return message

        return limited

    def too_large(self) -> ProblemError:
        """Return the error for a body above the limit."""
        limit = self.service.settings.most_body
        return ProblemError(
            413, "body-too-large", f"The body is larger than {limit} bytes.", headers={"Connection": "close"}
        )


class _LoginNeededError(Exception):
    """A person without a session asks for a page."""

    response = RedirectResponse("/login", status_code=303)


def _digest(value: bytes) -> bytes:
    return hashlib.sha256(value).digest()


def _name(host: str) -> str:
    """Return the name of a Host header, without the port."""
    name = host.lower()
    return name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]


def _route(scope: Scope) -> str:
    route = getattr(scope.get("route"), "path", "")
    return "/static" if scope["path"].startswith("/static/") else str(route)
