"""How often the culprit is found in generated incidents.

    python -m tests.incidents.measure --runs 200 [--large] [--verbose] [--keep DIR]

An answer is the first root cause that the report blames, or, when it blames none, the first it lists. Its node is that of its
entity (or the host on which its rank runs); its rank is its entity or stands on the path to it, or rests on the entity.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from collectors.ingest import text_input
from diagnosis.engine import Knowledge, triage
from diagnosis.rulebook import load_rulebook
from tests.incidents.generate import LARGE, SIZES, Incident, make_incident

NOW = 1_764_547_200.0
NODE_BAR, RANK_BAR = 0.95, 0.90


@dataclass(slots=True)
class Outcome:
    """What a report says about an incident."""

    incident: Incident
    outcome: str
    cause: str
    entity: str
    node_right: bool
    rank_right: bool
    cause_right: bool
    seconds: float


@cache
def _knowledge() -> Knowledge:
    return Knowledge.build(load_rulebook(), cached=True)


def judge(incident: Incident) -> Outcome:
    """Diagnose an incident and compare the answer with what is known."""
    begun = time.perf_counter()
    inputs = [text_input(name, data) for name, data in incident.inputs]
    report: dict[str, Any] = json.loads(triage(inputs, _knowledge(), now=NOW).model_dump_json(by_alias=True))
    seconds = time.perf_counter() - begun
    first: dict[str, Any] = next((one for one in report["causes"] if one["verdict"] == "root"), {})
    entity, path = str(first.get("entity") or ""), [str(one) for one in first.get("path") or ()]
    where = {entity, *path}
    nodes = {_node_of(one) for one in where} - {""}
    ranks = {int(one[5:]) for one in where if one.startswith("rank:") and one[5:].isdigit()}
    hosts = {"node:" + incident.node}
    if entity.startswith("rank:"):
        node_right = int(entity[5:]) in incident.ranks
    else:
        node_right = _node_of(entity) == incident.node or (
            not _node_of(entity) and incident.node in nodes and len(nodes) == 1
        )
    rank_right = bool(ranks & set(incident.ranks)) or (entity in hosts and len(incident.ranks) > 1)
    return Outcome(
        incident, str(report["outcome"]), str(first.get("cause", "")), entity, node_right, rank_right and node_right,
        first.get("cause") in incident.causes, seconds,
    )  # fmt: skip


def _node_of(entity: str) -> str:
    kind, _, name = entity.partition(":")
    return name if kind == "node" else name.partition("/")[0] if "/" in name else ""


def measure(seeds: Sequence[int], sizes: Sequence[int] = SIZES) -> list[Outcome]:
    """Judge the incidents of these seeds."""
    return [judge(make_incident(seed, sizes=sizes)) for seed in seeds]


def share(outcomes: Sequence[Outcome], what: str) -> float:
    """Return the share of outcomes that are right in node, rank or cause."""
    return sum(bool(getattr(one, f"{what}_right")) for one in outcomes) / len(outcomes)


def main() -> int:
    """Measure and print a table; the exit code tells whether the bars hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--large", action="store_true", help="jobs of 512 to 2,048 ranks")
    parser.add_argument("--verbose", action="store_true", help="tell each miss")
    parser.add_argument("--keep", type=Path, help="write the inputs of the misses below this folder")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    for seed in range(options.first, options.first + options.runs):
        one = judge(make_incident(seed, sizes=LARGE if options.large else SIZES))
        outcomes.append(one)
        if options.verbose and not (one.node_right and one.rank_right and one.cause_right):
            said = f"{one.cause or 'nothing'} on {one.entity or '?'} ({one.outcome})"
            wanted = f"{one.incident.node} rank {one.incident.ranks[0]}"
            print(f"seed {seed}, {one.incident.fault}, {one.incident.size} ranks: {said}, not {wanted}", flush=True)
            if options.keep:
                _keep(options.keep / str(seed), one.incident)
    by_fault: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_fault[one.incident.fault].append(one)
    print(f"{'fault':<24} {'runs':>5} {'node':>6} {'rank':>6} {'cause':>6} {'seconds':>8}")
    for name, rows in [*by_fault.items(), ("all", outcomes)]:
        seconds = sum(one.seconds for one in rows) / len(rows)
        print(
            f"{name:<24} {len(rows):>5} {share(rows, 'node'):>6.3f} {share(rows, 'rank'):>6.3f} {share(rows, 'cause'):>6.3f} {seconds:>8.2f}"
        )
    return 0 if share(outcomes, "node") >= NODE_BAR and share(outcomes, "rank") >= RANK_BAR else 1


def _keep(folder: Path, incident: Incident) -> None:
    for name, data in incident.inputs:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
