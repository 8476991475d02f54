"""Of a long input, which lines deserve a closer look: circumstances that are known by now, and routine, do not.

What collectors call `ROUTINE` (a line for each step, each channel) is looked for at both ends of an input and in a sample of
blocks between, of each of which some lines are read; of what they call `CONTEXT` (a line for each rank) the first hundreds
are read, and some of each sampled block. Heads of tables that no literal finds are looked for in the same blocks as routine
lines, and go on being looked for where tables follow each other. Lines of which a collector can tell that they say the same
(`GISTS`) are read a few times only, in inputs of any length.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from collectors.scan import Hit, Scanner

SAMPLED_BLOCKS = 32  # every how many blocks between the ends one is scanned with every pattern
MANY_SHAPES = 100  # heads of tables in a block from which on the next one is scanned with every pattern, too
MOST_CONTEXT = 2500  # lines of one context pattern that are read at the ends of an input
MOST_BETWEEN = 500  # such lines read so far from which on, between the ends, only some more are
MOST_SAID = 8  # lines with the same gist that are read
MOST_GISTS = 50_000  # different gists of one input that are told apart
MOST_SAMPLED = 100  # lines of one routine or known context pattern that are read of a sampled block


class Attention:
    """Follows one input block by block. `passed` are the patterns whose lines are left alone, `whole` tells whether a block is
    scanned with every pattern, `end` whether it stands at an end of the input."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._shapes: frozenset[int] = frozenset()  # once it matters
        self._context, self._routine = scanner.context, scanner.routine
        self._known: Counter[int] = Counter()  # by context pattern, the lines read so far
        self._read: Counter[int] = Counter()  # by routine or context pattern, the lines read of the block
        self._heads = 0  # of tables, in the block
        self._most = MOST_CONTEXT  # context lines of one pattern after which the block's are left alone
        self._said: Counter[tuple[int, Any]] = Counter()  # by pattern and gist, the lines read so far
        self.told = 0  # lines that were left out as they say no more than others
        self.passed: set[int] = set()
        self.whole = self.end = True
        self.passed_over = False  # whether some block was not scanned with every pattern
        self.is_tired = False  # whether lines that tell circumstances were left out

    def enter(self, number: int, *, at_end: bool) -> None:
        """Begin with the block that has this number, from 0 on."""
        self.end = at_end
        self.whole = at_end or number % SAMPLED_BLOCKS == 0 or self._heads >= MANY_SHAPES
        self.passed_over = self.passed_over or not self.whole
        self._read.clear()
        self._heads = 0
        self._most = MOST_CONTEXT if at_end else MOST_BETWEEN
        self.passed = set() if self.whole else {index for index, count in self._known.items() if count >= self._most}
        if not at_end:
            self._shapes = self._scanner.shapes

    def is_told(self, hit: Hit, block: bytes) -> bool:
        """Tell, and count, whether a hit line says no more than some that were read."""
        if len(hit.found) > 1:
            return False
        index = hit.found[0][0]
        gist = self._scanner.gists.get(index)
        met = gist.search(block, hit.start, hit.end) if gist is not None else None
        if met is None:
            return False
        said = (index, met.groups())
        if self._said[said] >= MOST_SAID:
            self.told += 1
            return True
        if len(self._said) < MOST_GISTS or said in self._said:
            self._said[said] += 1
        return False

    def count(self, hit: Hit) -> None:
        """Count a hit that is going to be read."""
        for index, _ in hit.found:
            if index in self._context:
                self._known[index] += 1
                self._read[index] += 1
                if self._known[index] >= self._most and (not self.whole or self._read[index] >= MOST_SAMPLED):
                    self.is_tired = True
                    self.passed.add(index)
            elif index in self._shapes:
                self._heads += 1
            elif index in self._routine and not self.end:
                self._read[index] += 1
                if self._read[index] == MOST_SAMPLED:
                    self.passed.add(index)
