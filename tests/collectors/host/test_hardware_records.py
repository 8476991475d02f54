"""What rasdaemon, mcelog and the firmware (APEI) say about memory, processors and PCIe."""

from __future__ import annotations

from collectors.host import apei, mcelog, rasdaemon
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

KERNEL = FIXTURES / "kernel"


def test_rasdaemon_journal_and_control() -> None:
    records = read(rasdaemon, (KERNEL / "rasdaemon.log").read_text())
    memory = [(one.line, one.code, one.attributes["count"]) for one in observed(records, "edac")]
    assert memory == [
        (1, "ce", "1"),
        (2, "ue", "1"),
        (7, "ce", "1"),
        (18, "ce", "320"),
        (25, "ce", "14"),
        (25, "ue", "1"),
    ]
    assert {one.attributes["dimm"] for one in observed(records, "edac")} == {
        "CPU_SrcID#0_MC#1_Chan#0_DIMM#1",
        "mc#0csrow#3channel#0",
    }
    assert [(one.code, one.entity) for one in observed(records, "aer")] == [
        ("corrected", "pcie_device:0000:5e:00.0"), ("corrected", "pcie_device:0000:0b:00.0"), ("fatal", "pcie_device:0000:0b:00.0"),
    ]  # fmt: skip
    assert [(one.code, one.attributes["cpu"], one.attributes["memory"]) for one in observed(records, "mce")] == [
        ("uncorrected", "3", "no"), ("corrected", "2", "yes"),
    ]  # fmt: skip
    assert all(one.time is not None for one in observed(records, "aer"))


def test_rasdaemon_says_that_there_is_nothing() -> None:
    assert (
        read(
            rasdaemon,
            "No Memory errors.\n\nNo PCIe AER errors.\n\nNo MCE errors.\nLabel CE UE\nmc#0csrow#2channel#0 0 0\n",
        )
        == []
    )


def test_mcelog_records() -> None:
    records = read(mcelog, (KERNEL / "mcelog.log").read_text())
    assert [(one.code, one.attributes["cpu"], one.attributes["memory"], one.line_end) for one in observed(records, "mce")] == [
        ("uncorrected", "3", "no", 14), ("corrected", "0", "yes", 25),
    ]  # fmt: skip
    (limit,) = observed(records, "memory_threshold")
    assert (limit.node, limit.attributes["page"]) == ("node-a", "3e2c1b000")


def test_firmware_records_are_joined() -> None:
    first, second, earlier = observed(read(apei, (KERNEL / "apei.log").read_text()), "ghes")
    assert (first.code, first.attributes["section"], first.line, first.line_end) == ("corrected", "memory", 1, 10)
    assert (second.code, second.entity, second.line_end) == ("fatal", "pcie_device:0000:3b:00.0", 20)
    assert (earlier.attributes["boot"], earlier.attributes["dimm"]) == ("previous", "CPU 1 DIMM 8")


def test_records_of_two_processors_interleave() -> None:
    text = (
        "{1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 1\n{1}[Hardware Error]: event severity: fatal\n"
        "{2}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 2\n{1}[Hardware Error]:  Error 0, type: fatal\n"
        "{1}[Hardware Error]:   section_type: memory error\n"
    )
    assert "memory" in {one.attributes["section"] for one in observed(read(apei, text), "ghes")}


def test_odd_input_yields_nothing() -> None:
    for module in (apei, mcelog, rasdaemon):
        for text in (
            "{1}[Hardware Error]: Hardware error from APEI",
            "Hardware event. This is not a software error\nCPU x",
            "mc_event: 1 a on b",
        ):
            assert read(module, text) == []
