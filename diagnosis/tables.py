"""What the tables of codes say: Xid, SXid, DCGM, CUDA and NVML, each code with its meaning, its action and its source.

The tables lie in `rules/tables/` as CSV; a sentence in them stands in English and Chinese. `actions.csv` says, for each word
with which a vendor names an action, what it means and the harshest of our actions that it allows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from diagnosis.model import Action

KINDS = ("xid", "sxid", "dcgm", "cuda", "nvml")
# From what leaves everybody alone to what takes the part away. Nothing below `restart-app` interrupts anybody's work.
HARSHNESS: tuple[Action, ...] = (
    "ignore", "investigate", "reconfigure", "restart-app", "reset-gpu", "reboot", "drain", "contact-support", "replace",
)  # fmt: skip
UNSTATED: Action = "reconfigure"  # the harshest action for a code whose source states none
Check = Callable[[str, Mapping[str, str]], Iterator[str]]  # (file:line, row) → problems
Family = Literal["before R575", "from R575"]
FAMILIES: tuple[Family, ...] = get_args(Family)
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
_REGISTERS = re.compile(r"[(\[]((?:0x[0-9a-fA-F]{1,8}[ ,]*)+)[)\]]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


class TableError(Exception):
    """A table is wrong. `problems` are lines `file:line: what was found`."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence in both languages; both are empty or neither is."""

    en: str
    zh: str

    def in_language(self, language: str) -> str:
        """Return the sentence in `en` or `zh`."""
        return self.zh if language == "zh" else self.en

    def __bool__(self) -> bool:
        return bool(self.en)


@dataclass(frozen=True, slots=True)
class StatedAction:
    """A vendor's word for an action, what it means, and the harshest of our actions that it allows."""

    name: str
    limit: Action
    meaning: Words
    source: str


@dataclass(frozen=True, slots=True)
class Code:
    """One code of one table."""

    kind: str
    code: str
    name: str
    meaning: Words
    action: Action
    source: str
    in_use: bool = True
    prints: str = ""  # what programs print for it
    products: tuple[str, ...] = ()
    group: str = ""  # the class of an SXid
    immediate: StatedAction | None = None
    investigatory: StatedAction | None = None
    action_reason: str = ""  # who says so, where `action` is harsher than the source's
    xid154: str = ""  # the driver release from which an Xid 154 repeats the action, or `yes`
    cause: str = ""
    harmless: str = ""  # `harmless`: nothing is wrong; `secondary`: it only follows from or tells of something else
    note: Words = Words("", "")
    follows: tuple[str, ...] = ()  # what it is a follower of; `*` is any
    brings: tuple[str, ...] = ()  # what follows from it
    others: Words = Words("", "")  # what other health agents say, and why we follow whom

    @property
    def spellings(self) -> tuple[str, ...]:
        """Return the names and the message under which programs print it."""
        return tuple(dict.fromkeys(part for part in (*self.name.split(" / "), self.prints) if part))


@dataclass(frozen=True, slots=True)
class Bits:
    """A pattern over 32 bits, written as 32 characters `0`, `1` and `-` (does not matter), the highest bit first."""

    care: int
    value: int

    @classmethod
    def parse(cls, text: str) -> Bits:
        """Read a pattern; raises ValueError for anything but 32 of the three characters."""
        if not re.fullmatch(r"[01-]{32}", text):
            raise ValueError(f"`{text}` is no pattern of 32 characters 0, 1 or -")
        return cls(int(re.sub("[01]", "1", text).replace("-", "0"), 2), int(text.replace("-", "0"), 2))

    def holds(self, number: int, within: int = 0xFFFFFFFF) -> bool:
        """Say whether a number fits, looking only at the bits of `within`."""
        return not (number ^ self.value) & self.care & within


@dataclass(frozen=True, slots=True)
class NvlinkCode:
    """How one value of the registers of an Xid 144 to 150 decodes."""

    xid: int
    units: Mapping[Family, str]
    masks: Mapping[Family, Bits]
    promoted: Mapping[Family, Bits]
    statuses: tuple[int, ...]  # none: any
    recovery: StatedAction
    promoted_recovery: StatedAction | None
    investigatory: StatedAction
    severity: str
    hw_or_sw: str
    local: Words
    remote: Words
    meaning: Words
    action: Action
    source: str

    @property
    def is_flag(self) -> bool:
        """Say whether its error status is one bit, so that several may be set at once."""
        return (
            len(self.statuses) == 1
            and self.statuses[0].bit_count() == 1
            and not self.units["from R575"].startswith("NETIR")
        )


