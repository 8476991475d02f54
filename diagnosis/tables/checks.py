"""What is asked of each row of a table; problems come as `file:line: what was found`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from diagnosis.tables.codes import HARSHNESS, UNSTATED, StatedAction
from diagnosis.tables.nvlink import Bits

_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def check_words(where: str, en: str, zh: str, *, needed: bool = False) -> Iterator[str]:
    if (needed and not (en and zh)) or bool(en) != bool(zh):
        yield f"{where}: a sentence stands in English and in Chinese: `{en or zh}`"
    elif zh and not _CHINESE.search(zh):
        yield f"{where}: not Chinese: `{zh}`"


def check_action(where: str, row: Mapping[str, str]) -> Iterator[str]:
    if row["limit"] not in HARSHNESS:
        yield f"{where}: action `{row['limit']}` is none of {', '.join(HARSHNESS)}"
    yield from check_words(where, row["en"], row["zh"], needed=True)


def check_code(
    where: str, row: Mapping[str, str], actions: Mapping[str, StatedAction], causes: Collection[str]
) -> Iterator[str]:
    for name in ("code", "name", "source"):
        if not row[name]:
            yield f"{where}: no {name}"
    yield from check_words(where, row["meaning_en"], row["meaning_zh"], needed=True)
    yield from check_words(where, row["note_en"], row["note_zh"])
    yield from check_words(where, row["others_en"], row["others_zh"])
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


def check_nvlink(where: str, row: Mapping[str, str], actions: Mapping[str, StatedAction]) -> Iterator[str]:
    yield from check_words(where, row["meaning_en"], row["meaning_zh"], needed=True)
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
