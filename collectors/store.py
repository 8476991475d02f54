"""Where observations, samples and relations are kept: DuckDB, in memory or in one file.

Rows are appended in bulk: columns become an Arrow table and one `INSERT ... SELECT` in one transaction. Rows stand in
time order within a batch and there is no index: DuckDB's zone maps serve windows. The event SQL keeps to the subset that
ClickHouse runs too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring as _quote
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb

from collectors.observation import Observation, Record, Relation, Sample
from collectors.schema import SchemaError, describe_holder, prepare

_OBSERVATION = (
    "input",
    "line",
    "line_end",
    "time",
    "source",
    "kind",
    "code",
    "node",
    "entity",
    "attributes",
    "text",
    "raw",
)
_SAMPLE = ("input", "line", "time", "source", "metric", "value", "node", "entity", "labels", "raw")
_RELATION = ("input", "line", "upper", "lower", "how", "node")
_INTEGERS, _NUMBERS = {"line", "line_end"}, {"time", "value"}
_FEW = 64  # rows that go in as values: so few are not worth a table
_CHUNK = 10_000  # rows that are turned into columns at a time
_MOST_SAMPLE_TEXT = 1000  # the same for a metric sample
_MOST_TEXT = 8192  # characters of a line that a row keeps


class StoreError(Exception):
    """The store can't be opened; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class InputRow:
    """What was handed over under one name."""

    input: str
    kind: str
    lines: int
    bytes: int
    notes: str = ""  # remarks of the intake, as `notes.write` makes them


