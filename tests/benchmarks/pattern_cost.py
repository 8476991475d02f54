"""Measure what each pattern costs the scan: a new one that is dear wants an `anchor:` with a rare word in it.

    python tests/benchmarks/pattern_cost.py                 the dearest expressions, and how often each wakes Python
    python tests/benchmarks/pattern_cost.py --most 0.3      fails when one costs more than 0.3 times what all literals cost

The unit is the time in which the scan finds all literals of all patterns in the same text, so that the figure says the same on
every machine; the text is an ordinary generated log (`tests/benchmarks/generate.py`). Patterns that are found by a rare literal
are not listed: together they are that unit.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from collectors.engines import compile_database
from collectors.expressions import gather_expressions
from collectors.patterns import Pattern
from diagnosis.engine import Knowledge
from diagnosis.rulebook import load_rulebook
from tests.benchmarks.generate import Log

Expression = tuple[str, bool]
_PLAIN = re.compile(r"(?:\\[^A-Za-z0-9]|[^\\^$.|?*+()\[\]{}])*")


def measure(expressions: Sequence[Expression], blocks: Sequence[bytes], repeats: int = 3) -> tuple[float, float]:
    """Return the seconds of a scan, the best of several, and the number of calls to Python."""
    database = compile_database(expressions)
    calls = 0

    def meet(*_: Any) -> None:
        nonlocal calls
        calls += 1

    best = float("inf")
    for _ in range(repeats):
        before = process_time()
        for block in blocks:
            database.scan(block, match_event_handler=meet)
        best = min(best, process_time() - before)
    return best, calls / repeats


def rank_patterns(
    patterns: Sequence[Pattern], blocks: Sequence[bytes]
) -> list[tuple[float, float, Expression, list[str]]]:
    """Return (cost in the unit, calls a megabyte, expression, keys of its patterns), the dearest first."""
    gathered = gather_expressions(patterns)
    literals = [one for one in gathered if _PLAIN.fullmatch(one[0])]
    unit, calls = measure(literals, blocks, 5)
    megabytes = sum(map(len, blocks)) / 1e6
    found = []
    for one, members in gathered.items():
        if one not in literals:
            spent, woken = measure([*literals, one], blocks)
            found.append(
                (spent / unit - 1, (woken - calls) / megabytes, one, [patterns[index].key for index in members])
            )
    return sorted(found, key=lambda row: -row[0])


def main() -> None:
    """Print the dearest patterns."""
    arguments = argparse.ArgumentParser(description="Measure what each pattern costs the scan.")
    arguments.add_argument("--megabytes", type=float, default=8.0)
    arguments.add_argument("--top", type=int, default=25)
    arguments.add_argument("--most", type=float, help="fail when a rule's pattern costs more than this, in the unit")
    chosen = arguments.parse_args()
    knowledge = Knowledge.build(load_rulebook(cached=True), cached=True)
    blocks = list(Log(int(chosen.megabytes * 1e6), 0.0, []).chunks())
    ranked = rank_patterns(
        knowledge.scanner.patterns, [b"".join(blocks[at : at + 100]) for at in range(0, len(blocks), 100)]
    )
    print(f"{'cost':>6}{'calls/MB':>10}")
    for cost, calls, (regex, caseless), keys in ranked[: chosen.top]:
        print(f"{cost:>6.2f}{calls:>10.1f}  {keys[0]:40} {'(?i)' if caseless else ''}{regex[:80]}")
    dear = [keys[0] for cost, _, _, keys in ranked if chosen.most is not None and cost > chosen.most and "#" in keys[0]]
    if dear:
        raise SystemExit(f"dearer than {chosen.most}: {', '.join(dear)}")


if __name__ == "__main__":
    main()
