"""Slurm's daemons and the tables of its commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.block import Reader
from collectors.observation import Observation
from collectors.orchestration import slurm, slurm_tables
from collectors.orchestration.slurm_names import MOST_NODES, expand_nodes
from collectors.prefix import peel

LOGS = Path(__file__).parents[3] / "fixtures" / "logs" / "slurm"


def parse(text: str) -> list[Observation]:
    return list(slurm.parse_line(peel("a", 1, text)))


def parse_table(text: str) -> list[Observation]:
    return list(slurm_tables.parse_block(Reader(text.encode(), 0, 1, "a")))


def test_controller_log() -> None:
    found = [one for raw in (LOGS / "slurmctld.log").read_text().splitlines() for one in parse(raw)]
    assert [(one.code, one.entity) for one in found] == [
        ("not-responding", "node:gpu-00"), ("not-responding", "node:gpu-01"), ("invalid", "node:gpu-03"), ("drained", "node:gpu-03"),
        ("invalid", "node:gpu-04"), ("rebooted", "node:gpu-05"), ("down", "node:gpu-06"), ("down", "node:gpu-07"),
        ("node-failed", "job:1201"), ("time-limit", "job:1202"), ("cancelled", "job:1202"), ("oom-kill", "job:1203"),
    ]  # fmt: skip
    assert found[2].attributes["reason"] == "gres/gpu count reported lower than configured (7 < 8)"


def test_fatal_behind_journald() -> None:
    (one,) = [one for raw in (LOGS / "slurmd.log").read_text().splitlines() for one in parse(raw)]
    assert (one.kind, one.code, one.node) == ("slurm-fatal", "slurmd", "gpu-08")


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (
            "PARTITION",
            [
                ("slurm-node", "state", "node:gpu-01"),
                ("slurm-node", "state", "node:gpu-02"),
                ("slurm-node", "state", "node:gpu-03"),
            ],
        ),
        ("REASON ", [("slurm-node", "reason", "node:gpu-02"), ("slurm-node", "reason", "node:gpu-03")]),
        ("NodeName=", [("slurm-node", "state", "node:gpu-02")]),
        ("JobId=", [("slurm-job", "PENDING", "job:1234")]),
        ("             JOBID", [("slurm-job", "PD", "job:1234"), ("slurm-job", "R", "job:1230")]),
        ("JobID  ", [("slurm-job", "OUT_OF_ME+", "job:1203"), ("slurm-job", "OUT_OF_ME+", "job:1203.0")]),
    ],
)
def test_tables(head: str, found: list[tuple[str, str, str]]) -> None:
    text = (LOGS / "commands.txt").read_text()
    records = parse_table(text[text.index(head) :])
    assert [(one.kind, one.code, one.entity) for one in records] == found


def test_a_record_keeps_its_whole_reason() -> None:
    text = (LOGS / "commands.txt").read_text()
    (one,) = parse_table(text[text.index("NodeName=") :])
    assert one.attributes["reason"] == "gres/gpu count reported lower than configured (7 < 8)"


@pytest.mark.parametrize(
    ("row", "reason", "nodes"),
    [
        ("gres/gpu count reported lower than configured (7 < 8) slurm 2025-03-02T10:11:12 gpu03", "gres/gpu count reported lower than configured (7 < 8)", 1),
        ("Not responding       slurm     2025-03-02T10:11:12 gpu[03-05]", "Not responding", 3),
        ("maintenance          root      Unknown             gpu03", "maintenance", 1),
    ],
)  # fmt: skip
def test_a_reason_may_be_wider_than_its_column(row: str, reason: str, nodes: int) -> None:
    found = parse_table(f"REASON               USER      TIMESTAMP           NODELIST\n{row}\n")
    assert [one.attributes["reason"] for one in found] == [reason] * nodes


@pytest.mark.parametrize(
    "text",
    [
        "REASON USER TIMESTAMP NODELIST\nx",
        "NodeName= State",
        "JobId=",
        "PARTITION AVAIL\n\n",
        " JOBID PARTITION NAME \n--- ---\n1",
    ],
)
def test_odd_tables_are_survived(text: str) -> None:
    parse_table(text)


@pytest.mark.parametrize("text", ["", "Nodes not responding", "DUE TO TIME LIMIT", "oom_kill event"])
def test_odd_lines_yield_nothing(text: str) -> None:
    assert parse(text) == []


def test_lists_of_hosts() -> None:
    assert expand_nodes("gpu-st-[1-3,7],login") == ["gpu-st-1", "gpu-st-2", "gpu-st-3", "gpu-st-7", "login"]
    assert expand_nodes("gpu-[08-10]") == ["gpu-08", "gpu-09", "gpu-10"]
    assert len(expand_nodes("n[1-999999999]")) == MOST_NODES
    assert expand_nodes("n[-]") == []


def test_fields_between_bars() -> None:
    text = (LOGS / "commands.txt").read_text()
    records = parse_table(text[text.index("JobID|") :])
    assert [(one.code, one.entity) for one in records] == [
        ("TIMEOUT", "job:1202"), ("CANCELLED", "job:1202.batch"), ("COMPLETED", "job:1204"),
    ]  # fmt: skip
    assert records[0].attributes["timelimit"] == "01:00:00"
    (row,) = parse_table("JOBID|USER|STATE|REASON\n81250|alice|PENDING|(AssocGrpGRES)\n")
    assert (row.code, row.attributes["reason"]) == ("PENDING", "AssocGrpGRES")


@pytest.mark.parametrize(
    "text", ["JobID|\n1|", "JobID|State\n\n", "JobIDRaw|State|X\n7\n", "JOBID|%\n1_[2-3]|PD|a|b|c"]
)
def test_odd_fields_between_bars_are_survived(text: str) -> None:
    parse_table(text)


@pytest.mark.parametrize(
    ("text", "signal", "seconds"),
    [
        ("#SBATCH --signal=USR2@120", "USR2", "120"),
        ("#SBATCH --signal=B:USR1@90", "USR1", "90"),
        ("sbatch --signal SIGTERM@300 job.sh", "SIGTERM", "300"),
    ],
)
def test_a_signal_ahead_of_the_time_limit(text: str, signal: str, seconds: str) -> None:
    (one,) = parse(text)
    assert (one.kind, one.code, one.attributes["seconds"]) == ("slurm-signal", signal, seconds)


def test_a_signal_without_a_lead_is_none() -> None:
    assert parse("#SBATCH --signal=USR2") == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            (
                "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON\n"
                "gpu-03         1      gpu*       inval   64   2:32:1 512000        0      1   (null) Low RealMemory (repo\n"
                "gpu-04         1      gpu*        idle   64   2:32:1 512000        0      1   (null) none\n"
            ),
            "Low RealMemory (repo",
        ),
        ("NODELIST   NODES PARTITION STATE\ngpu-03         1      gpu* down*\ngpu-04         1      gpu* idle\n", None),
        (
            (
                "PARTITION AVAIL  TIMELIMIT   JOB_SIZE ROOT OVERSUBS     GROUPS  NODES       STATE RESERVATION NODELIST\n"
                "gpu*         up   infinite 1-infinite   no       NO        all      1       down*             gpu-03\n"
                "gpu*         up   infinite 1-infinite   no       NO        all      7   allocated             gpu-[04-10]\n"
            ),
            None,
        ),
        (
            (
                "REASON               USER         TIMESTAMP           STATE  NODELIST\n"
                "Low RealMemory       slurm(450)   2025-03-02T10:11:12 drain* gpu-03\n"
            ),
            "Low RealMemory",
        ),
    ],
)
def test_long_listings(text: str, reason: str | None) -> None:
    (one,) = parse_table(text)
    assert (one.kind, one.entity, one.attributes.get("reason")) == ("slurm-node", "node:gpu-03", reason)
