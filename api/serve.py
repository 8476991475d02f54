"""`faultwalk serve`: check the settings, then hold the store and answer until told to stop."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from pydantic import ValidationError
from starlette.types import ASGIApp

from api.command import fail
from api.settings import Settings, SettingsError, default_store, read_token

_HEAD_BYTES = 64 << 10  # of a request's line and headers, and of what is read ahead


def run(*, host: str | None, port: int | None, store: Path | None, token_file: Path | None, rules: Path | None) -> None:
    """Run the command until it is stopped; exits with 2 and one clear line when the settings don't allow a start."""
    chosen: dict[str, Any] = {"host": host, "port": port, "store": store, "rules": rules}
    try:
        if token_file is not None:
            chosen["token"] = read_token(token_file)
        settings = Settings(**{name: value for name, value in chosen.items() if value is not None})
        if settings.store is None:
            settings = settings.model_copy(update={"store": default_store()})
        settings.check()
    except SettingsError as error:
        raise fail(str(error)) from error
    except ValidationError as error:
        places = ", ".join(
            f"FAULTWALK_{str(item['loc'][0]).upper()}: {item['msg']}" for item in error.errors() if item["loc"]
        )
        raise fail(f"the settings are not as expected: {places}") from error
    print(
        f"faultwalk: http://{_shown(settings.host)}:{settings.port}/ (store {settings.store})",
        file=sys.stderr,
        flush=True,
    )
    # One worker process: a DuckDB file has one owner. It is the process that may be killed and started again.
    Granian(
        "api.app:create_app",
        address="127.0.0.1" if settings.host == "localhost" else settings.host.strip("[]"),
        port=settings.port,
        interface=Interfaces.ASGI,
        workers=1,
        http=HTTPModes.http1,  # so that a connection that says nothing is closed in time too
        websockets=False,
        respawn_failed_workers=False,
        workers_kill_timeout=30,
        log_level=LogLevels.warning,
        http1_settings=HTTP1Settings(
            header_read_timeout=int(settings.header_seconds * 1000), max_buffer_size=_HEAD_BYTES
        ),
        backpressure=256,
    ).serve(target_loader=partial(_load, settings), wrap_loader=False)


def _load(settings: Settings) -> ASGIApp:
    """Return the application, in the worker process; one clear line and exit code 2 when it can't be made."""
    from loguru import logger

    from api.app import create_app
    from api.knowledge import load_knowledge
    from casebase.case import CaseError
    from collectors.store import StoreError
    from diagnosis.rulebook import RuleError

    logger.remove()
    # `diagnose` would print the values of variables, and so what people sent
    logger.add(sys.stderr, format="{time:YYYY-MM-DDTHH:mm:ssZ} {level} {message}", backtrace=False, diagnose=False)
    try:
        return create_app(settings, load_knowledge(settings.rules))
    except (RuleError, CaseError, StoreError, SettingsError, OSError) as error:
        print(f"faultwalk: {error}", file=sys.stderr, flush=True)
        os._exit(2)  # the parent then stops too


def _shown(host: str) -> str:
    return f"[{host.strip('[]')}]" if ":" in host else host
