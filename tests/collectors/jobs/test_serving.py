"""Model servers' lines: load, progress and the port they listen on, in the spellings of several versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.jobs import serving
from collectors.observation import Observation
from collectors.prefix import peel

LOGS = Path(__file__).parents[3] / "fixtures" / "logs" / "serving"


def parse(text: str) -> list[Observation]:
    return list(serving.parse_line(peel("a", 1, text)))


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        (
            (
                "INFO 04-11 10:02:31 metrics.py:455] Avg prompt throughput: 1.0 tokens/s, Running: 8 reqs, Swapped: 0 reqs, "
                "Pending: 3 reqs, GPU KV cache usage: 91.2%, CPU KV cache usage: 0.0%."
            ),
            {"running": "8", "swapped": "0", "waiting": "3", "usage": "91.2"},
        ),
        (
            (
                "(APIServer pid=1) INFO 03-17 15:38:10 [loggers.py:259] Engine 000: Running: 10 reqs, Waiting: 90 reqs, "
                "GPU KV cache usage: 19.3%, Prefix cache hit rate: 0.0%"
            ),
            {"running": "10", "waiting": "90", "usage": "19.3"},
        ),
        (
            "[2025-03-24 10:12:40 TP0] Decode batch. #running-req: 1288, #token: 402113, token usage: 0.97, #queue-req: 512",
            {"running": "1288", "waiting": "512", "usage": "97.0"},
        ),
        (
            "[2026-08-02 00:05:18] Decode batch, #running-req: 1, #full token: 142, full token usage: 0.02, #queue-req: 0",
            {"running": "1", "waiting": "0", "usage": "2.0"},
        ),
    ],
)
def test_load(text: str, attributes: dict[str, str]) -> None:
    (one,) = parse(text)
    assert (one.kind, dict(one.attributes)) == ("serving-load", attributes)
    assert one.time is not None


def test_progress_in_seconds() -> None:
    (one,) = parse("Loading safetensors checkpoint shards:  78% Completed | 7/9 [1:07:55<02:16, 68.0s/it]")
    assert (one.kind, one.attributes["percent"], one.attributes["seconds"]) == ("serving-progress", "78", "4075")


@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)", "8000"),
        (
            "(APIServer pid=1) INFO 09-14 07:20:11 [api_server.py:1912] Starting vLLM API server 0 on http://0.0.0.0:8080",
            "8080",
        ),
        ("I1020 06:42:33.870201 128 http_server.cc:4637] Started HTTPService at 0.0.0.0:8001", "8001"),
    ],
)
def test_port(text: str, port: str) -> None:
    (one,) = parse(text)
    assert (one.kind, one.attributes["port"]) == ("serving-listen", port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Running: many reqs",
        "#running-req:",
        "checkpoint shards: x% Completed",
        'INFO:     10.0.0.5:51820 - "GET /health HTTP/1.1" 200 OK',
    ],
)
def test_odd_lines_yield_nothing(text: str) -> None:
    assert parse(text) == []


def test_sample_log() -> None:
    found = [one for raw in (LOGS / "mixed-load.log").read_text().splitlines() for one in parse(raw)]
    assert [one.kind for one in found].count("serving-load") == 5
