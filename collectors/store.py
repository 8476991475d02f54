"""Where observations, samples and relations are kept: DuckDB, in memory or in one file. The only DDL of the project.

Rows are appended in bulk: columns become an Arrow table and one `INSERT ... SELECT` in one transaction. Rows stand in
time order within a batch and there is no index: DuckDB's zone maps serve windows. The event SQL keeps to the subset that
ClickHouse runs too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from collectors.observation import Observation, Record, Relation, Sample

SCHEMA_VERSION = 1
_DDL = """
CREATE TABLE IF NOT EXISTS meta (version INTEGER);
CREATE TABLE IF NOT EXISTS inputs (
    batch VARCHAR, input VARCHAR, kind VARCHAR, lines BIGINT, bytes BIGINT, received DOUBLE);
CREATE TABLE IF NOT EXISTS observations (
    batch VARCHAR, input VARCHAR, line BIGINT, line_end BIGINT, time DOUBLE, source VARCHAR, kind VARCHAR, code VARCHAR,
    node VARCHAR, entity VARCHAR, attributes VARCHAR, text VARCHAR, raw VARCHAR);
CREATE TABLE IF NOT EXISTS samples (
    batch VARCHAR, input VARCHAR, line BIGINT, time DOUBLE, source VARCHAR, metric VARCHAR, value DOUBLE, node VARCHAR,
    entity VARCHAR, labels VARCHAR, raw VARCHAR);
CREATE TABLE IF NOT EXISTS relations (
    batch VARCHAR, input VARCHAR, line BIGINT, upper VARCHAR, lower VARCHAR, how VARCHAR, node VARCHAR);
CREATE TABLE IF NOT EXISTS reports (
    id VARCHAR, received DOUBLE, face VARCHAR, language VARCHAR, twin VARCHAR, outcome VARCHAR, body VARCHAR);
CREATE TABLE IF NOT EXISTS notifications (id VARCHAR, received DOUBLE, body VARCHAR);
"""
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
_CHUNK = 20_000  # rows that are turned into columns at a time
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
            connection.execute(_DDL)
            version = connection.execute("SELECT max(version) FROM meta").fetchone()
            if version is None or version[0] is None:
                connection.execute("INSERT INTO meta VALUES (?)", [SCHEMA_VERSION])
            elif version[0] > SCHEMA_VERSION:
                connection.close()
                raise StoreError(
                    f"{path}: written by a newer faultwalk (schema {version[0]}, this one knows {SCHEMA_VERSION})"
                )
        except duckdb.Error as error:
            text = str(error)
            if "Conflicting lock" in text or "already open" in text:
                raise StoreError(
                    f"{path}: another process holds this store ({text.splitlines()[0].rsplit('held in', 1)[-1].strip()}); "
                    "stop it, send the input to that service, or name another file"
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
            for at in range(0, len(observations), _CHUNK):
                rows = [_observation_row(one) for one in observations[at : at + _CHUNK]]
                self._insert("observations", batch, _OBSERVATION, rows)
            for at in range(0, len(samples), _CHUNK):
                self._insert("samples", batch, _SAMPLE, [_sample_row(one) for one in samples[at : at + _CHUNK]])
            for at in range(0, len(relations), _CHUNK):
                self._insert("relations", batch, _RELATION, [_relation_row(one) for one in relations[at : at + _CHUNK]])
            for row in inputs:
                self._connection.execute(
                    "INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?)",
                    [batch, row.input, row.kind, row.lines, row.bytes, received],
                )
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise

    def _insert(self, table: str, batch: str, names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        if len(rows) <= 64:
            marks = ", ".join(["(" + ", ".join("?" * (len(names) + 1)) + ")"] * len(rows))
            values = [value for row in rows for value in (batch, *row)]
            self._connection.execute(f"INSERT INTO {table} (batch, {', '.join(names)}) VALUES {marks}", values)
            return
        from arro3.core import Array, DataType, Table

        columns: dict[str, Any] = {}
        for name, column in zip(names, zip(*rows, strict=True), strict=True):
            kind = (
                DataType.int64() if name in _INTEGERS else DataType.float64() if name in _NUMBERS else DataType.utf8()
            )
            columns[name] = Array(list(column), kind)
        arrow = Table.from_pydict(columns)  # noqa: F841  read by the SQL below
        self._connection.execute(
            f"INSERT INTO {table} (batch, {', '.join(names)}) SELECT ?, {', '.join(names)} FROM arrow", [batch]
        )

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


def _observation_row(one: Observation) -> tuple[Any, ...]:
    return (
        _clean(one.input), one.line, one.line_end, one.time, one.source, one.kind, _clean(one.code), _clean(one.node),
        _clean(one.entity), _join(one.attributes), _clean(one.text), _clean(one.raw),
    )  # fmt: skip


def _sample_row(one: Sample) -> tuple[Any, ...]:
    return (
        _clean(one.input), one.line, one.time, one.source, _clean(one.metric), one.value, _clean(one.node),
        _clean(one.entity), _join(one.labels), _clean(one.raw[:_MOST_SAMPLE_TEXT]),
    )  # fmt: skip


def _relation_row(one: Relation) -> tuple[Any, ...]:
    return (_clean(one.input), one.line, _clean(one.upper), _clean(one.lower), one.how, _clean(one.node))


def _join(attributes: Mapping[str, str]) -> str:
    return _encodable(json.dumps(dict(attributes), ensure_ascii=False, sort_keys=True)) if attributes else "{}"


def _clean(text: str) -> str:
    return _encodable(text[:_MOST_TEXT]).replace("\x00", "\ufffd")


def _encodable(text: str) -> str:
    """Return text without lone surrogates, which JSON inside a log can spell and UTF-8 can't."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
