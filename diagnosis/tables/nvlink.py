"""What the registers of an Xid 144 to 150 (NVLink 5) say, as NVIDIA's catalog decodes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from diagnosis.model import Action
from diagnosis.tables.codes import HARSHNESS, StatedAction, Words

Family = Literal["before R575", "from R575"]
FAMILIES: tuple[Family, ...] = get_args(Family)
_REGISTERS = re.compile(r"[(\[]((?:0x[0-9a-fA-F]{1,8}[ ,]*)+)[)\]]")


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


def decode_registers(
    rows: Sequence[NvlinkCode],
    code: int,
    intrinfo: int,
    error_status: int,
    driver: str | None = None,
    *,
    unit: str = "",
) -> list[NvlinkReading]:
    """Decode the first two registers of an Xid 144 to 150: one reading for each family of drivers that they fit.

    `driver` (`570.124.06`) leaves one family; without it, `unit`, the name that the line prints, may do so too, as some
    units are called differently by the two. A family whose masks do not fit gives no reading.
    """
    wanted = [family_of(driver)] if driver else list(FAMILIES)
    found = [reading for family in wanted if (reading := _read(rows, family, code, intrinfo, error_status, unit))]
    named = [reading for reading in found if reading.unit == unit]
    exact = [reading for reading in named or found if reading.codes]
    return exact or named or found


def _read(
    rows: Sequence[NvlinkCode], family: Family, code: int, intrinfo: int, status: int, unit: str
) -> NvlinkReading | None:
    within = 0x3FF if family == "before R575" else 0x7F  # where the unit stands
    rows = [row for row in rows if row.xid == code and row.masks[family].holds(intrinfo, within)]
    if not rows:
        return None
    rows = [row for row in rows if row.units[family] == unit] or rows
    fitting = [row for row in rows if row.masks[family].holds(intrinfo) or _is_promoted(row, family, intrinfo)]
    exact = [row for row in fitting if not row.statuses or status in row.statuses]
    exact = exact or [row for row in fitting if row.is_flag and row.statuses[0] & status]
    promoted = any(_is_promoted(row, family, intrinfo) for row in exact)
    same = {(row.units[family], row.statuses, row.recovery, row.severity): row for row in reversed(exact)}
    return NvlinkReading(family, rows[0].units[family], intrinfo >> 20 & 0x3F, tuple(reversed(same.values())), promoted)


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