@dataclass(frozen=True, slots=True)
class NvlinkReading:
    """What the registers of one line mean for drivers of one family.

    `codes` is empty when the unit is known and the catalog has no entry for this status; `promoted` when the GPU raised a
    non-fatal error to a fatal one.
    """

    family: Family
    unit: str
    subcode: int
    codes: tuple[NvlinkCode, ...]
    promoted: bool = False

    @property
    def recovery(self) -> StatedAction | None:
        """Return the harshest recovery among its codes."""
        stated = [
            code.promoted_recovery if self.promoted and code.promoted_recovery else code.recovery for code in self.codes
        ]
        return max(stated, key=lambda one: HARSHNESS.index(one.limit), default=None)

    @property
    def severity(self) -> str:
        """Return the gravest severity among its codes, "" when none fits."""
        if self.promoted and self.codes:
            return "Fatal"
        order = ("Non-fatal", "Link Fatal", "Fatal")
        return max((code.severity for code in self.codes), key=order.index, default="")


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
        """Decode the first two registers of an Xid 144 to 150: one reading for each family of drivers that they fit.

        `driver` (`570.124.06`) leaves one family; without it, `unit`, the name that the line prints, may do so too, as some
        units are called differently by the two. A family whose masks do not fit gives no reading.
        """
        wanted = [family_of(driver)] if driver else list(FAMILIES)
        found = [reading for family in wanted if (reading := self._read(family, code, intrinfo, error_status, unit))]
        named = [reading for reading in found if reading.unit == unit]
        exact = [reading for reading in named or found if reading.codes]
        return exact or named or found

    def _read(self, family: Family, code: int, intrinfo: int, status: int, unit: str) -> NvlinkReading | None:
        within = 0x3FF if family == "before R575" else 0x7F  # where the unit stands
        rows = [row for row in self.nvlink if row.xid == code and row.masks[family].holds(intrinfo, within)]
        if not rows:
            return None
        rows = [row for row in rows if row.units[family] == unit] or rows
        fitting = [row for row in rows if row.masks[family].holds(intrinfo) or self._is_promoted(row, family, intrinfo)]
        exact = [row for row in fitting if not row.statuses or status in row.statuses]
        exact = exact or [row for row in fitting if row.is_flag and row.statuses[0] & status]
        promoted = any(self._is_promoted(row, family, intrinfo) for row in exact)
        same = {(row.units[family], row.statuses, row.recovery, row.severity): row for row in reversed(exact)}
        return NvlinkReading(
            family, rows[0].units[family], intrinfo >> 20 & 0x3F, tuple(reversed(same.values())), promoted
        )

    @staticmethod
    def _is_promoted(row: NvlinkCode, family: Family, intrinfo: int) -> bool:
        return family in row.promoted and row.promoted[family].holds(intrinfo)


def family_of(driver: str) -> Family:
    """Return how a driver of this version writes the registers; raises ValueError when it is no version."""
    match = re.match(r"\d{3}", driver)
    if not match:
        raise ValueError(f"`{driver}` is no driver version such as 570.124.06")
    return "before R575" if int(match[0]) < 575 else "from R575"


def read_registers(text: str) -> tuple[int, ...]:
    """Return the registers at the end of an Xid's line.

    >>> read_registers("RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x0)")
    (67660002, 8, 0)
    """
    match = _REGISTERS.search(text)
    return tuple(int(number, 16) for number in re.findall(r"0x([0-9a-fA-F]+)", match[1])) if match else ()


def load_tables(folder: Path, causes: Collection[str] = ()) -> Tables:
    """Read the tables of a rules folder; `causes` are the ids that they may name (any, when empty).

    Raises TableError with file:line of every problem.
    """
    problems: list[str] = []
    place = folder / "tables"
    actions = {
        row["code"]: StatedAction(row["code"], _action(row["limit"]), Words(row["en"], row["zh"]), row["source"])
        for row in _rows(place / "actions.csv", _ACTION_COLUMNS, problems, _check_action)
    }
    if problems:
        raise TableError(problems)

    def check(where: str, row: Mapping[str, str]) -> Iterator[str]:
        return _check_code(where, row, actions, causes)

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
            place / "xid-nvlink5.csv", _NVLINK_COLUMNS, problems, lambda at, row: _check_nvlink(at, row, actions)
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


