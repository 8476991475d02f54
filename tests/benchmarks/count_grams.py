"""Count which four-character pieces ordinary logs are full of, for `collectors/ordinary.txt`.

    python tests/benchmarks/count_grams.py LOG... > collectors/ordinary.txt

Give logs of healthy runs. Files of one folder are one kind of log; kinds weigh the same, and the generated log of
`generate.py` is one of them. A rate is the quadratic mean over the kinds, so that a piece which fills one kind of log counts
as common. Only pieces are kept, at least four a megabyte, with their rate rounded down to a power of two.
"""

from __future__ import annotations

import lzma
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import log2, sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from collectors.literals import GRAM, normalise_digits
from tests.benchmarks.generate import Log

_MOST_BYTES = 4_000_000  # of one file
_MOST_LINE = 300
_LEAST_RATE = 4.0
_WIDTH = 29  # pieces a line


def count_grams(kinds: Mapping[str, Iterable[bytes]]) -> dict[str, float]:
    """Return the occurrences a megabyte of each piece, as the quadratic mean over the kinds of logs."""
    rates: dict[str, float] = defaultdict(float)
    for texts in kinds.values():
        counts: Counter[str] = Counter()
        size = 0
        for text in texts:
            for raw in text[:_MOST_BYTES].split(b"\n"):
                line = normalise_digits(raw[:_MOST_LINE].decode("ascii", "replace"))
                size += len(line) + 1
                counts.update({line[at : at + GRAM] for at in range(len(line) - GRAM + 1)})
        for gram, count in counts.items():
            rates[gram] += (count / max(size, 1_000_000) * 1_000_000) ** 2 / len(kinds)
    return {
        gram: sqrt(square)
        for gram, square in rates.items()
        if square >= _LEAST_RATE**2 and gram.isascii() and gram.isprintable()
    }


def write_table(rates: Mapping[str, float]) -> str:
    """Return the table: lines of a rate, a tab and pieces without anything between them."""
    buckets: dict[int, list[str]] = defaultdict(list)
    for gram in sorted(rates):
        buckets[int(log2(rates[gram]))].append(gram)
    lines: list[str] = []
    for bucket in sorted(buckets, reverse=True):
        grams = buckets[bucket]
        lines.extend(f"{2**bucket}\t{''.join(grams[at : at + _WIDTH])}" for at in range(0, len(grams), _WIDTH))
    return "\n".join(lines) + "\n"


def main(paths: list[str]) -> None:
    """Count the files and print the table."""
    kinds: dict[str, list[bytes]] = defaultdict(list)
    for path in map(Path, sorted(paths)):
        kinds[path.parent.name].append(
            lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        )
    kinds[""] = [b"".join(Log(_MOST_BYTES, 0.0, []).chunks())]
    sys.stdout.write(write_table(count_grams(kinds)))


if __name__ == "__main__":
    main(sys.argv[1:])
