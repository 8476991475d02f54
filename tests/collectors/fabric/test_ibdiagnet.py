"""ibdiagnet: complaints, the table at the end, the dump of counters."""

from __future__ import annotations

import pytest

from tests.collectors.fabric.reading import seen, take, take_log, values


def test_sample_log() -> None:
    intake = take_log("ibdiagnet/ibdiagnet2.log")
    assert intake.kind == "ibdiagnet"
    master, counter, other, speed = seen(intake.records, "fabric-check")
    assert (master.code, master.attributes["level"]) == ("no-master", "E")
    assert (counter.node, counter.entity, counter.attributes["counter"], counter.attributes["rise"]) == (
        "node-a", "link:HCA-1:1", "symbol_error", "117",
    )  # fmt: skip
    assert other.attributes["switch"] == "e41d2d03004bcfb0"
    assert (speed.code, speed.node, speed.attributes["actual"], speed.attributes["wanted"]) == (
        "link-speed",
        "node-b",
        "14",
        "25",
    )
    stages = {one.code: one.attributes["errors"] for one in seen(intake.records, "fabric-stage")}
    assert stages["speed-width-checks"] == "1" and stages["lids-check"] == "0"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("-E- Credit loop found on the following path", "credit-loop"),
        ("-E- Unassigned LFT for lid:4 Dead end at:S7cfe900300bdf4f0/N7cfe900300bdf4f0 PLFT:0", "routing"),
        ("-E- Node GUID = 0x7cfe900300bdf4f0 is duplicated at: 0,1,2", "duplicate-guid"),
        ("-E- Link: S7cfe900300a51030/N7cfe900300a51030/P28<-->node-b/U1/P1 - Unexpected actual link width 1X", "link-width"),
        ('-W- link: "H-b8ce"/P1<-->"S-ec0d"/P5 - Either node-a/U1/P1 or spine01/P5 have "SymbolErrors" increased by 142 (threshold=10)', "counter"),
        ("-E- S7cfe900300a51030/N7cfe900300a51030/P28(leaf-1/U1/P28) - Symbol BER exceeds the threshold", "ber"),
    ],
)  # fmt: skip
def test_complaints(line: str, code: str) -> None:
    (one,) = seen(take(line).records, "fabric-check")
    assert one.code == code


@pytest.mark.parametrize(
    "line", ["-E- Links Speed Check finished with errors", "-I- no credit loops found", "cp -E- x", "-W- hello"]
)
def test_nothing_from_headings_and_strangers(line: str) -> None:
    assert not seen(take(line).records, "fabric-check")


def test_dump_of_counters_twice() -> None:
    block = "Port=1 Lid=0x0004 GUID=0x7cfe900300179b31 Device=4123 Port Name=node-a/U1/P1\nlink_down_counter=0x{}\nsymbol_error_counter=14\n"
    records = take(block.format("0002") + "----\n" + block.format("000a")).records
    assert values(records, "link_downed") == {"node-a link:HCA-1:1": [2.0, 10.0]}
    assert take_log("ibdiagnet/ibdiagnet2.pm").kind == "ibdiagnet"
