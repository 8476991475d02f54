"""The tables of codes: how many, how complete, how harsh, and what the registers of an Xid 144 to 150 decode to."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path
from typing import get_args

import pytest

from api.codes import find_readers
from diagnosis.model import Action
from diagnosis.rulebook import CauseRule, Rulebook, find_rules_folder, load_rulebook
from diagnosis.tables import (
    HARSHNESS,
    UNSTATED,
    Bits,
    Code,
    TableError,
    Tables,
    family_of,
    load_tables,
    read_registers,
)

FOLDER = find_rules_folder()
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def rulebook() -> Rulebook:
    return load_rulebook()


@pytest.fixture(scope="module")
def tables(rulebook: Rulebook) -> Tables:
    return load_tables(FOLDER, rulebook.vocabulary.causes)


def every_code(tables: Tables) -> list[Code]:
    return [code for table in tables.codes.values() for code in table.values()]


# --- how many, how complete


def test_the_tables_hold_every_code(tables: Tables) -> None:
    assert [len(tables.codes[kind]) for kind in ("xid", "sxid", "dcgm")] == [172, 93, 134]
    assert sum(code.in_use for code in tables.codes["xid"].values()) == 109
    assert len(tables.nvlink) == 95
    assert {"2", "3", "35", "36", "46", "98", "100", "101", "209", "214", "215", "220", "222", "226"} <= set(
        tables.codes["cuda"]
    )
    assert {str(n) for n in (700, 701, 702, 704, 710, *range(715, 721), 800, 801, 802, 803, 804, 999)} <= set(
        tables.codes["cuda"]
    )
    assert {"0", "9", "15", "16", "17", "18", "999"} <= set(tables.codes["nvml"])
    assert set(tables.codes["xid"]) == {str(number) for number in range(1, 173)}


def test_each_code_in_use_is_complete(tables: Tables, rulebook: Rulebook) -> None:
    for code in every_code(tables):
        assert code.source and code.meaning.en and CHINESE.search(code.meaning.zh), code.code
        if code.in_use:
            assert code.cause in rulebook.vocabulary.causes or code.harmless in ("harmless", "secondary"), code.code
            assert not code.harmless or (code.note.en and CHINESE.search(code.note.zh)), code.code
    for row in tables.nvlink:
        assert row.meaning.en and CHINESE.search(row.meaning.zh) and row.local.zh and row.remote.zh and row.source


def test_sentences_are_in_their_language(tables: Tables) -> None:
    for code in every_code(tables):
        for words in (code.meaning, code.note, code.others):
            assert not CHINESE.search(words.en), code.code
            assert bool(words.en) == bool(words.zh)
    for action in tables.actions.values():
        assert CHINESE.search(action.meaning.zh) and not CHINESE.search(action.meaning.en)


def test_a_code_with_a_cause_is_read_by_its_rule_or_says_why_not(tables: Tables, rulebook: Rulebook) -> None:
    for code in every_code(tables):
        if not code.in_use or code.harmless:
            continue
        causes = {
            rule.id for rule, _ in find_readers(rulebook, code.kind, code.code, code) if isinstance(rule, CauseRule)
        }
        assert code.cause in causes or "No rule reads" in code.note.en, f"{code.kind}:{code.code} {code.cause} {causes}"


def test_followers_are_codes(tables: Tables) -> None:
    for code in every_code(tables):
        for name in (*code.follows, *code.brings):
            kind, _, number = name.rpartition(":")
            assert name == "*" or number in tables.codes[kind or code.kind], (code.code, name)
    xids = tables.codes["xid"]
    assert xids["45"].follows == ("*",)
    assert {"63", "64", "94", "95"} <= set(xids["48"].brings)
    assert {"13", "31"} <= set(xids["43"].follows) and "13" in xids["109"].follows
    assert xids["145"].follows == ("149",)
    assert {"48", "79", "149"} <= set(xids["154"].follows)


# --- how harsh


def test_few_actions_are_harsher_than_their_source(tables: Tables) -> None:
    reasoned = [f"{code.kind}:{code.code}" for code in every_code(tables) if code.action_reason]
    assert reasoned == ["xid:171", "xid:172", "cuda:220", "nvml:15", "nvml:16"]
    for row in tables.nvlink:
        assert HARSHNESS.index(row.action) <= HARSHNESS.index(row.recovery.limit)


def test_the_order_of_harshness() -> None:
    assert set(HARSHNESS) == set(get_args(Action))
    order: list[Action] = [
        "ignore",
        "investigate",
        "restart-app",
        "reset-gpu",
        "reboot",
        "drain",
        "contact-support",
        "replace",
    ]
    assert sorted(order, key=HARSHNESS.index) == order
    assert HARSHNESS.index(UNSTATED) < HARSHNESS.index("restart-app")


@pytest.mark.parametrize("number", ["31", "43", "45", "63", "68", "92", "94", "121"])
def test_codes_that_others_drain_nodes_for_take_no_node(tables: Tables, number: str) -> None:
    code = tables.codes["xid"][number]
    assert HARSHNESS.index(code.action) <= HARSHNESS.index("restart-app")
    assert code.others.en and CHINESE.search(code.others.zh)


def test_the_facts_are_those_of_the_catalog(tables: Tables) -> None:
    said = {number: code.immediate.name if code.immediate else "" for number, code in tables.codes["xid"].items()}
    assert (said["79"], said["63"], said["94"], said["95"]) == ("RESTART_BM", "IGNORE", "RESTART_APP", "RESET_GPU")
    assert (said["48"], said["74"], said["149"], said["167"]) == (
        "WORKFLOW_XID_48",
        "WORKFLOW_NVLINK_ERR",
        "WORKFLOW_NVLINK5_ERR",
        "",
    )
    assert tables.codes["sxid"]["20034"].group == "fatal" and tables.codes["sxid"]["12028"].group == "non-fatal"


# --- names


@pytest.mark.parametrize(
    ("kind", "name", "number"),
    [
        ("cuda", "cudaErrorSystemNotReady", "802"),
        ("cuda", "CUDA_ERROR_SYSTEM_NOT_READY", "802"),
        ("cuda", "802", "802"),
        ("nvml", "GPU is lost", "15"),
        ("nvml", "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "18"),
        ("dcgm", "dcgm_fr_nvlink_down", "DCGM_FR_NVLINK_DOWN"),
        ("xid", "GSP_ERROR", "120"),
    ],
)
def test_a_code_is_found_by_number_and_name(tables: Tables, kind: str, name: str, number: str) -> None:
    found = tables.find(kind, name)
    assert found is not None and found.code == number


def test_what_is_not_there_is_not_found(tables: Tables) -> None:
    assert tables.find("xid", "173") is None
    assert tables.find("nothing", "1") is None


# --- registers of NVLink 5


@pytest.mark.parametrize(
    ("code", "intrinfo", "status", "driver", "expected"),
    [
        # seen on GB200 with drivers before R575
        (145, 0x040868E2, 0x8, "570.124.06", [("before R575", "RLW_SRC_TRACK", 0, "Non-fatal", "XID_154_EVAL")]),
        (149, 0x021425C6, 0x0, "565.57.01", [("before R575", "NETIR_LINK_EVT", 33, "Link Fatal", "RESET_GPU")]),
        (149, 0x004505C6, 0x0, None, [("before R575", "NETIR_LINK_EVT", 4, "Link Fatal", "RESET_GPU")]),
        # the same units as drivers from R575 write them
        (145, 0x00000007, 0x8, "575.57.08", [("from R575", "RLW_SRC_TRACK", 0, "Non-fatal", "XID_154_EVAL")]),
        (149, 0x02100011, 0x0, "580.95.05", [("from R575", "NETIR_LINK_DOWN", 33, "Link Fatal", "RESET_GPU")]),
        (149, 0x00000013, 0x2, None, [("from R575", "NETIR_BER_EVENT", 0, "Non-fatal", "IGNORE")]),
        (144, 0x00000001, 0x2, None, [("from R575", "SAW_MVB", 0, "Fatal", "RESET_GPU")]),
        (146, 0x0000014B, 0x4, None, []),  # a pipe that neither family has
        # a driver of the other family reads nothing out of these registers
        (145, 0x040868E2, 0x8, "580.95.05", []),
        (149, 0x02100011, 0x0, "570.124.06", []),
        # without a driver, both families where both fit
        (150, 0x0, 0xFFFFFFFF, None, [("before R575", "MSE Degraded", 0, "Fatal", "RESET_GPU"), ("from R575", "MSE Degraded", 0, "Fatal", "RESET_GPU")]),
        # bits that do not matter do not
        (145, 0xFC0F38E2, 0x2, "570.1", [("before R575", "RLW_SRC_TRACK", 0, "Non-fatal", "IGNORE")]),
        # several flags at once: the gravest counts
        (145, 0x000000E2, 0xA, "570.1", [("before R575", "RLW_SRC_TRACK", 0, "Non-fatal", "XID_154_EVAL")]),
        (145, 0x000000E2, 0x11, "570.1", [("before R575", "RLW_SRC_TRACK", 0, "Fatal", "RESET_GPU")]),
        # the receiving path may raise an error to a fatal one
        (145, 0x000000C2, 0x1, "570.1", [("before R575", "RLW_RXPIPE", 0, "Non-fatal", "IGNORE")]),
        (145, 0x000004C2, 0x1, "570.1", [("before R575", "RLW_RXPIPE", 0, "Fatal", "RESET_GPU")]),
        (145, 0x00000006, 0x4, "575.1", [("from R575", "RLW_RXPIPE", 0, "Non-fatal", "IGNORE")]),
        (145, 0x00000086, 0x4, "575.1", [("from R575", "RLW_RXPIPE", 0, "Fatal", "RESET_GPU")]),
        # half known: the unit, but no entry for the sub-code or the status
        (149, 0x03F001C6, 0x0, "570.1", [("before R575", "NETIR_LINK_EVT", 63, "", "")]),
        (149, 0x00000014, 0x9, "575.1", [("from R575", "NETIR_MFDE_EVENT", 0, "", "")]),
        # not an Xid of NVLink 5
        (79, 0x0, 0x0, None, []),
    ],
)  # fmt: skip
def test_registers_decode(
    tables: Tables,
    code: int,
    intrinfo: int,
    status: int,
    driver: str | None,
    expected: list[tuple[str, str, int, str, str]],
) -> None:
    found = [
        (one.family, one.unit, one.subcode, one.severity, one.recovery.name if one.recovery else "")
        for one in tables.decode_nvlink5(code, intrinfo, status, driver)
    ]
    assert found == expected


def test_the_printed_unit_tells_the_family_and_the_row(tables: Tables) -> None:
    both = tables.decode_nvlink5(150, 0x0, 0x0)
    assert [len(one.codes) for one in both] == [2, 2]
    watchdog = tables.decode_nvlink5(150, 0x0, 0x0, unit="MSE_WATCHDOG")
    assert {code.units["from R575"] for one in watchdog for code in one.codes} == {"MSE_WATCHDOG"}
    (pipe,) = tables.decode_nvlink5(146, 0x0000000B, 0x4, unit="TLW_RX_PIPE1")
    assert (pipe.family, pipe.unit) == ("from R575", "TLW_RX_PIPE1")


def test_each_row_decodes_to_itself(tables: Tables) -> None:
    for row in tables.nvlink:
        for family, driver in (("before R575", "570.1"), ("from R575", "575.1")):
            status = row.statuses[0] if row.statuses else 0x1234
            found = tables.decode_nvlink5(row.xid, row.masks[family].value, status, driver, unit=row.units[family])  # type: ignore[index]
            assert [one.family for one in found] == [family]
            assert row.recovery in [code.recovery for code in found[0].codes]
            assert row.units[family] == found[0].unit  # type: ignore[index]


@pytest.mark.parametrize(
    ("driver", "family"), [("570.124.06", "before R575"), ("575.51.03", "from R575"), ("595.45.04", "from R575")]
)
def test_family_of_a_driver(driver: str, family: str) -> None:
    assert family_of(driver) == family


def test_a_driver_that_is_none() -> None:
    with pytest.raises(ValueError, match="no driver version"):
        family_of("latest")


@pytest.mark.parametrize("text", ["", "x" * 32, "0" * 31, "0" * 33])
def test_a_pattern_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="no pattern"):
        Bits.parse(text)


@pytest.mark.parametrize(
    ("text", "registers"),
    [("Link 09 (0x004505c6 0x0 0x0)", (0x4505C6, 0, 0)), ("Link 01 [0x0000000a]", (10,)), ("(GPC 1, TPC 0)", ()), ("(0x123456789 0x1)", ())],
)  # fmt: skip
def test_registers_are_read(text: str, registers: tuple[int, ...]) -> None:
    assert read_registers(text) == registers


# --- mistakes


@pytest.mark.parametrize(
    ("table", "column", "value", "message"),
    [
        ("xid", "cause", "gpu.nothing", "`gpu.nothing` is not in the taxonomy"),
        ("xid", "action", "explode", "action `explode` is none of"),
        ("sxid", "action", "replace", "takes more away than its source states, and no reason is given"),
        ("xid", "immediate_action", "NOTHING", "`NOTHING` is not in actions.csv"),
        ("xid", "meaning_zh", "English", "not Chinese: `English`"),
        ("xid", "meaning_zh", "", "a sentence stands in English and in Chinese"),
        ("dcgm", "source", "", "no source"),
        ("sxid", "in_use", "maybe", "in_use is yes or no"),
        ("nvml", "harmless", "perhaps", "harmless is empty"),
    ],
)
def test_a_mistake_names_file_and_line(tmp_path: Path, table: str, column: str, value: str, message: str) -> None:
    shutil.copytree(FOLDER / "tables", tmp_path / "tables")
    path = tmp_path / "tables" / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        rows, columns = list(reader), list(reader.fieldnames or ())
    rows[8][column] = value
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(TableError) as caught:
        load_tables(tmp_path, ["gpu.fell-off-bus"] if column == "cause" else [])
    assert any(problem.startswith(f"{table}.csv:10: ") and message in problem for problem in caught.value.problems)


def test_a_missing_table(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"actions\.csv:1: can't be read"):
        load_tables(tmp_path)


def test_a_wrong_head(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "tables", tmp_path / "tables")
    (tmp_path / "tables" / "xid.csv").write_text("code,name\n1,a\n", "utf-8")
    with pytest.raises(TableError, match=r"xid\.csv:1: expected the columns code, name"):
        load_tables(tmp_path)
