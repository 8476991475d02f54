"""How often each cause was seen, from published counts. Priors break ties and never decide alone."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from diagnosis.rulebook.rows import read_rows


def load_priors(path: Path) -> dict[str, float]:
    """Read `cause,count,source` rows; return each cause's share of all that was counted.

    Raises RuleError naming file:line for a row without a whole count or a source.
    """
    counts: dict[str, float] = defaultdict(float)
    for row in read_rows(path, ("cause",), whole=("count",)):
        counts[row["cause"]] += int(row["count"])
    total = sum(counts.values()) or 1.0
    return {cause: count / total for cause, count in sorted(counts.items())}
