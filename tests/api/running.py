"""A really started service, and the programs that the tests drive. A missing program fails the test; nothing is skipped."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "fixtures" / "incidents" / "link-flap-hidden-behind-nccl-timeout"
XID = "2026-01-31T04:15:00.123456+00:00 node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus."
Value = TypeVar("Value")


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def program(name: str) -> str:
    """Return the path of a program of this machine."""
    path = shutil.which(name)
    assert path is not None, f"{name} is not installed; .ci/run installs it"
    return path


def wait_for(probe: Callable[[], Value | None], what: str, seconds: float = 60.0) -> Value:
    """Return what a probe finds, as soon as it finds it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = probe()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds:g} s in vain for {what}")


@dataclass
class Server:
    """A running `faultwalk serve`."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path
    token: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def stop(self) -> None:
        """Stop it in good order."""
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill it and its worker as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)


def command() -> list[str]:
    """Return how to run faultwalk in this environment."""
    return [sys.executable, "-c", "from api.cli import main; main()"]


def start_server(folder: Path, *options: str, token: str = "", environment: Mapping[str, str] | None = None) -> Server:
    """Start the service on a free port, with its store in a folder, and wait until it is ready."""
    port, log = free_port(), folder / "serve.log"
    arguments = ["serve", "--port", str(port), "--store", str(folder / "store.duckdb"), *options]
    if token:
        (folder / "token").write_text(token + "\n", encoding="utf-8")
        arguments += ["--token-file", str(folder / "token")]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FAULTWALK_")}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command(), *arguments],
            cwd=ROOT,
            env={**clean, **(environment or {})},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    server = Server(port, process, log, token)

    def ready() -> bool:
        assert process.poll() is None, f"the service ended at its start:\n{log.read_text(encoding='utf-8')}"
        try:
            return httpx.get(f"{server.url}/readyz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    try:
        wait_for(ready, "the service")
    except AssertionError:
        if process.poll() is None:
            server.kill()
        raise
    return server


def sample_files() -> list[Path]:
    """Return the inputs of the sample incident."""
    return sorted(path for path in SAMPLE.iterdir() if path.name != "case.yaml")
