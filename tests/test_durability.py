"""What is acknowledged is on disk: ten kills here, two hundred with `python -m tests.durability`."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.observation import Observation, Record
from collectors.store import InputRow, Store
from tests.durability import run


def test_ten_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    tally = run(10, seed=1, folder=tmp_path)
    assert tally.acknowledged > 0


def test_an_interrupted_append_leaves_nothing(tmp_path: Path) -> None:
    def records() -> list[Record]:
        return [Observation("kernel", "xid", "a.log", line, line, "text") for line in range(50_000)]

    store = Store.open(tmp_path / "store.duckdb")
    store.append("first", records(), [InputRow("a.log", "kernel", 1, 1)])

    class Interrupted(InputRow):
        """An input whose row can't be written, because the person at the keyboard had enough."""

        @property
        def lines(self) -> int:
            raise KeyboardInterrupt

    row = object.__new__(Interrupted)
    object.__setattr__(row, "input", "a.log")
    object.__setattr__(row, "kind", "kernel")
    with pytest.raises(KeyboardInterrupt):
        store.append("second", records(), [row])
    assert not store.has("second") and store.has("first")
    store.append("second", records(), [InputRow("a.log", "kernel", 1, 1)])
    store.close()
    again = Store.open(tmp_path / "store.duckdb")
    assert again.query("SELECT batch, count(*) FROM observations GROUP BY batch ORDER BY batch") == [
        ("first", 50_000),
        ("second", 50_000),
    ]
    again.close()
