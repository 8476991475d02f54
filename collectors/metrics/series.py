"""Series in CSV: what a dashboard exports and what a training script writes beside its log.

Formats: Grafana "Export CSV" (`"Time","series 1","series 2"`, ISO or epoch times), tables with a `time`, `timestamp`, `step` or
`epoch` column in front, and tables of steps by rank. Samples::

    "Time", "worker-0 gpu 0", "worker-0 gpu 1"
    "2024-06-11 09:00:00", 0, 88
    step, rank, gpu, forward_ms, backward_ms, allreduce_wait_ms, step_ms
    400, 2, 2, 212.4, 402.8, 3.1, 628.0
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_epoch, parse_iso
from collectors.observation import Observation, Record, Relation, Sample
from collectors.regex import compile_later

SOURCE = "series"
LAYERS = ("application",)
SIGNATURES = (r'^"?(?:[Tt]ime|[Tt]imestamp|step|iteration|epoch)"?,',)
HEADS = (r'^"?(?:[Tt]ime|[Tt]imestamp|[Dd]ate|step|iteration|iter|epoch)"?,"?[A-Za-z]',)
MOST_ROWS = 20000
_HEAD = compile_later("|".join(HEADS))
_TIMES = frozenset({"time", "timestamp", "date"})
_LABELS = frozenset(
    {"rank", "gpu", "node", "host", "hostname", "pod", "step", "epoch", "iteration", "iter", "local_rank", "device"}
)
_VALUE = compile_later(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield samples, one for each number in a row; and `step` observations for rows that name a rank.

    A metric is called as its column; identifying columns (rank, gpu, node, pod, ...) become labels.
    """
    if not _HEAD.search(reader.peek() or ""):
        return
    headings = [cell.strip() for cell in _cells(reader.next() or "")]
    names = [re.sub(r"\W+", "_", cell).strip("_").lower() for cell in headings]
    if len(names) < 2 or any(
        "[" in cell for cell in headings
    ):  # nvidia-smi's tables carry units and have their own reader
        return
    titles = dict(zip(names, headings, strict=True))
    related: set[tuple[str, str]] = set()
    for _ in range(MOST_ROWS):
        text = reader.peek()
        cells = _cells(text) if text else []
        if text is None or len(cells) != len(headings):
            return
        number = reader.number
        reader.next()
        row = dict(zip(names, (cell.strip() for cell in cells), strict=True))
        labels = {name: value for name, value in row.items() if name in _LABELS and value}
        stamp = next((row[name] for name in names if name in _TIMES), "")
        time = parse_iso(stamp) or parse_epoch(stamp)
        node = row.get("node") or row.get("hostname") or row.get("host") or reader.node
        entity = f"rank:{row['rank']}" if row.get("rank") else f"gpu:{row['gpu']}" if row.get("gpu") else ""
        values = {
            name: value for name, value in row.items() if name not in _TIMES | _LABELS and _VALUE.fullmatch(value)
        }
        if row.get("rank") and row.get("gpu") and (row["rank"], row["gpu"]) not in related:
            related.add((row["rank"], row["gpu"]))
            yield Relation(f"rank:{row['rank']}", f"gpu:{row['gpu']}", "on", reader.input, number, node)
        if row.get("rank") and values:
            yield Observation(
                "training", "step", reader.input, number, number, text, time=time, node=node, entity=entity,
                attributes={**labels, **values},
            )  # fmt: skip
        for name, value in values.items():
            yield Sample(
                SOURCE, name, float(value), reader.input, number, time=time, node=node, entity=entity,
                labels={**labels, "series": titles[name]},
            )  # fmt: skip


def _cells(text: str) -> list[str]:
    try:
        return next(csv.reader([text]), [])
    except csv.Error:
        return []
