"""Browser sessions: a page can't send a bearer token, so one form takes it and a cookie stands for it from then on."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable

COOKIE = "faultwalk_session"
SECONDS = 12 * 3600
_MOST = 1000


class Sessions:
    """Open sessions by the digest of their cookie, in memory only: a restart ends them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}
        self._lock = threading.Lock()

    def open(self) -> str:
        """Return the cookie of a new session."""
        value = secrets.token_urlsafe(32)
        with self._lock:
            now = self._clock()
            alive = sorted((ends, name) for name, ends in self._ends.items() if ends > now)[-(_MOST - 1) :]
            self._ends = {name: ends for ends, name in alive}
            self._ends[_digest(value)] = now + SECONDS
        return value

    def holds(self, value: str) -> bool:
        """Tell whether a cookie is that of an open session."""
        return self._ends.get(_digest(value), 0.0) > self._clock()


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()
