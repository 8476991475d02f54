"""lspci: links, access control and devices that read as all ones."""

from __future__ import annotations

from collectors.host import lspci
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

TEXT = (FIXTURES / "lspci" / "links.txt").read_text()


def test_link_and_device() -> None:
    records = read(lspci, TEXT)
    (link,) = observed(records, "pci_link")
    assert (link.code, link.entity, link.attributes["width"], link.attributes["width_max"]) == (
        "width",
        "gpu:0000:3b:00.0",
        "8",
        "16",
    )
    assert [(one.entity, one.code) for one in observed(records, "pci_device")] == [
        ("gpu:0000:3b:00.0", "a1"),
        ("gpu:0000:5e:00.0", "ff"),
    ]


def test_access_control_with_its_address() -> None:
    (acs,) = observed(read(lspci, TEXT), "pci_acs")
    assert (acs.code, acs.entity) == ("redirect", "pcie_device:0000:20:01.1")


def test_speed_alone_is_power_saving() -> None:
    text = "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16\n\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16\n"
    (link,) = observed(read(lspci, text), "pci_link")
    assert link.code == "speed"


def test_odd_input_yields_nothing() -> None:
    for text in ("3b:00.0", "LnkSta:", "\t\tLnkSta:\tSpeed unknown, Width x0", "ACSCtl"):
        assert observed(read(lspci, text), "pci_link") == []


def test_tree() -> None:
    from collectors.host import lspci_tree
    from collectors.observation import Relation

    records = read(lspci_tree, (FIXTURES / "lspci" / "tree.txt").read_text())
    behind = {one.upper: one.lower for one in records if isinstance(one, Relation)}
    assert behind["gpu:0000:0a:00.0"] == "pcie_device:0000:03:05.0"
    assert behind["nic:0000:0b:00.0"] == "pcie_device:0000:03:06.0"
    assert behind["pcie_device:0000:03:05.0"] == "pcie_device:0000:02:00.0"
    assert behind["pcie_device:0000:02:00.0"] == "pcie_device:0000:00:01.0"
    assert "pcie_device:0000:00:1f.0" not in behind
    assert read(lspci_tree, "-[0000:00]-+-\n") == []


def test_a_speed_that_is_no_number_is_no_link() -> None:
    text = TEXT.replace("GT/s", ".2.3GT/s")
    assert ".2.3GT/s" in text and observed(read(lspci, text), "pci_link") == []
