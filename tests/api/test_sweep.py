"""A fleet's logs in, one table out: the same for any number of processes, an incident a node and time."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import tarfile
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from api.cli import app
from collectors.store import Store
from tests.api.running import ROOT, SAMPLE, command

XID = "2026-01-31T{time}+00:00 {node} kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=python, GPU has fallen off the bus.\n"
QUIET = "2026-01-31T{time}+00:00 {node} systemd[1]: Started Daily apt upgrade and clean activities.\n"
ECC = "2026-01-31T{time}+00:00 {node} kernel: NVRM: Xid (PCI:0000:5e:00): 48, pid=1, name=python, DBE (double bit error).\n"
NFS = "2026-01-31T{time}+00:00 {node} kernel: nfs: server fs-1 not responding, still trying\n"


def sweep(*arguments: str | Path) -> Any:
    result = CliRunner().invoke(app, ["sweep", "--json", "--quiet", *(str(one) for one in arguments)])
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def table_of(swept: Any) -> list[tuple[tuple[str, ...], str, str]]:
    return [(tuple(one["nodes"]), one["cause"], one["window_start"]) for one in swept["incidents"]]


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A folder of four hosts' logs: plain, compressed and in an archive."""
    folder = tmp_path / "fleet"
    (folder / "day").mkdir(parents=True)
    one = "".join(form.format(time=at, node="node-1") for form, at in [(QUIET, "00:00:01"), (XID, "04:15:00"), (QUIET, "08:00:00"), (XID, "16:40:00")])  # fmt: skip
    (folder / "day" / "node-1.log").write_text(one, "utf-8")
    (folder / "node-2.log.gz").write_bytes(gzip.compress(ECC.format(time="04:15:30", node="node-2").encode()))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for node in ("node-3", "node-4"):
            data = "".join(QUIET.format(time=f"{hour:02}:00:00", node=node) for hour in range(24)).encode()
            member = tarfile.TarInfo(f"logs/{node}.log")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    (folder / "rest.tar.gz").write_bytes(packed.getvalue())
    return folder


def test_incidents_are_told_apart_by_node_and_time(fleet: Path) -> None:
    swept = sweep(fleet)
    assert swept["schema"] == "faultwalk.sweep/1"
    assert sorted(table_of(swept)) == [
        (("node-1",), "gpu.fell-off-bus", "2026-01-31T04:15:00.000Z"),
        (("node-1",), "gpu.fell-off-bus", "2026-01-31T16:40:00.000Z"),
        (("node-2",), "gpu.ecc-uncorrectable", "2026-01-31T04:15:30.000Z"),
    ]
    assert [one["rank"] for one in swept["incidents"]] == [1, 2, 3]
    assert len(swept["inputs"]) == 4
    assert {one["layer"] for one in swept["incidents"]} == {"hardware"}


def test_a_wide_gap_makes_one_incident(fleet: Path) -> None:
    swept = sweep("--gap", "1000", fleet / "day")
    (only,) = swept["incidents"]
    assert (only["first_seen"], only["last_seen"], only["lines"]) == (
        "2026-01-31T04:15:00.000Z",
        "2026-01-31T16:40:00.000Z",
        2,
    )


def test_one_node_and_a_part_of_the_day(fleet: Path) -> None:
    assert {nodes for nodes, _, _ in table_of(sweep("--node", "node-2", fleet))} == {("node-2",)}
    assert [when for _, _, when in table_of(sweep("--since", "2026-01-31T12:00:00Z", fleet))] == [
        "2026-01-31T16:40:00.000Z"
    ]


def test_several_processes_give_the_same(fleet: Path) -> None:
    alone, together = sweep("--jobs", "1", fleet), sweep("--jobs", "2", fleet)
    assert {**alone, "created": ""} == {**together, "created": ""}


def test_hosts_of_one_job_are_one_incident_with_one_root() -> None:
    files = [path for path in sorted(SAMPLE.iterdir()) if path.name != "case.yaml"]
    swept = sweep(*files)
    first = swept["incidents"][0]
    assert (first["cause"], first["affected"]) == ("fabric.link-flapping", ["node-a", "node-b"])
    assert "nccl-hang" in first["symptoms"]
    assert not {one["cause"] for one in swept["incidents"]} & {"nccl.timeout-unexplained", "nccl.peer-died"}


