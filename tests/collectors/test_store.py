"""The store: what goes in comes out, few rows or many, in memory or in a file; and what can't be opened says why."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.observation import Observation, Record, Relation, Sample
from collectors.store import InputRow, Store, StoreError
from diagnosis.facts import load_facts


def observation(line: int, **fields: object) -> Observation:
    values: dict[str, object] = {"text": f"line {line}", "code": "79", "time": 1000.0 + line, "node": "node-a"}
    return Observation("kernel", "xid", "a.log", line, line, **{**values, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 1, 64, 65, 3000])
def test_rows_come_back_as_they_were(count: int) -> None:
    observations = [
        observation(
            line, entity="gpu:0000:3b:00.0", attributes={"pid": str(line), "name": "掉卡 'x' \"y\""}, raw="raw 掉卡"
        )
        for line in range(1, count + 1)
    ]
    samples = [
        Sample("dcgm", "DCGM_FI_DEV_GPU_TEMP", line / 3, "m.prom", line, 1.5, labels={"gpu": "0"})
        for line in range(count)
    ]
    relations = [Relation(f"rank:{line:05d}", "gpu:0", "rests", "a.log", line, "node-a") for line in range(count)]
    store = Store.open()
    store.append("one", [*samples, *reversed(observations), *relations])
    facts = load_facts(store)
    assert facts.observations == observations
    assert facts.samples == sorted(samples, key=lambda one: one.line)
    assert facts.relations == relations


def test_what_is_not_told_stays_so() -> None:
    store = Store.open()
    record = Observation("kernel", "xid", "a.log", 1, 1, "text")
    store.append("one", [record])
    assert load_facts(store).observations == [record]


def test_the_same_rows_again_are_one_row() -> None:
    store = Store.open()
    for batch in ("one", "two"):
        store.append(batch, [observation(1), observation(1), observation(2)])
    assert [one.line for one in load_facts(store).observations] == [1, 2]


def test_a_batch_is_looked_at_alone() -> None:
    store = Store.open()
    store.append("one", [observation(1)])
    store.append("two", [observation(2)])
    assert [one.line for one in load_facts(store, batches=["two"]).observations] == [2]
    assert load_facts(store, batches=[]).observations == []


def test_a_window_keeps_what_has_no_time() -> None:
    store = Store.open()
    store.append(
        "one",
        [observation(1, time=10.0), observation(2, time=20.0), observation(3, time=None), observation(4, time=30.0)],
    )
    assert [one.line for one in load_facts(store, since=20.0, until=20.0).observations] == [2, 3]


@pytest.mark.parametrize("count", [1, 100])
def test_text_that_no_column_takes_is_mended(count: int) -> None:
    bad = "a\x00b \ud800 掉"
    records: list[Record] = []
    for line in range(count):
        records += [
            Observation("kernel", "xid", "a\ud800.log", line, line, bad, bad, None, bad, f"pod:{bad}", {"k": bad}, bad),
            Sample("dcgm", bad, 1.0, "m", line, None, bad, f"pod:{bad}", {"k": bad}),
            Relation(f"pod:{bad}", f"node:{bad}", "rests", "a", line, bad),
        ]
    store = Store.open()
    store.append("one", records)
    facts = load_facts(store)
    first = facts.observations[0]
    assert first.text == first.raw == first.code == first.node == "a\ufffdb ? 掉"
    assert first.attributes["k"].startswith("a\x00b ? 掉")
    assert (len(facts.observations), len(facts.samples), len(facts.relations)) == (count, count, count)


def test_a_very_long_text_is_cut() -> None:
    store = Store.open()
    store.append("one", [observation(1, text="x" * 100_000)])
    assert len(load_facts(store).observations[0].text) == 8192


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20), st.none() | st.floats(0, 4e9)), max_size=70))
def test_any_text_is_kept(rows: list[tuple[str, str, float | None]]) -> None:
    store = Store.open()
    records = [
        Observation("kernel", "text", "a.log", line, line, text, key, time, attributes={"group": text})
        for line, (key, text, time) in enumerate(rows)
    ]
    store.append("one", records)
    found = load_facts(store).observations
    assert [one.text for one in found] == [one.text.replace("\x00", "\ufffd") for one in records]
    assert [one.attributes for one in found] == [one.attributes for one in records]
    assert [one.time for one in found] == [one.time for one in records]
    store.close()


def test_a_failed_append_leaves_nothing() -> None:
    store = Store.open()
    broken = InputRow("a.log", "kernel", "many", 1)  # type: ignore[arg-type]
    with pytest.raises(duckdb.Error):
        store.append("one", [observation(1)], [broken])
    assert load_facts(store).observations == []
    store.append("two", [observation(2)])
    assert len(load_facts(store).observations) == 1


def test_a_file_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "facts.duckdb"
    store = Store.open(path)
    store.append(
        "one", [observation(line) for line in range(100)], [InputRow("a.log", "kernel", 100, 999)], received=5.0
    )
    store.close()
    again = Store.open(path)
    assert len(load_facts(again).observations) == 100
    assert again.query("SELECT input, kind, lines, bytes, received FROM inputs") == [("a.log", "kernel", 100, 999, 5.0)]
    again.close()


def test_each_thread_has_its_own_cursor() -> None:
    store = Store.open()
    found: list[int] = []

    def read(handle: Store) -> None:
        found.append(len(load_facts(handle).observations))
        handle.close()

    store.append("one", [observation(line) for line in range(100)])
    threads = [threading.Thread(target=read, args=(store.cursor(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [100] * 4


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello " * 1000)
    with pytest.raises(StoreError, match=r"notes\.txt: not a store that can be opened: "):
        Store.open(path)
    with pytest.raises(StoreError, match=r"not a store that can be opened: "):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match=r"not a store that can be opened: "):
        Store.open(tmp_path / "no folder" / "facts.duckdb")


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "facts.duckdb"
    store = Store.open(path)
    store.query("INSERT INTO meta VALUES (99)")
    store.close()
    with pytest.raises(
        StoreError,
        match=r"facts\.duckdb: written by a newer faultwalk \(schema 99, this one knows 2\): use that version",
    ):
        Store.open(path)


def test_a_store_that_another_process_holds_says_so(tmp_path: Path) -> None:
    path = tmp_path / "facts.duckdb"
    code = f"import sys; from pathlib import Path; from collectors.store import Store; s = Store.open(Path({str(path)!r})); print('open', flush=True); sys.stdin.read()"
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(
            StoreError, match=rf"facts\.duckdb: process {other.pid} \(.+\) holds this store: stop it, send the input"
        ):
            Store.open(path)
        other.communicate()
