"""Measure the way from log text to the answer, in one run, beside what reads the same bytes without understanding them.

    make bench                                           10 and 100 MB, 1 % interesting lines
    python tests/benchmarks/bench.py --sizes 1000        1 GB
    python tests/benchmarks/bench.py --shares 0.2 0.0001 other shares

Every step of a round reads the same file from the page cache, one after the other, and a round is done several times; what
is printed are medians of megabytes a second of *processor time*, and of the ratios round by round, so that a machine which
others use at the same time tells the truth nearly as well. Slow steps run on the first
10 MB only, ripgrep with all regexes on the first megabyte.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from api.command import collect_rarely
from collectors.blocks import BLOCK
from collectors.engines import Engine, Re2Engine
from collectors.ingest import Input, read_inputs
from collectors.literals import choose_literals, estimate_rate
from collectors.patterns import Pattern
from collectors.scan import Scanner
from collectors.store import Store
from diagnosis.engine import Knowledge, take_in
from diagnosis.rulebook import load_rulebook
from tests.benchmarks.generate import Log, collect_examples

NOW = 1_764_547_200.0
FAULTWALK = Path(sys.executable).with_name("faultwalk")
BYTECODE = Path(tempfile.gettempdir()) / "faultwalk-bench-bytecode"
SLOW, SLOWEST = 10_000_000, 1_000_000  # bytes that slow steps read


def read(path: Path) -> None:
    """Read a file and look at nothing."""
    with path.open("rb") as stream:
        while stream.read(8 << 20):
            pass


def read_at_once(path: Path) -> None:
    """Read a file into one piece of fresh memory."""
    path.read_bytes()


def scan(path: Path, scanner: Scanner, *, whole: bool = True) -> int:
    """Scan a file with captures; return the number of hit lines."""
    hits = 0
    rest = b""
    with path.open("rb") as stream:
        while data := stream.read(BLOCK):
            block = rest + data
            cut = block.rfind(b"\n") + 1
            rest = block[cut:]
            for _ in scanner.find(block[:cut], whole=whole):
                hits += 1
    return hits


def take(path: Path, knowledge: Knowledge) -> int:
    """Read a file into records; return how many."""
    with path.open("rb") as stream:
        return len(read_inputs([Input(path.name, stream)], knowledge.scanner, knowledge.registry, now=NOW)[0].records)


def fill(path: Path, knowledge: Knowledge, database: Path) -> None:
    """Read a file into the rows of a DuckDB file."""
    database.unlink(missing_ok=True)
    store = Store.open(database)
    with path.open("rb") as stream:
        take_in([Input(path.name, stream)], knowledge, store, now=NOW, batch="bench")
    store.close()


def run(command: Sequence[str]) -> tuple[float, float]:
    """Run a command; return its processor seconds and its peak memory in MB. Its modules are compiled once, as those of an
    installed program are, whatever the environment says."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(BYTECODE)}
    with Path(os.devnull).open("wb") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere, stderr=nowhere, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def clock(work: Callable[[], object]) -> float:
    """Return the processor seconds of some work, those of its children included."""
    before, child = process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    children = after.ru_utime + after.ru_stime - child.ru_utime - child.ru_stime
    return max(process_time() - before + children, 1e-6)


def write_ripgrep_patterns(rg: str, patterns: Sequence[Pattern], folder: Path) -> tuple[Path, Path]:
    """Write the rules' regexes, and for each the literals that are looked for, as ripgrep takes them."""
    regexes, literals = folder / "regexes", folder / "literals"
    plain = [re.sub(r"\\([\"'/:;,@!=<>%&`_ -])", r"\1", pattern.regex) for pattern in patterns]
    plain = [re.sub(r"\(\?P<\w+>", "(?:", regex) for regex in plain]  # it takes a name once
    plain = [  # flags of one would hold for those behind it; bytes, as our scan: faster for it, too
        f"(?{'i' if regex.startswith('(?i)') else ''}{'-u' if regex.isascii() else ''}:{regex.removeprefix('(?i)')})"
        for regex in plain
    ]
    taken = [
        regex
        for regex in plain
        if subprocess.run([rg, "-q", regex, os.devnull], capture_output=True, check=False).returncode == 1
    ]
    if len(taken) < len(plain):
        print(f"ripgrep takes {len(taken)} of {len(plain)} regexes")
    regexes.write_text("".join(f"{regex}\n" for regex in taken))
    found: dict[str, None] = {}
    for pattern in patterns:
        for literal in choose_literals(pattern.regex, estimate_rate) or ():
            found.setdefault(literal)
    literals.write_text("".join(f"{literal}\n" for literal in found))
    return regexes, literals


def cut_off(path: Path, size: int, short: Path) -> Path:
    """Return a file with the first lines of another, about `size` bytes of them."""
    if path.stat().st_size <= size:
        return path
    with path.open("rb") as stream:
        data = stream.read(size)
    short.write_bytes(data[: data.rfind(b"\n") + 1])
    return short


