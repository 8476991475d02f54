"""One spelling for PCI addresses and hosts, whatever text comes in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.identity import normalise_node, normalise_pci


@pytest.mark.parametrize(
    "text",
    [
        "PCI:0000:3b:00",
        "0000:3b:00",
        "00000000:3B:00.0",
        "0000:3b:00.0",
        "3b:00.0",
        "3b:00",
        "3b000",
        "0x3b000",
        " 3B:00.0 ",
    ],
)
def test_spellings_of_one_address_are_one(text: str) -> None:
    assert normalise_pci(text) == "0000:3b:00.0"


@pytest.mark.parametrize("text", ["", "x", "3b", "0000:3b:00.8", "3b:00.0 extra", "GPU-3b000", "12:34:56:78:9a"])
def test_what_is_no_address_is_none(text: str) -> None:
    assert normalise_pci(text) is None


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFF), st.integers(0, 0x1F), st.integers(0, 7))
def test_a_bus_id_and_an_address_agree(domain: int, bus: int, device: int, function: int) -> None:
    address = f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}"
    assert normalise_pci(address) == address
    bus_id = domain << 20 | bus << 12 | device << 4 | function
    if bus_id >= 0x1000:
        assert normalise_pci(f"{bus_id:x}") == address


@given(st.text())
def test_any_text_gives_an_address_or_none(text: str) -> None:
    found = normalise_pci(text)
    assert found is None or re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node-a", "node-a"),
        ("Node-A.cluster.local", "node-a"),
        ("'node-a'", "node-a"),
        ("10.0.0.12", "10.0.0.12"),
        ("", ""),
    ],
)
def test_hosts_lose_their_domain_and_addresses_do_not(text: str, expected: str) -> None:
    assert normalise_node(text) == expected


@given(st.text())
def test_normalising_a_host_twice_changes_nothing(text: str) -> None:
    once = normalise_node(text)
    assert normalise_node(once) in (once, once.strip().strip("'\""))
