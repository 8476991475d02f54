"""Of a long input, which lines deserve a closer look: circumstances that are known by now, and routine, do not.

What collectors call `ROUTINE` (a line for each step, each channel) is looked for at both ends of an input and in a sample of
blocks between, of each of which a few hundred lines are read; of what they call `CONTEXT` (a line for each rank) the first
thousands are read. Heads of tables that no literal finds are looked for in the same blocks as routine lines, and go on being
looked for where tables follow each other.
"""

from __future__ import annotations

from collections import Counter

from collectors.scan import Hit, Scanner

WHOLE_BLOCKS = 2  # blocks at the beginning and at the end of an input that are scanned with every pattern
SAMPLED_BLOCKS = 16  # between them, every sixteenth block
MANY_SHAPES = 100  # heads of tables in a block from which on the next one is scanned with every pattern, too
MOST_CONTEXT = 2500  # lines of one context pattern that are read of an input
MOST_SAMPLED = 300  # lines of one routine pattern that are read of a sampled block


class Attention:
    """Follows one input block by block. `passed` are the patterns whose lines are left alone, `whole` tells whether a block is
    scanned with every pattern, `end` whether it stands at an end of the input."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._shapes: frozenset[int] = frozenset()  # once it matters
        self._context, self._routine = scanner.context, scanner.routine
        self._known: Counter[int] = Counter()  # by context pattern, the lines read so far
        self._enough: set[int] = set()  # context patterns of which no more lines are read
        self._sampled: Counter[int] = Counter()  # by routine pattern, the lines read of the block
        self._heads = 0  # of tables, in the block
        self.passed: set[int] = set()
        self.whole = self.end = True
        self.passed_over = False  # whether some block was not scanned with every pattern

    @property
    def is_tired(self) -> bool:
        """Whether lines that tell circumstances were left out."""
        return bool(self._enough)

    def enter(self, number: int, *, near_end: bool) -> None:
        """Begin with the block that has this number, from 0 on."""
        self.end = number < WHOLE_BLOCKS or near_end
        self.whole = self.end or number % SAMPLED_BLOCKS == 0 or self._heads >= MANY_SHAPES
        self.passed_over = self.passed_over or not self.whole
        self.passed = set(self._enough)
        self._sampled.clear()
        self._heads = 0
        if number + 1 >= WHOLE_BLOCKS and not near_end:
            self._shapes = self._scanner.shapes

    def count(self, hit: Hit) -> None:
        """Count a hit that is going to be read."""
        for index, _ in hit.found:
            if index in self._context:
                self._known[index] += 1
                if self._known[index] == MOST_CONTEXT:
                    self._enough.add(index)
                    self.passed.add(index)
            elif index in self._shapes:
                self._heads += 1
            elif index in self._routine and not self.end:
                self._sampled[index] += 1
                if self._sampled[index] == MOST_SAMPLED:
                    self.passed.add(index)