def test_a_shared_server_is_one_incident_of_all_hosts(tmp_path: Path) -> None:
    for node in ("node-1", "node-2", "node-3"):
        (tmp_path / f"{node}.log").write_text(NFS.format(time="05:00:00", node=node), "utf-8")
    incidents = sweep(tmp_path)["incidents"]
    assert [(one["cause"], one["entity"], one["nodes"]) for one in incidents] == [
        ("storage.nfs-unresponsive", "filesystem:fs-1", ["node-1", "node-2", "node-3"])
    ]


def test_lines_without_host_stand_by_their_input(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("RuntimeError: CUDA error: device-side assert triggered\n", "utf-8")
    (tmp_path / "b.log").write_text(XID.format(time="04:15:00", node="node-1"), "utf-8")
    swept = sweep(tmp_path)
    assert [(one["nodes"], [Path(name).name for name in one["inputs"]]) for one in swept["incidents"]] == [
        (["node-1"], ["b.log"]),
        ([], ["a.log"]),
    ]


def test_a_store_and_a_parquet_file_are_written(fleet: Path, tmp_path: Path) -> None:
    parquet, kept = tmp_path / "it's.parquet", tmp_path / "kept.duckdb"
    swept = sweep("--parquet", parquet, "--store", kept, fleet)
    rows = duckdb.read_parquet(str(parquet)).order("rank")
    assert rows.columns == list(swept["incidents"][0])
    assert [(row[0], row[1], row[6]) for row in rows.fetchall()] == [
        (one["rank"], one["nodes"], one["cause"]) for one in swept["incidents"]
    ]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    store = Store.open(kept)
    assert store.query("SELECT count(*) FROM observations WHERE kind = 'xid'") == [(3,)]
    assert store.query("SELECT count(*), count(DISTINCT batch) FROM inputs") == [(4, 1)]
    store.close()


def test_an_empty_sweep_writes_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "quiet.log").write_text(QUIET.format(time="01:00:00", node="node-1"), "utf-8")
    assert sweep("--parquet", tmp_path / "none.parquet", tmp_path / "quiet.log")["incidents"] == []
    assert duckdb.read_parquet(str(tmp_path / "none.parquet")).fetchall() == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), ["node-1", "gpu.fell-off-bus", "01-31 04:15", "3 incident(s) in 4 input(s)"]),
        (("--lang", "zh"), ["节点", "掉卡", "硬件"]),
        (("--markdown",), ["| 1 |", "gpu.fell-off-bus", "3 incident(s)"]),
    ],
)
def test_people_read_a_table(fleet: Path, options: tuple[str, ...], words: list[str]) -> None:
    result = CliRunner().invoke(app, ["sweep", *options, str(fleet)])
    assert result.exit_code == 0
    assert [word for word in words if word not in result.stdout] == []
    assert "\x1b" not in result.stdout


def test_what_cannot_be_read_is_refused_by_name(fleet: Path) -> None:
    (fleet / "link.log").symlink_to(fleet / "node-2.log.gz")
    swept = sweep(fleet)
    assert swept["refused"] == [{"input": str(fleet / "link.log"), "reason": "a link, not a file"}]
    assert len(swept["incidents"]) == 3
    result = CliRunner().invoke(app, ["sweep", str(fleet / "nothing")])
    assert (result.exit_code, result.stderr) == (2, f"faultwalk: {fleet / 'nothing'}: No such file or directory\n")


def test_an_interrupt_leaves_no_half_written_store(tmp_path: Path) -> None:
    for number in range(4):
        lines = "".join(XID.format(time=f"{hour:02}:{minute:02}:00", node=f"node-{number}") for hour in range(24) for minute in range(60))  # fmt: skip
        (tmp_path / f"{number}.log").write_text(lines * 20, "utf-8")
    kept = tmp_path / "kept.duckdb"
    arguments = ["sweep", "--jobs", "2", "--store", str(kept), *(str(tmp_path / f"{one}.log") for one in range(4))]
    with subprocess.Popen([*command(), *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
        deadline = time.monotonic() + 60
        while not kept.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130), errors  # a fast machine may be done before the interrupt comes
    assert b"Traceback" not in errors
    store = Store.open(kept)
    rows, inputs = store.query("SELECT (SELECT count(*) FROM observations), (SELECT count(*) FROM inputs)")[0]
    store.close()
    assert (rows > 0) == (inputs == 4)
    assert inputs in (0, 4)
    assert process.returncode == 130 or inputs == 4
