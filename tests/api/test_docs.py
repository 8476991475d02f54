"""What docs/api.md shows runs, and what it lists is complete."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from api.settings import Settings
from tests.api.running import ROOT, Server, program, start_server

TEXT = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8080"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_server(tmp_path_factory.mktemp("docs"))
    yield server
    server.stop()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.S | re.M)


def test_every_command_runs(fresh: Server) -> None:
    assert len(blocks("sh")) >= 4
    program("curl")
    for block in blocks("sh"):
        script = "set -euo pipefail\n" + block.replace(ADDRESS, fresh.url)
        done = subprocess.run(
            ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, block + done.stdout + done.stderr
        answer, _ = json.JSONDecoder().raw_decode(done.stdout)
        assert answer.get("outcome", "diagnosed") in ("diagnosed", "undecided"), block
        for diagnosis in answer.get("diagnoses", ()):
            assert diagnosis["cause"]["cause"] == "gpu.fell-off-bus"


def test_the_error_is_as_shown(client: TestClient) -> None:
    shown = next(line for block in blocks("console") for line in block.splitlines() if line.startswith('{"type"'))
    answer = client.post("/v1/triage", content=b'{"inputs": NaN}\n', headers={"Content-Type": "application/json"})
    assert answer.text == shown


def test_every_endpoint_and_setting_is_listed(client: TestClient) -> None:
    for path in client.get("/openapi.json").json()["paths"]:
        assert path in TEXT or path.removesuffix("/markdown") in TEXT, path
    for name, field in Settings.model_fields.items():
        variable = f"FAULTWALK_{name.upper()}"
        assert f"`{variable}`" in TEXT, variable
        if isinstance(field.default, int | float) and not isinstance(field.default, bool):
            row = next(line for line in TEXT.splitlines() if f"`{variable}`" in line and line.startswith("|"))
            assert f"`{field.default:g}`" in row or f"`{field.default}`" in row, variable
