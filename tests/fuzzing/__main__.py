"""Fuzz a parser, or all of them one after another; coverage-guided where atheris is installed (`make fuzz`).

    python -m tests.fuzzing --list
    python -m tests.fuzzing kube_objects --minutes 10
    python -m tests.fuzzing all --minutes 0.5 --jobs 2

An input fails when its parser raises, yields what it may not yield, or takes longer than `--slow` seconds of processor time.
It is then written to `fuzz-NAME-DIGEST.bin` in the folder of `--keep`, and the command ends with status 1.
`python -m tests.fuzzing NAME --input FILE` runs one input again.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzzing.mutations import CHANGES, Change, apply
from tests.fuzzing.targets import Target, targets

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 1 << 16


class TooSlowError(Exception):
    """An input took too long."""


class Trial:
    """Runs inputs of one target and keeps the ones that fail, one a kind of failure."""

    def __init__(self, target: Target, slow: float, keep: Path) -> None:
        self.target, self.slow, self.keep = target, slow, keep
        self.runs, self.failures = 0, 0
        self._seen: set[str] = set()

    def run(self, data: bytes) -> None:
        """Run one input; report it when it fails in a way that was not seen yet."""
        self.runs += 1
        began = time.process_time()
        try:
            self.target.run(data)
            took = time.process_time() - began
            if took > self.slow:
                raise TooSlowError(f"{len(data)} bytes took {took:.1f} s")
        except Exception as error:  # noqa: BLE001  whatever a parser trips over
            self._report(data, error)

    def _report(self, data: bytes, error: Exception) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        last = frames[-1]
        kind = f"{type(error).__name__} {Path(last.filename).name}:{last.lineno}"
        if kind in self._seen:
            return
        self._seen.add(kind)
        self.failures += 1
        path = self.keep / f"fuzz-{self.target.name}-{hashlib.sha256(data).hexdigest()[:12]}.bin"
        path.write_bytes(data)
        print(f"{self.target.name}: {kind}: {str(error)[:300]}\n  kept in {path}", flush=True)


def draw(chance: random.Random, seeds: list[bytes]) -> bytes:
    """Return a seed, now and then two of them in one, with a few changes made."""
    data = chance.choice(seeds)
    if chance.random() < 0.2:
        other = chance.choice(seeds)
        data = data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]
    return apply(data, draw_changes(chance), MOST_BYTES)


def draw_changes(chance: random.Random) -> list[Change]:
    names = list(CHANGES)
    return [
        (chance.choice(names), chance.randrange(1 << 20), chance.randrange(1 << 20))
        for _ in range(chance.randint(1, 6))
    ]


def fuzz_plainly(trial: Trial, seconds: float, seed: int) -> None:
    """Change seeds at random until the time is over."""
    chance = random.Random(seed)
    seeds = list(trial.target.seeds) or [b""]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        trial.run(draw(chance, seeds))


def fuzz_with_coverage(trial: Trial, seconds: float, seed: int) -> None:
    """Let atheris choose what to keep by the code that it reaches. Ends the process."""
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]

    def mutate(data: bytes, most: int, number: int) -> bytes:
        chance = random.Random(number)
        if chance.random() < 0.4:
            return bytes(atheris.Mutate(data, most))
        return apply(data, draw_changes(chance), most)

    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(trial.target.seeds):
            (Path(folder) / f"{number:05}").write_bytes(text[:MOST_BYTES])
        arguments = [
            sys.argv[0], f"-max_total_time={max(1, int(seconds))}", f"-seed={seed % (1 << 31) or 1}", f"-max_len={MOST_BYTES}", "-verbosity=0",
            "-timeout=120", "-rss_limit_mb=4096", f"-artifact_prefix={trial.keep}/", folder,
        ]  # fmt: skip
        atheris.Setup(arguments, trial.run, custom_mutator=mutate)
        _fuzz_until_exit(trial, atheris)


def _fuzz_until_exit(trial: Trial, atheris: object) -> None:
    import atexit

    atexit.register(lambda: _tell(trial))
    atheris.Fuzz()  # type: ignore[attr-defined]  # ends the process


def _tell(trial: Trial) -> None:
    print(f"{trial.target.name}: {trial.runs} inputs, {trial.failures} kinds of failure", flush=True)


def instrument() -> bool:
    """Have what is imported from now on tell atheris which code runs; tell whether there is atheris."""
    if importlib.util.find_spec("atheris") is None:
        return False
    import atheris

    for name in [
        one for one in sys.modules if one.partition(".")[0] in ("casebase", "collectors", "diagnosis", "tests")
    ]:
        if name not in ("tests", "tests.fuzzing", "tests.fuzzing.__main__"):
            del sys.modules[name]
    with atheris.instrument_imports(include=["collectors"]):
        importlib.import_module("tests.fuzzing.targets")
    return True


def run_one(name: str, options: argparse.Namespace) -> int:
    """Fuzz one target in this process; return how many kinds of failure there were."""
    guided = not options.plain and instrument()
    target = importlib.import_module("tests.fuzzing.targets").targets()[name]
    trial = Trial(target, options.slow * (4 if guided else 1), options.keep)
    if options.input is not None:
        trial.target.run(options.input.read_bytes())
        return 0
    for text in target.seeds:
        trial.run(text)
    if guided:
        fuzz_with_coverage(trial, options.minutes * 60, options.seed)
    else:
        fuzz_plainly(trial, options.minutes * 60, options.seed)
        _tell(trial)
    return trial.failures


def run_all(names: list[str], options: argparse.Namespace) -> int:
    """Fuzz each target in a process of its own; return how many failed."""

    def run(name: str) -> tuple[str, int, str]:
        arguments = [
            sys.executable, "-m", "tests.fuzzing", name, "--minutes", str(options.minutes), "--seed", str(options.seed), "--slow",
            str(options.slow), "--keep", str(options.keep), *(["--plain"] if options.plain else []),
        ]  # fmt: skip
        done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
        return name, done.returncode, done.stdout + (done.stderr[-2000:] if done.returncode else "")

    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, code, said in pool.map(run, names):
            bad = code != 0 or " kept in " in said
            failed += bad
            print(said.strip() or f"{name}: ended with {code}", flush=True)
    return failed


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Look for inputs that a parser trips over.")
    parser.add_argument(
        "name", nargs="?", default="all", help="a parser (see --list), intake, triage, archives, prefix or all"
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--slow", type=float, default=2.0, help="seconds of processor time that one input may take")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=Path.cwd())
    parser.add_argument("--input", type=Path, help="run this input only")
    parser.add_argument("--plain", action="store_true", help="without atheris")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = sorted(targets())
    if options.list:
        print("\n".join(names))
        return
    if options.name != "all" and options.name not in names:
        parser.error(f"{options.name}: expected all or one of {', '.join(names)}")
    failed = run_all(names, options) if options.name == "all" else run_one(options.name, options)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
