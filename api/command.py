"""What the commands share: how one ends with a clear line, how options name a time, how a path is shown."""

from __future__ import annotations

import gc
import os
import sys

import typer

from collectors.clock import parse_iso


def fail(message: str) -> typer.Exit:
    """Print a message to standard error and return the exit that carries status 2."""
    print(f"faultwalk: {message}", file=sys.stderr)
    return typer.Exit(2)


def collect_rarely() -> None:
    """Have Python look for garbage rarely: what a command loads stays, and looking through it again and again takes a tenth of
    its time."""
    gc.set_threshold(50_000, 20, 100)


def read_moment(text: str | None, option: str) -> float | None:
    """Return the time that an option names; exits with a clear line when it is none."""
    if text is None:
        return None
    moment = parse_iso(text if len(text) > 10 else f"{text}T00:00:00")
    if moment is None:
        raise fail(f"{option} {text}: expected a time such as 2026-01-31T04:15:00Z")
    return moment


def shown_name(name: str) -> str:
    """Return a name as a report can hold it: a path may be any bytes, a report is UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")
