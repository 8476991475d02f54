"""A progress bar on standard error for what takes longer than two seconds."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

PATIENCE = 2.0  # seconds before a bar appears


class Progress:
    """Shows how far a command has come, once it has taken its time, to a person at a terminal.

    Standard output stays what the command says; `quiet`, or a standard error that is no terminal, shows nothing.
    """

    def __init__(self, *, quiet: bool = False, console: Console | None = None, patience: float = PATIENCE) -> None:
        self._quiet, self._console, self._patience = quiet, console, patience
        self._began = time.monotonic()
        self._bar: Bar | None = None
        self._what, self._total, self._done = "", 0, 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def phase(self, what: str, total: int = 0) -> None:
        """Begin a part of the work: `total` units of it, 0 when nobody knows how many."""
        self._what, self._total, self._done = what, total, 0
        self._show()

    def advance(self, units: int = 1) -> None:
        """Tell that some units of the part are done."""
        self._done += units
        self._show()

    def watch(self, stream: BinaryIO) -> BinaryIO:
        """Return the stream, with each byte that is read from it counted as a unit."""
        return cast("BinaryIO", _Watched(stream, self))

    def _show(self) -> None:
        if self._quiet or time.monotonic() - self._began < self._patience:
            return
        if self._bar is None:
            self._bar = _make_bar(self._console)
            if self._bar is None:
                self._quiet = True
                return
            self._bar.add_task("")
            self._bar.start()
        done = min(self._done, self._total) if self._total else self._done
        self._bar.update(self._bar.task_ids[0], description=self._what, total=self._total or None, completed=done)


class _Watched:
    """A stream that tells a progress how much was read from it."""

    def __init__(self, stream: BinaryIO, progress: Progress) -> None:
        self._stream, self._progress = stream, progress

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._progress.advance(len(data))
        return data


def _make_bar(console: Console | None) -> Bar | None:
    """Return a bar for standard error, None when nobody would see it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = console or Console(stderr=True)
    if not console.is_terminal:
        return None
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
