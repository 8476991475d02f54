"""Tables behind prefixes are read as tables: each form, interleaved, and cited where they stand."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from collectors.engines import Re2Engine
from collectors.ingest import Intake, read_inputs, text_input
from collectors.observation import Observation, Record, Relation, Sample
from collectors.registry import Registry
from collectors.scan import Scanner

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
STAMP = "2025-11-26T01:00:00.000000001Z"
PREFIXES: dict[str, Callable[[str], str]] = {
    "kubectl": lambda line: f"[pod/worker-0/main] {line}",
    "kubectl with times": lambda line: f"[pod/worker-0/main] {STAMP} {line}",
    "times alone": lambda line: f"{STAMP} {line}",
    "containerd": lambda line: f"{STAMP} stdout F {line}",
    "docker": lambda line: json.dumps({"log": line + "\n", "stream": "stdout", "time": STAMP}),
    "loki": lambda line: json.dumps({"line": line, "timestamp": STAMP, "labels": {"app": "a"}}, separators=(",", ":")),
    "clush": lambda line: f"[node3] {line}",
    "pdsh": lambda line: f"node3: {line}",
    "srun": lambda line: f"3: {line}",
    "mpirun": lambda line: f"[1,3]<stdout>:{line}",
    "torchrun": lambda line: f"[default3]:{line}",
    "ray": lambda line: f"(Worker pid=71, ip=10.0.0.1) {line}",
    "stern": lambda line: f"worker-0 main {line}",
    "stern in colour": lambda line: f"\x1b[92mworker-0\x1b[0m \x1b[32mmain\x1b[0m {line}",
    "compose": lambda line: f"trainer-1  | {line}",
}
TABLES = (
    "nvidia-smi/topology.txt", "nvidia-smi/nvlink-counters.txt", "dcgm/diag-and-engine.txt", "dcgm/diag-4.json", "rdma/port-state-and-counters.txt", "slurm/commands.txt",
    "nvidia-smi/monitors.txt", "metrics/dcgm-exporter.prom",
)  # fmt: skip


@cache
def tools() -> tuple[Scanner, Registry]:
    registry = Registry()
    patterns = registry.patterns()
    return Scanner(patterns, Re2Engine(patterns)), registry


def read(text: str) -> Intake:
    scanner, registry = tools()
    return read_inputs([text_input("paste.txt", text)], scanner, registry, now=1_790_000_000.0)[0]


def facts(records: list[Record]) -> set[tuple[object, ...]]:
    """Return what tables say, without hosts and what line parsers add."""
    found: set[tuple[object, ...]] = set()
    for one in records:
        if isinstance(one, Observation) and one.kind not in ("unexplained", "command", "filtered"):
            found.add((one.kind, one.code, one.entity, one.line, one.line_end))
        elif isinstance(one, Sample):
            found.add((one.metric, one.value, one.entity, one.line))
        elif isinstance(one, Relation):
            found.add((one.how, one.upper, one.lower, one.line))
    return found


def prefixed(name: str, form: str) -> tuple[str, str]:
    text = "".join(line + "\n" for line in (LOGS / name).read_text("utf-8").rstrip("\n").split("\n"))
    return text, "".join(PREFIXES[form](line) + "\n" for line in text.split("\n")[:-1])


@pytest.mark.parametrize("form", PREFIXES)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_behind_a_prefix_says_the_same(name: str, form: str) -> None:
    clean, changed = prefixed(name, form)
    wanted = facts(read(clean).records)
    assert wanted
    assert wanted - facts(read(changed).records) == set()


def test_a_record_cites_the_line_of_the_input() -> None:
    _, changed = prefixed("rdma/port-state-and-counters.txt", "docker")
    lines = changed.split("\n")
    found = [one for one in read(changed).records if isinstance(one, Observation)]
    assert found
    assert all(one.raw == lines[one.line - 1] for one in found)


def test_tables_of_several_hosts_between_each_other() -> None:
    text = (LOGS / "rdma/port-state-and-counters.txt").read_text("utf-8").rstrip("\n")
    lines = [f"node{host}: {line}" for line in text.split("\n") for host in (3, 4)]
    found = read("\n".join(lines) + "\n").records
    ports = [one for one in found if isinstance(one, Observation) and one.kind == "port"]
    clean = [one for one in read(text + "\n").records if isinstance(one, Observation) and one.kind == "port"]
    assert len(ports) == 2 * len(clean) > 0
    assert {one.node for one in ports} == {"node3", "node4"}
    assert all(one.raw.startswith(f"{one.node}: ") for one in ports)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "3: \n" * 20,
        "[rank3]: hello\n" * 20,
        "a: 1\nb: 2\nc: 3\n",
        '{"log":\n' * 20,
        "node3:\n" * 50,
        "1: " * 5000,
    ],
)
def test_what_holds_no_table_yields_nothing(text: str) -> None:
    assert not [one for one in read(text).records if isinstance(one, Observation) and one.kind != "unexplained"]