def _check_action(where: str, row: Mapping[str, str]) -> Iterator[str]:
    if row["limit"] not in HARSHNESS:
        yield f"{where}: action `{row['limit']}` is none of {', '.join(HARSHNESS)}"
    yield from _check_words(where, row["en"], row["zh"], needed=True)


def _check_words(where: str, en: str, zh: str, *, needed: bool = False) -> Iterator[str]:
    if (needed and not (en and zh)) or bool(en) != bool(zh):
        yield f"{where}: a sentence stands in English and in Chinese: `{en or zh}`"
    elif zh and not _CHINESE.search(zh):
        yield f"{where}: not Chinese: `{zh}`"


def _check_code(
    where: str, row: Mapping[str, str], actions: Mapping[str, StatedAction], causes: Collection[str]
) -> Iterator[str]:
    for name in ("code", "name", "source"):
        if not row[name]:
            yield f"{where}: no {name}"
    yield from _check_words(where, row["meaning_en"], row["meaning_zh"], needed=True)
    yield from _check_words(where, row["note_en"], row["note_zh"])
    yield from _check_words(where, row["others_en"], row["others_zh"])
    if row["in_use"] not in ("yes", "no"):
        yield f"{where}: in_use is yes or no, not `{row['in_use']}`"
    if row["action"] not in HARSHNESS:
        yield f"{where}: action `{row['action']}` is none of {', '.join(HARSHNESS)}"
    for name in ("immediate_action", "investigatory_action"):
        if row[name] and row[name] not in actions:
            yield f"{where}: `{row[name]}` is not in actions.csv"
    if row["action"] in HARSHNESS and not row["action_reason"]:
        stated = actions.get(row["immediate_action"])
        if HARSHNESS.index(row["action"]) > HARSHNESS.index(stated.limit if stated else UNSTATED):
            yield f"{where}: action `{row['action']}` takes more away than its source states, and no reason is given"
    if row["harmless"] not in ("", "harmless", "secondary"):
        yield f"{where}: harmless is empty, harmless or secondary, not `{row['harmless']}`"
    if row["cause"] and causes and row["cause"] not in causes:
        yield f"{where}: `{row['cause']}` is not in the taxonomy"
    if row["in_use"] == "yes" and not row["cause"] and not row["harmless"]:
        yield f"{where}: a code in use names a cause or is stated harmless or secondary"
    if row["harmless"] and not row["note_en"]:
        yield f"{where}: a code that is stated harmless or secondary says why in its note"


def _check_nvlink(where: str, row: Mapping[str, str], actions: Mapping[str, StatedAction]) -> Iterator[str]:
    yield from _check_words(where, row["meaning_en"], row["meaning_zh"], needed=True)
    for name in ("mask_before", "mask_from", "promoted_before", "promoted_from"):
        try:
            if row[name] or name.startswith("mask"):
                Bits.parse(row[name])
        except ValueError as error:
            yield f"{where}: {name}: {error}"
    for name in ("recovery_action", "investigatory_action", "promoted_action"):
        if row[name] not in actions and (row[name] or name != "promoted_action"):
            yield f"{where}: `{row[name]}` is not in actions.csv"
    if row["action"] not in HARSHNESS:
        yield f"{where}: action `{row['action']}` is none of {', '.join(HARSHNESS)}"
    elif row["recovery_action"] in actions:
        limit = actions[row["recovery_action"]].limit
        if HARSHNESS.index(row["action"]) > HARSHNESS.index(limit):
            yield f"{where}: action `{row['action']}` is harsher than {row['recovery_action']}"
    if not re.fullmatch(r"(?:0x[0-9A-Fa-f]{8} ?)*", row["error_status"]) or not row["xid"].isdecimal():
        yield f"{where}: expected an Xid and error statuses such as 0x00000008"
    if row["severity"] not in ("Non-fatal", "Link Fatal", "Fatal"):
        yield f"{where}: severity `{row['severity']}` is none of Non-fatal, Link Fatal, Fatal"


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
