"""How often each cause was seen, from published counts. Priors break ties and never decide alone."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from diagnosis.rulebook.document import RuleError


def load_priors(path: Path) -> dict[str, float]:
    """Read `cause,count,source` rows; return each cause's share of all that was counted.

    Raises RuleError naming file:line for a row without a whole count or a source.
    """
    counts: dict[str, float] = defaultdict(float)
    with path.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            count, source = row.get("count") or "", row.get("source") or ""
            if not count.isdigit() or not source:
                raise RuleError(
                    [f"{path.name}:{number}: expected cause, a whole count and a source, found {dict(row)}"]
                )
            counts[row["cause"]] += int(count)
    total = sum(counts.values()) or 1.0
    return {cause: count / total for cause, count in sorted(counts.items())}
