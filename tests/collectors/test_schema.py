"""An older store is brought forward whole or left as it was; what is not ours or newer is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from collectors import schema
from collectors.notes import Note, read, write
from collectors.observation import Observation
from collectors.schema import MIGRATIONS, TABLES, VERSION, describe_holder
from collectors.store import InputRow, Store, StoreError
from diagnosis.facts import load_facts

FIRST = {**TABLES, "inputs": "batch VARCHAR, input VARCHAR, kind VARCHAR, lines BIGINT, bytes BIGINT, received DOUBLE"}


def make_old(path: Path, version: int = 1) -> None:
    """Make a store as the first version wrote it, with one fact."""
    connection = duckdb.connect(str(path))
    for name, columns in FIRST.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
    connection.execute("INSERT INTO meta VALUES (?)", [version])
    connection.execute("INSERT INTO inputs VALUES ('one', 'a.log', 'kernel', 7, 700, 5.0)")
    connection.execute(
        "INSERT INTO observations VALUES ('one', 'a.log', 1, 1, 10.0, 'kernel', 'xid', '79', 'node-a', 'gpu:0', '{}', 'text', 'raw')"
    )
    connection.close()


def columns_of(path: Path) -> dict[str, list[tuple[str, str]]]:
    connection = duckdb.connect(str(path))
    rows = connection.execute("SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index").fetchall()  # fmt: skip
    connection.close()
    found: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in rows:
        found.setdefault(table, []).append((column, kind))
    return found


def test_an_older_store_becomes_one_of_today(tmp_path: Path) -> None:
    make_old(tmp_path / "old.duckdb")
    store = Store.open(tmp_path / "old.duckdb")
    assert [one.code for one in load_facts(store).observations] == ["79"]
    store.append(
        "two",
        [Observation("kernel", "xid", "b.log", 2, 2, "text")],
        [InputRow("b.log", "kernel", 1, 9, write(["GBK"]))],
    )
    assert store.query("SELECT input, lines, notes FROM inputs ORDER BY input") == [
        ("a.log", 7, None),
        ("b.log", 1, '["GBK"]'),
    ]
    assert store.query("SELECT version FROM meta") == [(VERSION,)]
    store.close()
    Store.open(tmp_path / "new.duckdb").close()
    assert columns_of(tmp_path / "old.duckdb") == columns_of(tmp_path / "new.duckdb")


def test_every_version_can_be_brought_forward() -> None:
    assert sorted(MIGRATIONS) == list(range(1, VERSION))


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.duckdb"
    make_old(path)
    before = columns_of(path)
    monkeypatch.setitem(schema.MIGRATIONS, 1, (*MIGRATIONS[1], "ALTER TABLE nowhere ADD COLUMN a VARCHAR"))
    with pytest.raises(StoreError, match=r"old\.duckdb: not a store that can be opened: .*nowhere"):
        Store.open(path)
    assert columns_of(path) == before
    monkeypatch.undo()
    Store.open(path).close()


@pytest.mark.parametrize("version", [0, -3])
def test_a_version_that_nobody_wrote_is_refused(tmp_path: Path, version: int) -> None:
    make_old(tmp_path / "odd.duckdb", version)
    with pytest.raises(StoreError, match=f"of schema {version}, which no faultwalk has written"):
        Store.open(tmp_path / "odd.duckdb")


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sales.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE sales (amount DOUBLE)")
    connection.close()
    with pytest.raises(StoreError, match=r"sales\.duckdb: a database of another program: it holds the table sales"):
        Store.open(path)
    assert columns_of(path) == {"sales": [("amount", "DOUBLE")]}


def test_the_document_describes_every_table_and_column() -> None:
    text = (Path(__file__).parents[2] / "docs" / "store.md").read_text("utf-8")
    assert f"version {VERSION}" in text
    for table, columns in TABLES.items():
        assert f"`{table}`" in text
        for column in columns.split(", "):
            assert f"`{column.split()[0]}`" in text, (table, column)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("IO Error: Conflicting lock is held in PID 4194305.", "process 4194305"),
        (
            "IO Error: Conflicting lock is held in /opt/x (deleted) by user a (PID 4194305). See",
            "process 4194305 (/opt/x (deleted))",
        ),
        ("IO Error: already open", "another process"),
    ],
)
def test_a_holder_is_named_as_far_as_it_is_known(error: str, told: str) -> None:
    assert describe_holder(error) == told


def test_remarks_come_back_in_both_languages() -> None:
    kept = read(write([Note.of("repeats", total=9, what="xid 79", count=12), "GBK"]))
    assert kept == ["9 repeats left out, the first and last of each kept; most often xid 79: 12 lines", "GBK"]
    assert isinstance(kept[0], Note) and kept[0].in_language("zh").startswith("省略了 9 条重复")
    assert read('[["of a later version", {}], "kept"]') == ["kept"] and read(None) == []
