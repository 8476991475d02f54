"""A store has one owner: who comes second is told who holds it; an interrupt leaves nothing half-written; readers beside a writer."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from collectors.store import Store
from tests.api.running import ROOT, XID, command, start_server, wait_for

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("FAULTWALK_")}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command(), *arguments], cwd=ROOT, env=CLEAN, capture_output=True, text=True, timeout=120, check=False
    )


def start_triage(store: Path) -> subprocess.Popen[bytes]:
    """Start a triage that waits for the end of its standard input, and wait until it holds its store."""
    process = subprocess.Popen(
        [*command(), "triage", "-", "--store", str(store)],
        cwd=ROOT, env=CLEAN, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write((XID + "\n").encode() * 1000)
    process.stdin.flush()
    wait_for(lambda: store.exists() and process.poll() is None, "the store")
    time.sleep(0.5)
    return process


def test_a_command_beside_a_service_is_told_who_holds_the_store(tmp_path: Path) -> None:
    server = start_server(tmp_path)
    try:
        done = run("triage", "--store", str(tmp_path / "store.duckdb"), str(ROOT / "LICENSE"))
    finally:
        server.stop()
    assert done.returncode == 2 and done.stdout == ""
    (sentence,) = done.stderr.splitlines()
    assert (
        "store.duckdb: process " in sentence and "holds this store: stop it, send the input to that service" in sentence
    )


def test_a_service_beside_a_command_is_told_who_holds_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store.duckdb"
    first = start_triage(store)
    try:
        done = run("serve", "--port", "1", "--store", str(store))
        second = run("triage", "--store", str(store), str(ROOT / "LICENSE"))
    finally:
        first.communicate(timeout=60)
    for one in (done, second):
        assert one.returncode != 0 and "Traceback" not in one.stderr
        assert f"process {first.pid} (" in one.stderr and "name another file" in one.stderr
    assert first.returncode == 0


def test_an_interrupt_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    store = tmp_path / "store.duckdb"
    assert run("triage", "--store", str(store), str(ROOT / "LICENSE")).returncode == 0
    process = start_triage(store)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and b"Traceback" not in said
    kept = Store.open(store)
    assert len(kept.query("SELECT DISTINCT batch FROM inputs")) == 1
    assert kept.query("SELECT count(*) FROM observations WHERE kind = 'xid'") == [(0,)]
    kept.close()
    assert not (tmp_path / "store.duckdb.wal").exists()


def test_readers_beside_one_writer_see_whole_batches(tmp_path: Path) -> None:
    server = start_server(tmp_path, environment={"FAULTWALK_AT_ONCE": "2"})
    failures: list[str] = []
    stop = threading.Event()

    def read() -> None:
        with server.client() as client:
            while not stop.is_set():
                for path in ("/v1/rules", "/v1/reports/none", "/readyz"):
                    code = client.get(path).status_code
                    if code not in (200, 404):
                        failures.append(f"{path}: {code}")

    readers = [threading.Thread(target=read) for _ in range(3)]
    try:
        for one in readers:
            one.start()
        with server.client() as client:
            for batch in range(15):
                text = "".join(XID.replace("node-a", f"node-{batch}-{line}") + "\n" for line in range(80))
                answer = client.post("/v1/ingest/kernel", content=text)
                assert answer.status_code == 200, answer.text
                assert answer.json()["already_kept"] is False
    finally:
        stop.set()
        for one in readers:
            one.join(60)
        server.stop()
    assert failures == []
    store = Store.open(tmp_path / "store.duckdb")
    counts = store.query("SELECT count(*) FROM observations WHERE kind = 'xid' GROUP BY batch")
    store.close()
    assert counts == [(80,)] * 15
