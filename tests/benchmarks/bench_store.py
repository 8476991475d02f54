"""Measure the store, and what a second process brings: each figure is a ratio of two times of the same run.

    python tests/benchmarks/bench_store.py                     a million rows in; windows of 1 and 10 million rows; two processes
    python tests/benchmarks/bench_store.py --rows 200000 --fleet 4 --megabytes 5

- Rows in: a million observations appended, beside the same rows loaded by DuckDB from Parquet, both into a file, on one thread.
- Window: ten minutes diagnosed in a store of a million rows and in one of ten million.
- Processes: the logs of a fleet read into records by `faultwalk sweep --jobs 1` and `--jobs 2`, by the clock on the wall: on a
  machine that others use the ratio is too small.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from api.command import collect_rarely
from api.progress import Progress
from api.sweep import read_files
from collectors.observation import Observation
from collectors.store import Store
from diagnosis.engine import Knowledge, diagnose
from diagnosis.rulebook import load_rulebook
from tests.benchmarks.generate import Log, collect_examples

START = 1_764_547_200.0
STEP = 0.3  # seconds between two rows
HOSTS = 512


def make_observation(number: int) -> Observation:
    """Return one of many observations that differ in every column as those of a real log do."""
    pci = f"0000:{number % 8}b:00.0"
    text = f"NVRM: Xid (PCI:{pci}): {13 + number % 60}, pid={number}, Ch 00000008"
    return Observation(
        "kernel", "xid", f"node-{number % HOSTS}/dmesg.log", number, number, text, code=str(13 + number % 60),
        time=START + number * STEP, node=f"node-{number % HOSTS}", entity=f"gpu:{pci}",
        attributes={"pid": str(number), "pci": pci, "code": str(13 + number % 60)}, raw=f"[ {number}.000000] {text}",
    )  # fmt: skip


def bench_insert(rows: int, repeats: int, folder: Path) -> None:
    """Measure appending observations beside loading the same rows from Parquet."""
    observations = [make_observation(number) for number in range(rows)]
    database, parquet = folder / "insert.duckdb", folder / "insert.parquet"
    appended: list[float] = []
    loaded: list[float] = []
    for _ in range(repeats):
        for times in (appended, loaded):
            database.unlink(missing_ok=True)
            store = Store.open(database)
            store.query("SET threads = 1")
            before = process_time()
            if times is appended:
                store.append("bench", observations)
            else:
                store.query(f"INSERT INTO observations SELECT * FROM '{parquet}'")
            times.append(process_time() - before)
            if times is appended and not loaded:
                store.query(f"COPY observations TO '{parquet}' (FORMAT parquet)")
            store.close()
    ratio = median(one / other for one, other in zip(appended, loaded, strict=True))
    print(
        f"{rows} observations appended in {median(appended):.2f} s, loaded from Parquet in {median(loaded):.2f} s: {ratio:.2f} times"
    )


def bench_window(sizes: tuple[int, int], repeats: int, knowledge: Knowledge, folder: Path) -> None:
    """Measure a diagnosis of ten minutes in a small and in a large store."""
    times = []
    for rows in sizes:
        store = Store.open(folder / f"window-{rows}.duckdb")
        store.query(
            f"INSERT INTO observations SELECT 'b', 'node-' || (i % {HOSTS}), i, i, {START} + i * {STEP}, 'kernel', 'xid', "
            f"CAST(13 + i % 60 AS VARCHAR), 'node-' || (i % {HOSTS}), 'gpu:0000:' || (i % 8) || 'b:00.0', '{{}}', "
            f"'NVRM: Xid (PCI:0000:3b:00): ' || (13 + i % 60), '' FROM range({rows}) t(i)"
        )
        since = START + rows * STEP / 2
        spent = []
        for _ in range(repeats + 1):
            before = process_time()
            diagnose(store, knowledge, now=since + 600, since=since, until=since + 600)
            spent.append(process_time() - before)
        times.append(median(spent[1:]))
        store.close()
    print(
        f"ten minutes of {sizes[0]} rows diagnosed in {times[0]:.3f} s, of {sizes[1]} rows in {times[1]:.3f} s: "
        f"{times[1] / times[0]:.2f} times"
    )


def bench_processes(files: int, megabytes: float, repeats: int, knowledge: Knowledge, folder: Path) -> None:
    """Measure how a sweep reads files by one process and by two, which are started anew."""
    fleet = folder / "fleet"
    fleet.mkdir()
    for number in range(files):
        log = Log(int(megabytes * 1e6), 0.01, collect_examples(), seed=number)
        with (fleet / f"node-{number}.log").open("wb") as stream:
            log.write(stream)
    paths = sorted(fleet.iterdir())
    ratios = []
    for _ in range(repeats):
        spent = []
        for jobs in (1, 2):
            before = perf_counter()
            read_files(paths, knowledge, None, jobs, Progress(quiet=True))
            spent.append(perf_counter() - before)
        ratios.append(spent[0] / spent[1])
    print(f"{files} logs of {megabytes:g} MB read by two processes {median(ratios):.2f} times as fast as by one")


def main() -> None:
    """Run the benchmark."""
    arguments = argparse.ArgumentParser(description="Measure the store and a second process.")
    arguments.add_argument(
        "--rows", type=int, default=1_000_000, help="of the smaller store; the larger has ten times as many"
    )
    arguments.add_argument("--fleet", type=int, default=8, metavar="FILES")
    arguments.add_argument("--megabytes", type=float, default=50.0, help="of each file of the fleet")
    arguments.add_argument("--repeats", type=int, default=3)
    chosen = arguments.parse_args()
    collect_rarely()
    knowledge = Knowledge.build(load_rulebook(cached=True), cached=True)
    with tempfile.TemporaryDirectory() as folder:
        bench_insert(chosen.rows, chosen.repeats, Path(folder))
        bench_window((chosen.rows, 10 * chosen.rows), chosen.repeats, knowledge, Path(folder))
        bench_processes(chosen.fleet, chosen.megabytes, chosen.repeats, knowledge, Path(folder))


if __name__ == "__main__":
    main()
