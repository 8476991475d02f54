"""The tables of a store and how an older file becomes one of today. docs/store.md describes them.

A file carries its version. An older one is brought forward, one version after the other, in one transaction: it is as new as
this program afterwards, or as it was. A newer one is refused, as this program can't know what its columns mean.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Protocol

VERSION = 2
TABLES: dict[str, str] = {
    "meta": "version INTEGER",
    "inputs": "batch VARCHAR, input VARCHAR, kind VARCHAR, lines BIGINT, bytes BIGINT, received DOUBLE, notes VARCHAR",
    "observations": "batch VARCHAR, input VARCHAR, line BIGINT, line_end BIGINT, time DOUBLE, source VARCHAR, kind VARCHAR, "
    "code VARCHAR, node VARCHAR, entity VARCHAR, attributes VARCHAR, text VARCHAR, raw VARCHAR",
    "samples": "batch VARCHAR, input VARCHAR, line BIGINT, time DOUBLE, source VARCHAR, metric VARCHAR, value DOUBLE, "
    "node VARCHAR, entity VARCHAR, labels VARCHAR, raw VARCHAR",
    "relations": "batch VARCHAR, input VARCHAR, line BIGINT, upper VARCHAR, lower VARCHAR, how VARCHAR, node VARCHAR",
    "reports": "id VARCHAR, received DOUBLE, face VARCHAR, language VARCHAR, twin VARCHAR, outcome VARCHAR, body VARCHAR",
    "notifications": "id VARCHAR, received DOUBLE, body VARCHAR",
}
# From a version to the next one.
MIGRATIONS: dict[int, tuple[str, ...]] = {
    1: ("ALTER TABLE inputs ADD COLUMN notes VARCHAR",),
}
_HOLDER = re.compile(r"lock is held in (?P<program>.+?)(?: by user \S+)? \(PID (?P<pid>\d+)\)|PID (?P<only>\d+)")


class Connection(Protocol):
    """What is needed of a DuckDB connection."""

    def execute(self, query: str, parameters: Any = ...) -> Any: ...


class SchemaError(Exception):
    """The file is not one that this program may write to; the message says why."""


def prepare(connection: Connection) -> None:
    """Make the tables in an empty database, or bring those of an older version forward. Raises SchemaError."""
    connection.execute("BEGIN")
    try:
        rows = connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall()
        names = {row[0] for row in rows}
        if names and "meta" not in names:
            raise SchemaError(f"a database of another program: it holds the table {min(names)}")
        found = connection.execute("SELECT max(version) FROM meta").fetchone()[0] if names else None
        if found is None:
            for name, columns in TABLES.items():
                connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
            connection.execute("INSERT INTO meta VALUES (?)", [VERSION])
        elif found > VERSION:
            raise SchemaError(
                f"written by a newer faultwalk (schema {found}, this one knows {VERSION}): use that version, or name another file"
            )
        elif found < VERSION:
            _bring_forward(connection, found)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _bring_forward(connection: Connection, found: int) -> None:
    for version in range(found, VERSION):
        if version not in MIGRATIONS:
            raise SchemaError(f"of schema {version}, which no faultwalk has written")
        for statement in MIGRATIONS[version]:
            connection.execute(statement)
    connection.execute("UPDATE meta SET version = ?", [VERSION])


def describe_holder(error: str) -> str:
    """Return who holds a file, from DuckDB's message about its lock: process and command, as far as they can be told.

    >>> describe_holder("Conflicting lock is held in /usr/bin/python3.11 (PID 4194305). See also ...")
    'process 4194305 (/usr/bin/python3.11)'
    """
    match = _HOLDER.search(error)
    if match is None:
        return "another process"
    pid = match["pid"] or match["only"]
    program = _read_command(pid) or match["program"] or ""
    return f"process {pid} ({program})" if program else f"process {pid}"


def _read_command(pid: str) -> str:
    """Return the command of a process, "" where the system does not show it."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\x00")
    except OSError:
        return ""
    said = [word.decode("utf-8", "replace") for word in words if word and b" " not in word]
    text = " ".join(Path(word).name if word.startswith("/") else word for word in said[:4])
    return "".join(one if one.isprintable() else "?" for one in text)[:120]