def bench(size: int, share: float, repeats: int, knowledge: Knowledge, fallback: Engine, folder: Path) -> None:
    """Measure one file and print a table."""
    path, database = folder / "bench.log", folder / "bench.duckdb"
    log = Log(size, share, collect_examples())
    with path.open("wb") as stream:
        log.write(stream)
    slow, slowest = cut_off(path, SLOW, folder / "slow.log"), cut_off(path, SLOWEST, folder / "slowest.log")
    rules = Scanner(knowledge.rulebook.patterns)
    everything = knowledge.scanner
    with_re2 = Scanner(everything.patterns, fallback)
    rg = shutil.which("rg")
    steps: list[tuple[str, Path, Callable[[Path], object]]] = [
        ("plain read, 8 MB at a time", path, read),
        ("plain read, at once", path, read_at_once),
        ("scan, rules' patterns, captures", path, lambda p: scan(p, rules)),
        ("scan, all patterns", path, lambda p: scan(p, everything)),
        ("scan, all but routine and shapes", path, lambda p: scan(p, everything, whole=False)),
        ("scan, all patterns, RE2", slow, lambda p: scan(p, with_re2)),
        ("intake: file to records", path, lambda p: take(p, knowledge)),
        ("file to rows in DuckDB", path, lambda p: fill(p, knowledge, database)),
        ("faultwalk triage, whole process", path, lambda p: run([str(FAULTWALK), "triage", "--json", str(p)])),
    ]
    if rg is not None:
        regexes, literals = write_ripgrep_patterns(rg, knowledge.rulebook.patterns, folder)
        steps[2:2] = [
            ("rg -F -f literals", path, lambda p: run([rg, "-j1", "-c", "-F", "-f", str(literals), str(p)])),
            (
                "rg -f regexes",
                slowest,
                lambda p: run(
                    [rg, "-j1", "-c", "--regex-size-limit=1G", "--dfa-size-limit=1G", "-f", str(regexes), str(p)]
                ),
            ),
        ]
    run([str(FAULTWALK), "triage", str(slowest)])
    # A process begins with its parent's peak, so this one comes before the file is read at once.
    _, peak = run([str(FAULTWALK), "triage", "--json", str(path)])
    for _, target, work in steps[:-1]:
        if target.stat().st_size <= SLOW:
            work(target)  # warm: what is made once is made now
    list(everything.find(b"\n", whole=False))
    speeds: dict[str, list[float]] = {name: [] for name, _, _ in steps}
    for _ in range(repeats):
        for name, target, work in steps:
            speeds[name].append(target.stat().st_size / 1e6 / clock(lambda w=work, t=target: w(t)))  # type: ignore[misc]
    print(f"\n{size / 1e6:g} MB, {log.lines} lines, {log.interesting} from examples ({share:.2%}), {repeats} rounds")
    print(f"{'':36}{'MB/s':>8}{'of read':>9}{'of read at once':>17}{'of rg -f':>10}")
    for name, _, _ in steps:
        row = f"{name:36}{median(speeds[name]):>8.0f}"
        for other, width in (("plain read, 8 MB at a time", 9), ("plain read, at once", 17), ("rg -f regexes", 10)):
            pairs = zip(speeds[name], speeds.get(other, []), strict=False)
            ratios = [one / two for one, two in pairs]
            row += f"{median(ratios):>{width}.3f}" if ratios else " " * width
        print(row)
    print(f"peak memory of faultwalk triage: {peak:.0f} MB; records kept: {take(path, knowledge)}")


def bench_paste(knowledge: Knowledge, repeats: int, folder: Path) -> None:
    """Measure a paste of 200 lines, by the command and by what a running service does."""
    from collectors.ingest import text_input
    from diagnosis.engine import triage

    path = folder / "paste.log"
    chunks = b"".join(Log(40_000, 0.05, collect_examples(), seed=3).chunks()).split(b"\n")[:200]
    path.write_bytes(b"\n".join(chunks) + b"\n")
    imports = [sys.executable, "-c", "import duckdb, networkx, pydantic"]
    command = [str(FAULTWALK), "triage", str(path)]
    run(command)
    run(imports)
    pairs = [(run(command)[0], run(imports)[0]) for _ in range(max(repeats, 5))]
    spent = median(one - 1.5 * other for one, other in pairs)
    text = path.read_text()
    service = sorted(
        clock(lambda: triage([text_input("paste", text)], knowledge, now=NOW)) for _ in range(max(repeats, 5))
    )
    print(
        f"\npaste of 200 lines: command {median(one for one, _ in pairs):.2f} s, importing its libraries alone "
        f"{median(other for _, other in pairs):.2f} s; beyond 1.5 times that {spent:.2f} s; service {median(service) * 1000:.0f} ms"
    )


def main() -> None:
    """Run the benchmark."""
    arguments = argparse.ArgumentParser(description="Measure the way from log text to the answer.")
    arguments.add_argument("--sizes", type=float, nargs="+", default=[10, 100], metavar="MB")
    arguments.add_argument("--shares", type=float, nargs="+", default=[0.01], metavar="SHARE")
    arguments.add_argument("--repeats", type=int, default=3)
    chosen = arguments.parse_args()
    collect_rarely()
    knowledge = Knowledge.build(load_rulebook(cached=True), cached=True)
    fallback = Re2Engine(knowledge.scanner.patterns)
    rules = len(knowledge.rulebook.causes) + len(knowledge.rulebook.symptoms)
    print(
        f"{rules} rules, {len(knowledge.rulebook.patterns)} patterns of rules, {len(knowledge.scanner.patterns)} in all"
    )
    with tempfile.TemporaryDirectory() as folder:
        for share in chosen.shares:
            for size in chosen.sizes:
                bench(int(size * 1e6), share, chosen.repeats, knowledge, fallback, Path(folder))
        bench_paste(knowledge, chosen.repeats, Path(folder))


if __name__ == "__main__":
    main()
