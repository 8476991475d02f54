"""Groups of hosts that are fast alone and slow together: runs of one collective test, told by their rows.

Reads `test-row` of nccl-tests, at the largest message of each run. Yields `group-runs` (code `slow-together`) where at least two
runs agree and the last, of the same size, reached at most 0.6 of them. The settings of the runs are not in the text, so this is
only half a proof: a run may be slow as something was switched off for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.bandwidth import read_busbw, read_size
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts

_ALIKE, _SLOW = 1.15, 0.6
_LEAST = 64 << 20  # bytes of a message that shows what the links carry
_RUNS = range(3, 9)


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield a `group-runs` fact for each input whose runs show it."""
    by_input: dict[str, list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("test-row", ()):
        by_input[one.input].append(one)
    for _, rows in sorted(by_input.items()):
        runs = _split(sorted(rows, key=lambda one: one.line))
        if len(runs) not in _RUNS or len({read_size(one) for one in runs}) > 1 or read_size(runs[0]) < _LEAST:
            continue
        alone, together = [read_busbw(one) for one in runs[:-1]], read_busbw(runs[-1])
        if min(alone) <= 0 or max(alone) > _ALIKE * min(alone) or together > _SLOW * min(alone):
            continue
        last = runs[-1]
        text = f"{len(alone)} runs at {min(alone):g} to {max(alone):g} GB/s, the last at {together:g}"
        attributes = {"alone": f"{min(alone):g}", "together": f"{together:g}"}
        yield derive_at(last, "group-runs", "slow-together", text, attributes), [last, *runs[:-1]][:4]


def _split(rows: list[Observation]) -> list[Observation]:
    """Return the row of the largest message of each run: the sizes of a run grow, so a new one begins where they do not."""
    found: list[Observation] = []
    for one in rows:
        if found and read_size(one) > read_size(found[-1]):
            found[-1] = one
        else:
            found.append(one)
    return found
