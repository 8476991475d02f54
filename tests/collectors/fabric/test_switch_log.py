"""Ports of Ethernet switches, as four vendors print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.fabric import switch_log
from collectors.prefix import peel


@pytest.mark.parametrize(
    ("raw", "node", "entity", "code"),
    [
        ("Nov  3 10:00:01 leaf-3 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet12/1, changed state to down",
         "leaf-3", "link:Ethernet12-1:1", "down"),
        ("Jul  7 15:00:05 leaf-3 %ETHPORT-5-IF_DOWN_LINK_FAILURE: Interface Ethernet1/1 is down (Link failure)",
         "leaf-3", "link:Ethernet1-1:1", "down"),
        ("2024 Jan 15 14:32:18 leaf-3 %ETHPORT-5-IF_UP: Interface Ethernet1/3 is up in mode trunk", "leaf-3", "link:Ethernet1-3:1", "up"),
        ("Nov  3 10:00:01 leaf-3 NOTICE swss#orchagent: :- updatePortOperStatus: Port Ethernet48 oper state set from up to down",
         "leaf-3", "link:Ethernet48:1", "down"),
    ],
)  # fmt: skip
def test_ports(raw: str, node: str, entity: str, code: str) -> None:
    (found,) = switch_log.parse_line(peel("x.log", 1, raw))
    assert (found.node, found.entity, found.code) == (node, entity, code)


@pytest.mark.parametrize(
    "raw",
    [
        "Nov  3 10:00:01 leaf-3 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Vlan101, changed state to down",
        "Nov  3 10:00:01 leaf-3 updatePortOperStatus: Port PortChannel0001 oper state set from up to down",
        "%ETHPORT-5-IF_DOWN_ADMIN_DOWN: Interface Ethernet1/1 is down (Administratively down)",
    ],
)
def test_virtual_interfaces_and_orders_of_people_say_nothing(raw: str) -> None:
    assert not list(switch_log.parse_line(peel("x.log", 1, raw)))


@given(st.text())
def test_odd_lines(raw: str) -> None:
    list(switch_log.parse_line(peel("x.log", 1, raw)))


def test_ports_of_huawei_and_h3c() -> None:
    down = "Jul  7 2025 15:00:05 leaf-4 %%01IFNET/4/LINK_STATE(l):The line protocol on the interface 400GE1/0/5 has entered the {} state."
    ip = "Jul  7 2025 15:00:05 leaf-4 %%01IFNET/4/LINK_STATE(l)[3]:The line protocol IP on the interface 400GE1/0/6 has entered the UP state."
    trap = (
        "Jul  7 2025 15:00:05 leaf-4 %%01IFNET/2/linkDown_active(l):CID=0x807a0404-alarmID=0x08520003;The interface status changes. "
        "(ifName=100GE1/0/7, AdminStatus=UP, OperStatus=DOWN, Reason=Interface physical link is down, mainIfname=100GE1/0/7)"
    )
    h3c = "%Jul  7 15:00:05:123 2025 leaf-4 IFNET/3/PHY_UPDOWN: Physical state on the interface FourHundredGigE1/0/5 changed to up."
    lines = [down.format("DOWN"), ip, trap, h3c, down.format("DOWN").replace("400GE1/0/5", "Vlanif100")]
    found = [one for raw in lines for one in switch_log.parse_line(peel("x.log", 1, raw))]
    assert {one.node for one in found} == {"leaf-4"}
    assert [(one.code, one.attributes["nic"]) for one in found] == [
        ("down", "400GE1/0/5"), ("up", "400GE1/0/6"), ("down", "100GE1/0/7"), ("up", "FourHundredGigE1/0/5"),
    ]  # fmt: skip
