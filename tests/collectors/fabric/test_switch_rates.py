"""What the ports of a switch send, as SONiC shows it."""

from __future__ import annotations

from collectors.observation import Observation
from tests.collectors.fabric.reading import take, take_log


def loads(records: object) -> list[tuple[str, str, str]]:
    assert isinstance(records, list)
    return [
        (one.code, one.attributes["nic"], one.node)
        for one in records
        if isinstance(one, Observation) and one.kind == "switch-load"
    ]


def test_full_and_idle_ports() -> None:
    assert loads(list(take_log("switch/sonic-rates.log").records)) == [
        ("full", "Ethernet256", "leaf01"), ("idle", "Ethernet264", "leaf01"), ("full", "Ethernet272", "leaf01"),
        ("idle", "Ethernet280", "leaf01"),
    ]  # fmt: skip


def test_rows_of_another_table_say_nothing() -> None:
    head = (
        "      IFACE    STATE    RX_OK        RX_BPS    RX_PPS    RX_UTIL    TX_OK        TX_BPS    TX_PPS    TX_UTIL\n"
    )
    assert loads(list(take(head + "Ethernet256        U  918,231  45001.21\n").records)) == []
