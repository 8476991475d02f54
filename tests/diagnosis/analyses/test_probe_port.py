"""A probe of a port that no server opened is told; a probe of the right port is not."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import probe_port
from diagnosis.facts import Facts


def probe(port: int) -> Observation:
    text = f'Readiness probe failed: Get "http://10.0.0.71:{port}/health": dial tcp 10.0.0.71:{port}: connect: connection refused'
    return Observation("kube-events", "event", "a", 1, 1, text, code="Unhealthy", entity="pod:ml/web-0")


def listen(port: int) -> Observation:
    return Observation("serving", "serving-listen", "b", 2, 2, "Uvicorn running", attributes={"port": str(port)})


def test_another_port() -> None:
    ((found, because),) = list(probe_port.derive(Facts([probe(8080), listen(8000)])))
    assert (found.code, found.entity, found.attributes["probed"], found.attributes["listening"]) == (
        "differs",
        "pod:ml/web-0",
        "8080",
        "8000",
    )
    assert len(because) == 2


def test_the_right_port_or_no_server() -> None:
    assert list(probe_port.derive(Facts([probe(8000), listen(8000)]))) == []
    assert list(probe_port.derive(Facts([probe(8080)]))) == []
