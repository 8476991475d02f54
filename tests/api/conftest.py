"""One application for each test, with the shipped knowledge; and one really started service for the tests that need a socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.knowledge import load_knowledge
from api.settings import Settings
from diagnosis.engine import Knowledge
from tests.api.running import Server, start_server

NOW = 1769833200.0  # 2026-01-31T04:20:00Z
MakeClient = Callable[..., TestClient]


@pytest.fixture(scope="session")
def knowledge() -> Knowledge:
    return load_knowledge()


@pytest.fixture
def make_client(knowledge: Knowledge) -> Iterator[MakeClient]:
    """Make a client of an application with settings of its own; the store is in memory and the clock stands still."""
    opened: list[TestClient] = []

    def make(**settings: object) -> TestClient:
        app = create_app(Settings(**settings), knowledge, clock=lambda: NOW)  # type: ignore[arg-type]
        client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
        client.__enter__()
        opened.append(client)
        return client

    yield make
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def client(make_client: MakeClient) -> TestClient:
    return make_client()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running service with a short patience for slow senders."""
    folder: Path = tmp_path_factory.mktemp("serve")
    server = start_server(folder, environment={"FAULTWALK_HEADER_SECONDS": "2", "FAULTWALK_BODY_SECONDS": "3"})
    yield server
    server.stop()
