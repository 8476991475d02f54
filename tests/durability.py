"""Kill a process that takes logs into a store, at random moments, again and again; what it acknowledged has to be there, once.

    python -m tests.durability              200 kills
    python -m tests.durability --kills 20 --seed 7

A child reads small logs into one store, batch after batch, and says when one is kept. It is killed (SIGKILL) at a random
moment: while it starts, reads, writes, checkpoints. The next child sends again what was not acknowledged. After every kill the
store is opened and each batch counted: the acknowledged ones are whole, none is there twice, none is there in part.
"""

from __future__ import annotations

import argparse
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FACTS = 400  # lines with a fact in each batch: enough for the columnar way
NOW = 1_769_833_200.0


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of the kills."""

    kills: int
    acknowledged: int
    unacknowledged: int  # batches that were kept although the child died before it could say so


def make_log(batch: int) -> str:
    """Return a log of a batch, with a fact in each line."""
    return "".join(
        f"2026-01-31T04:{line // 60 % 60:02}:{line % 60:02}+00:00 node-{batch} kernel: NVRM: Xid (PCI:0000:{line % 200:02x}:00): 79, "
        f"pid={line}, name=python, GPU has fallen off the bus.\n"
        for line in range(FACTS)
    )


def take_batches(store_path: Path, first: int) -> None:
    """Take batches in until killed; say on standard output when one is kept."""
    from collectors.engines import Re2Engine
    from collectors.ingest import read_inputs, text_input
    from collectors.patterns import Pattern
    from collectors.registry import Registry
    from collectors.scan import Scanner
    from collectors.store import InputRow, Store

    registry = Registry()
    wanted = [one for one in registry.patterns() if one.key.startswith("line:nvrm:")]
    patterns: list[Pattern] = wanted or registry.patterns()
    scanner = Scanner(patterns, Re2Engine(patterns))
    store = Store.open(store_path)
    batch = first
    while True:
        name = f"batch-{batch}"
        if not store.has(name):
            intakes = read_inputs([text_input(f"{name}.log", make_log(batch))], scanner, registry, now=NOW)
            records = [record for one in intakes for record in one.records]
            store.append(name, records, [InputRow(one.name, one.kind, one.lines, one.bytes) for one in intakes], received=NOW)  # fmt: skip
        print(batch, flush=True)
        batch += 1


def run(kills: int, seed: int, folder: Path) -> Tally:
    """Kill a child so many times; raises AssertionError at the first thing that is lost, doubled or broken."""
    from collectors.store import Store

    chance = random.Random(seed)
    path = folder / "store.duckdb"
    acknowledged, extra = 0, 0
    for _ in range(kills):
        for said in _run_child(path, acknowledged, chance):
            assert said == acknowledged
            acknowledged += 1
        if not path.exists():
            continue  # killed before it began
        store = Store.open(path)
        rows = dict(store.query("SELECT batch, count(*) FROM observations WHERE kind = 'xid' GROUP BY batch"))
        inputs = dict(store.query("SELECT batch, count(*) FROM inputs GROUP BY batch"))
        store.close()
        assert set(rows) == set(inputs), "a batch without its input, or an input without its facts"
        assert set(rows.values()) <= {FACTS}, "a batch that is there in part or twice"
        assert set(inputs.values()) <= {1}, "an input that is there twice"
        missing = [number for number in range(acknowledged) if f"batch-{number}" not in rows]
        assert not missing, f"acknowledged and lost: {missing}"
        assert len(rows) <= acknowledged + 1
        extra += len(rows) > acknowledged
    return Tally(kills, acknowledged, extra)


def _run_child(path: Path, first: int, chance: random.Random) -> Iterator[int]:
    """Run a child and kill it at a random moment of its work; yield what it acknowledged."""
    arguments = [sys.executable, "-m", "tests.durability", "--child", str(path), str(first)]
    child = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None
    if chance.random() < 0.9:  # most of the time wait until it works; else kill it while it starts and opens the store
        select.select([child.stdout], [], [], 60)
    time.sleep(chance.uniform(0.0, 0.25))
    child.send_signal(signal.SIGKILL)
    said, _ = child.communicate()
    assert child.returncode == -signal.SIGKILL, "the child ended by itself"
    for line in said.decode("ascii").splitlines(keepends=True):
        if line.endswith("\n"):
            yield int(line)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Kill a process in the middle of its writing, and count what is kept.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--child", nargs=2, metavar=("STORE", "FIRST"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        take_batches(Path(options.child[0]), int(options.child[1]))
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        tally = run(options.kills, options.seed, Path(folder))
    print(
        f"{tally.kills} kills in {time.monotonic() - began:.0f} s (seed {options.seed}): {tally.acknowledged} batches acknowledged, "
        f"all of them there once; {tally.unacknowledged} times one more was kept whole before it could be acknowledged"
    )


if __name__ == "__main__":
    main()
