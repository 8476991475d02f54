"""Read the tables of a rules folder and check them row by row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diagnosis.model import Action
from diagnosis.tables.checks import check_action, check_code, check_nvlink
from diagnosis.tables.codes import HARSHNESS, KINDS, Code, StatedAction, TableError, Words
from diagnosis.tables.nvlink import Bits, Family, NvlinkCode, NvlinkReading, decode_registers

Check = Callable[[str, Mapping[str, str]], Iterator[str]]  # (file:line, row) → problems
_COLUMNS = (
    "code", "name", "prints", "in_use", "products", "group", "meaning_en", "meaning_zh", "immediate_action",
    "investigatory_action", "action", "action_reason", "xid154", "cause", "harmless", "note_en", "note_zh", "follows", "brings",
    "others_en", "others_zh", "source",
)  # fmt: skip
_ACTION_COLUMNS = ("code", "limit", "en", "zh", "source")
_NVLINK_COLUMNS = (
    "xid", "unit_before", "unit_from", "mask_before", "mask_from", "error_status", "recovery_action", "promoted_before",
    "promoted_from", "promoted_action", "investigatory_action", "severity", "hw_or_sw", "local_en", "local_zh", "remote_en",
    "remote_zh", "meaning_en", "meaning_zh", "action", "source",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tables:
    """All tables, by kind and code."""

    codes: Mapping[str, Mapping[str, Code]]
    nvlink: tuple[NvlinkCode, ...]
    actions: Mapping[str, StatedAction]
    _by_name: Mapping[str, Code] = field(default_factory=dict)

    def find(self, kind: str, code: str) -> Code | None:
        """Return a code by its number or by one of its names, None when the tables do not have it."""
        found = self.codes.get(kind, {}).get(code)
        return found if found is not None else self._by_name.get(f"{kind}:{code.lower()}")

    def decode_nvlink5(
        self, code: int, intrinfo: int, error_status: int, driver: str | None = None, *, unit: str = ""
    ) -> list[NvlinkReading]:
        """Decode the first two registers of an Xid 144 to 150, as `decode_registers` does."""
        return decode_registers(self.nvlink, code, intrinfo, error_status, driver, unit=unit)


def load_tables(folder: Path, causes: Collection[str] = ()) -> Tables:
    """Read the tables of a rules folder; `causes` are the ids that they may name (any, when empty).

    Raises TableError with file:line of every problem.
    """
    problems: list[str] = []
    place = folder / "tables"
    actions = {
        row["code"]: StatedAction(row["code"], _action(row["limit"]), Words(row["en"], row["zh"]), row["source"])
        for row in _rows(place / "actions.csv", _ACTION_COLUMNS, problems, check_action)
    }
    if problems:
        raise TableError(problems)

    def check(where: str, row: Mapping[str, str]) -> Iterator[str]:
        return check_code(where, row, actions, causes)

    codes: dict[str, dict[str, Code]] = {}
    for kind in KINDS:
        table: dict[str, Code] = {}
        for row in _rows(place / f"{kind}.csv", _COLUMNS, problems, check):
            if row["code"] in table:
                problems.append(f"{kind}.csv: `{row['code']}` stands twice")
            table[row["code"]] = _make_code(kind, row, actions)
        codes[kind] = table
    nvlink = tuple(
        _make_nvlink(row, actions)
        for row in _rows(
            place / "xid-nvlink5.csv", _NVLINK_COLUMNS, problems, lambda at, row: check_nvlink(at, row, actions)
        )
    )
    if problems:
        raise TableError(problems)
    names = {
        f"{kind}:{name.lower()}": one
        for kind, table in codes.items()
        for one in table.values()
        for name in one.spellings
    }
    return Tables(codes, nvlink, actions, names)


def _rows(path: Path, columns: Sequence[str], problems: list[str], check: Check) -> Iterator[dict[str, str]]:
    """Yield the rows of a table that have no problem."""
    try:
        stream = path.open(encoding="utf-8", newline="")
    except OSError as error:
        problems.append(f"{path.name}:1: can't be read: {error.strerror}")
        return
    with stream:
        reader = csv.DictReader(stream, strict=True)
        if tuple(reader.fieldnames or ()) != tuple(columns):
            problems.append(f"{path.name}:1: expected the columns {', '.join(columns)}")
            return
        try:
            for row in reader:
                where = f"{path.name}:{reader.line_num}"
                if None in row or None in row.values():
                    problems.append(f"{where}: expected {len(columns)} values")
                    continue
                found = list(check(where, row))
                problems.extend(found)
                if not found:
                    yield row
        except (csv.Error, UnicodeDecodeError) as error:
            problems.append(f"{path.name}:{reader.line_num + 1}: {error}")


def _action(text: str) -> Action:
    return next(action for action in HARSHNESS if action == text)


def _make_code(kind: str, row: Mapping[str, str], actions: Mapping[str, StatedAction]) -> Code:
    return Code(
        kind, row["code"], row["name"], Words(row["meaning_en"], row["meaning_zh"]), _action(row["action"]), row["source"],
        in_use=row["in_use"] == "yes", prints=row["prints"], products=tuple(row["products"].split()), group=row["group"],
        immediate=actions.get(row["immediate_action"]), investigatory=actions.get(row["investigatory_action"]),
        action_reason=row["action_reason"], xid154=row["xid154"], cause=row["cause"], harmless=row["harmless"],
        note=Words(row["note_en"], row["note_zh"]), follows=tuple(row["follows"].split()), brings=tuple(row["brings"].split()),
        others=Words(row["others_en"], row["others_zh"]),
    )  # fmt: skip


def _make_nvlink(row: Mapping[str, str], actions: Mapping[str, StatedAction]) -> NvlinkCode:
    keys: tuple[tuple[Family, str], ...] = (("before R575", "before"), ("from R575", "from"))
    return NvlinkCode(
        int(row["xid"]), {family: row[f"unit_{key}"] for family, key in keys},
        {family: Bits.parse(row[f"mask_{key}"]) for family, key in keys},
        {family: Bits.parse(row[f"promoted_{key}"]) for family, key in keys if row[f"promoted_{key}"]},
        tuple(int(one, 16) for one in row["error_status"].split()), actions[row["recovery_action"]],
        actions.get(row["promoted_action"]), actions[row["investigatory_action"]], row["severity"], row["hw_or_sw"],
        Words(row["local_en"], row["local_zh"]), Words(row["remote_en"], row["remote_zh"]),
        Words(row["meaning_en"], row["meaning_zh"]), _action(row["action"]), row["source"],
    )  # fmt: skip
