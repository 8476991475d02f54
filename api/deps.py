"""What the handlers share: the service with its knowledge, store and turns; and how a handler asks for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from queue import LifoQueue
from typing import Annotated, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request

from api.metrics import Metrics
from api.problems import ProblemError
from api.reports import Face, Statement
from api.sessions import Sessions
from api.settings import Settings
from collectors.store import Store
from diagnosis.engine import Knowledge
from diagnosis.model import Report

Result = TypeVar("Result")


class Service:
    """One store per process; a cursor per job; a bounded number of jobs, each in a worker thread with a scan of its own."""

    def __init__(self, settings: Settings, knowledge: Knowledge, store: Store, clock: Callable[[], float]) -> None:
        self.settings, self.knowledge, self.clock = settings, knowledge, clock
        self.metrics, self.sessions = Metrics(), Sessions(clock)
        self._store = store
        self._writing = threading.Lock()
        self._limiter: CapacityLimiter | None = None
        self._readers: CapacityLimiter | None = None
        self._spare: LifoQueue[Knowledge] = LifoQueue()
        for _ in range(settings.at_once):
            self._spare.put(replace(knowledge, scanner=knowledge.scanner.copy()))
        self._waiting = 0

    @contextmanager
    def cursor(self) -> Iterator[Store]:
        """Give a handle of the store to the thread that asks."""
        store = self._store.cursor()
        try:
            yield store
        finally:
            store.close()

    async def work(self, job: Callable[[Knowledge, Store], Result]) -> Result:
        """Run a job in a worker thread when its turn comes. Raises a 503 problem when too many wait already."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(self.settings.at_once)
        if self._limiter.available_tokens <= 0 and self._waiting >= self.settings.waiting:
            self._refuse()
        self._waiting += 1
        self.metrics.waiting.set(self._waiting)
        try:
            async with asyncio.timeout(self.settings.waiting_seconds):
                await self._limiter.acquire_on_behalf_of(job)
        except TimeoutError:
            self._refuse()
        finally:
            self._waiting -= 1
            self.metrics.waiting.set(self._waiting)
        try:
            with self.metrics.running.track_inprogress():
                return await to_thread.run_sync(self._run, job, limiter=CapacityLimiter(1))
        finally:
            self._limiter.release_on_behalf_of(job)

    async def read(self, job: Callable[[Store], Result]) -> Result:
        """Run a short look-up in a worker thread."""

        def run() -> Result:
            with self.cursor() as store:
                return job(store)

        if self._readers is None:
            self._readers = CapacityLimiter(8)
        return await to_thread.run_sync(run, limiter=self._readers)

    def write(self, store: Store, statements: Sequence[Statement]) -> None:
        """Run statements in one transaction, one writer at a time; on return they are on disk."""
        with self._writing:
            store.execute(*statements)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writer's place."""
        with self._writing:
            yield

    def count_report(self, face: Face, report: Report) -> None:
        """Count a diagnosis."""
        self.metrics.reports.labels(face, report.outcome).inc()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _run(self, job: Callable[[Knowledge, Store], Result]) -> Result:
        knowledge = self._spare.get_nowait()
        try:
            with self.cursor() as store:
                return job(knowledge, store)
        finally:
            self._spare.put(knowledge)

    def _refuse(self) -> None:
        self.metrics.refused.inc()
        raise ProblemError(
            503, "busy", "Too many requests are being worked on. Try again.", headers={"Retry-After": "5"}
        )


def get_service(request: Request) -> Service:
    """Return the service of the application that answers this request."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


ServiceDep = Annotated[Service, Depends(get_service)]
