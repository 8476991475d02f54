"""A cursor over the lines of one block of text, for sources whose facts span lines (tables, sections, YAML, JSON)."""

from __future__ import annotations

from collections.abc import Iterator


class RefusedError(Exception):
    """A document that is read as a whole is not what it looked like, or more than is taken; the message says why."""


class Reader:
    """Walks forward line by line from where a block's head was met; never cuts more lines than are asked for.

    `number` is the number of the next line, `offset` its place in the bytes, `complete` tells whether the end of the bytes
    is also the end of the input (otherwise a block that runs to the end may go on in the next bytes).
    """

    def __init__(
        self, data: bytes, offset: int, number: int, input_name: str, *, node: str = "", complete: bool = True
    ) -> None:
        self.data, self.offset, self.number = data, offset, number
        self.input, self.node, self.complete = input_name, node, complete
        self.taken = 0  # lines that were moved past, those gone back to included
        self.met_end = False  # whether more was asked for than there is, even if the cursor went back afterwards

    def peek(self) -> str | None:
        """Return the next line without moving, None at the end."""
        if self.offset >= len(self.data):
            self.met_end = True
            return None
        end = self.data.find(b"\n", self.offset)
        raw = self.data[self.offset : end if end >= 0 else len(self.data)]
        return raw.decode("utf-8", "replace").rstrip("\r")

    def next(self) -> str | None:
        """Return the next line and move past it, None at the end."""
        line = self.peek()
        if line is not None:
            end = self.data.find(b"\n", self.offset)
            self.offset = end + 1 if end >= 0 else len(self.data)
            self.number += 1
            self.taken += 1
        return line

    def lines(self, most: int = 20000) -> Iterator[tuple[int, str]]:
        """Yield (number, line) until the end or until `most` lines; the caller stops by `break` after `back`."""
        for _ in range(most):
            number, line = self.number, self.next()
            if line is None:
                return
            yield number, line

    def back(self, line_start: tuple[int, int]) -> None:
        """Return to a place taken earlier by `place`."""
        self.offset, self.number = line_start

    def place(self) -> tuple[int, int]:
        """Return the cursor's place, for `back`."""
        return self.offset, self.number

    @property
    def at_end(self) -> bool:
        return self.offset >= len(self.data)