class Store:
    """A DuckDB database. Open one per process; give each thread its own `cursor()`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, path: Path | None = None) -> Store:
        """Open a store in a file, or in memory without a path.

        Raises StoreError when another process holds the file or it is not a store of ours.
        """
        try:
            if path is None:
                connection = duckdb.connect(":memory:", config={"threads": 2})
            else:
                connection = duckdb.connect(str(path), config={"storage_compatibility_version": "v1.2.0"})
            try:
                prepare(connection)
            except BaseException:
                connection.close()
                raise
        except SchemaError as error:
            raise StoreError(f"{path}: {error}") from error
        except duckdb.Error as error:
            text = str(error)
            if "Conflicting lock" in text or "already open" in text:
                raise StoreError(
                    f"{path}: {describe_holder(text)} holds this store: stop it, send the input to that service, or name another file"
                ) from error
            raise StoreError(f"{path}: not a store that can be opened: {text.splitlines()[0][:200]}") from error
        return cls(connection)

    def cursor(self) -> Store:
        """Return a second handle for another thread: a connection object is never shared between threads."""
        return Store(self._connection.cursor())

    def close(self) -> None:
        """Close this handle."""
        self._connection.close()

    def append(
        self, batch: str, records: Iterable[Record], inputs: Sequence[InputRow] = (), *, received: float = 0.0
    ) -> None:
        """Keep records under a batch name in one transaction: on return they are on disk."""
        observations: list[Observation] = []
        samples: list[Sample] = []
        relations: list[Relation] = []
        for record in records:
            if isinstance(record, Observation):
                observations.append(record)
            elif isinstance(record, Sample):
                samples.append(record)
            else:
                relations.append(record)
        observations.sort(
            key=lambda one: (one.time if one.time is not None else -1.0, one.input, one.line, one.kind, one.code)
        )
        self._connection.execute("BEGIN")
        try:
            self._insert("observations", batch, _OBSERVATION, observations)
            self._insert("samples", batch, _SAMPLE, samples)
            self._insert("relations", batch, _RELATION, relations)
            for row in inputs:
                self._connection.execute(
                    "INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [batch, row.input, row.kind, row.lines, row.bytes, received, row.notes],
                )
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise

    def _insert(self, table: str, batch: str, names: tuple[str, ...], records: Sequence[Record]) -> None:
        into = f"INSERT INTO {table} (batch, {', '.join(names)})"
        if not records:
            return
        if len(records) <= _FEW:
            marks = ", ".join(["(" + ", ".join("?" * (len(names) + 1)) + ")"] * len(records))
            rows = zip(*(_column(name, records) for name in names), strict=True)
            self._connection.execute(f"{into} VALUES {marks}", [value for row in rows for value in (batch, *row)])
            return
        from arro3.core import Array, DataType, Table

        kinds = dict.fromkeys(_INTEGERS, DataType.int64()) | dict.fromkeys(_NUMBERS, DataType.float64())
        for at in range(0, len(records), _CHUNK):
            chunk = records[at : at + _CHUNK]
            arrow = Table.from_pydict(  # noqa: F841  read by the SQL below
                {name: Array(_column(name, chunk), kinds.get(name, DataType.utf8())) for name in names}
            )
            self._connection.execute(f"{into} SELECT ?, {', '.join(names)} FROM arrow", [batch])

    def has(self, batch: str) -> bool:
        """Tell whether inputs of this batch are kept: who was not told so before a crash asks before sending again."""
        return bool(self.query("SELECT 1 FROM inputs WHERE batch = ? LIMIT 1", [batch]))

    def write_parquet(self, path: Path, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Write rows to a Parquet file, whole or not at all; `columns` are names and SQL types. Raises StoreError."""
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        target = str(temporary).replace("'", "''")
        names = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        cursor = self._connection.cursor()
        try:
            cursor.execute(f"CREATE TEMP TABLE parquet_rows ({names})")
            if rows:
                cursor.executemany(f"INSERT INTO parquet_rows VALUES ({', '.join('?' * len(columns))})", list(rows))
            cursor.execute(f"COPY parquet_rows TO '{target}' (FORMAT parquet)")
            temporary.replace(path)
        except (duckdb.Error, OSError) as error:
            temporary.unlink(missing_ok=True)
            raise StoreError(f"{path}: can't be written: {str(error).splitlines()[0][:200]}") from error
        finally:
            cursor.execute("DROP TABLE IF EXISTS parquet_rows")
            cursor.close()

    def execute(self, *statements: tuple[str, Sequence[Any]]) -> None:
        """Run writing statements in one transaction: on return they are on disk."""
        self._connection.execute("BEGIN")
        try:
            for sql, parameters in statements:
                self._connection.execute(sql, list(parameters))
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a reading query."""
        return self._connection.execute(sql, list(parameters)).fetchall()


def _column(name: str, records: Sequence[Record]) -> list[Any]:
    """Return one field of every record, as the store keeps it."""
    values: list[Any] = list(map(attrgetter(name), records))
    if name in _INTEGERS or name in _NUMBERS:
        return values
    if name in ("attributes", "labels"):
        return [_join(one) for one in values]
    most = _MOST_SAMPLE_TEXT if name == "raw" and isinstance(records[0], Sample) else _MOST_TEXT
    joined = "".join(values)
    if joined.isascii() and "\x00" not in joined and max(map(len, values)) <= most:
        return values
    return [_clean(one[:most]) for one in values]


def _join(attributes: Mapping[str, str]) -> str:
    """Return attributes as a JSON object with sorted keys, as `json.dumps` writes it; all of them are strings."""
    if not attributes:
        return "{}"
    return _encodable(
        "{" + ", ".join([key + _quote(attributes[name]) for name, key in _sorted_keys(tuple(attributes))]) + "}"
    )


@lru_cache(maxsize=4096)
def _sorted_keys(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return names in order, each with how an object's member of that name begins."""
    return tuple((name, f"{_quote(name)}: ") for name in sorted(names))


def _clean(text: str) -> str:
    return _encodable(text).replace("\x00", "\ufffd")


def _encodable(text: str) -> str:
    """Return text without lone surrogates, which JSON inside a log can spell and UTF-8 can't."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
