"""Connections tried by hand."""

from __future__ import annotations

import pytest

from tests.collectors.fabric.reading import seen, take, take_log


def test_sample_log() -> None:
    found = seen(take_log("network/port-tests.txt").records, "port-test")
    assert [(one.code, one.attributes.get("peer"), one.attributes.get("port")) for one in found] == [
        ("open", "10.0.0.4", "29500"),
        ("timed-out", "10.0.0.4", "45001"),
        ("no-route", "10.0.0.5", "45001"),
        ("timed-out", "10.0.0.4", "2049"),
        ("open", "10.0.0.4", "22"),
        ("refused", "10.0.0.6", "6379"),
        ("timed-out", "10.0.0.7", "23456"),
        ("no-route", "10.0.0.8", "29400"),
    ]
    assert {one.node for one in found} == {"node-a"}
    assert found[3].raw == "Ncat: TIMEOUT."


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nc: connect to worker-1 (10.0.0.4) port 29500 (tcp) failed: Connection refused", "refused"),
        ("Connection to 10.0.0.4 (10.0.0.4) 2049 port [tcp/nfs] succeeded!", "open"),
        ("Ncat: No route to host.", "no-route"),
        ("telnet: connect to address 10.0.0.4: Connection timed out", "timed-out"),
    ],
)
def test_answers_without_their_command(text: str, code: str) -> None:
    (one,) = seen(take(text + "\n").records, "port-test")
    assert one.code == code


def test_a_command_without_an_answer_takes_nothing_from_what_follows() -> None:
    intake = take(
        "$ nc -vz 10.0.0.4 29500\n^C\nNVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"
        "Connection to 10.0.0.4 closed by remote host.\n"
    )
    assert not seen(intake.records, "port-test")
    assert seen(intake.records, "xid")
