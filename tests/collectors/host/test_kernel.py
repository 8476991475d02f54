"""AER, EDAC, machine checks, PCIe bandwidth and IOMMU faults of several kernels."""

from __future__ import annotations

import pytest

from collectors.host import kernel
from tests.collectors.gpu.gpu_reading import observed, read


@pytest.mark.parametrize(
    ("line", "code", "device"),
    [
        (
            "pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error message received from 0000:63:00.0",
            "nonfatal",
            "0000:63:00.0",
        ),
        ("pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0", "corrected", "0000:00:03.0"),
        ("pcieport 0000:00:03.0: AER: Multiple Corrected error received: id=0018", "corrected", "0000:00:03.0"),
        (
            "pcieport 0000:64:00.0: AER: Multiple Uncorrected (Fatal) error received: 0000:65:00.0",
            "fatal",
            "0000:65:00.0",
        ),
        (
            "nvidia 0000:63:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)",
            "fatal",
            "0000:63:00.0",
        ),
        (
            "pcieport 0000:00:03.0: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer, id=0018(Receiver ID)",
            "corrected",
            "0000:00:03.0",
        ),
    ],
)
def test_aer(line: str, code: str, device: str) -> None:
    (found,) = observed(read(kernel, line), "aer")
    assert (found.code, found.entity) == (code, f"pcie_device:{device}")


def test_memory_and_processor() -> None:
    (edac,) = observed(
        read(kernel, "EDAC MC3: 1 UE memory read error on CPU_SrcID#1_MC#1_Chan#2_DIMM#0 (channel:2 slot:0)"), "edac"
    )
    assert (edac.code, edac.attributes["dimm"]) == ("ue", "CPU_SrcID#1_MC#1_Chan#2_DIMM#0")
    (check,) = observed(read(kernel, "EDAC skx MC3: CPU 10: Machine Check Event: 0 Bank 8: fc00010001010092"), "mce")
    assert (check.code, check.attributes["memory"]) == ("uncorrected", "yes")
    (mild,) = observed(read(kernel, "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 1: 9000000000000151"), "mce")
    assert (mild.code, mild.attributes["memory"]) == ("corrected", "no")


def test_cell_of_a_memory_error() -> None:
    lines = (
        "EDAC MC1: 1 CE memory scrubbing error on CPU_SrcID#1_Chan#0_DIMM#0 (channel:0 slot:0 page:0xee30a0 offset:0x40 grain:32)",
        "EDAC MC0: 4 CE error on CPU#0Channel#2_DIMM#0 (channel:2 slot:0 page:0x0 offset:0x0 grain:8 syndrome:0x0)",
        "EDAC MC0: 1 UE on mc#0csrow#1channel#3 (csrow:1 channel:3 page:0x1a3f0c7 offset:0x40 grain:64)",
    )
    found = observed(read(kernel, "\n".join(lines)), "edac")
    assert [(one.code, one.attributes.get("cell", "")) for one in found] == [
        ("ce", "CPU_SrcID#1_Chan#0_DIMM#0 ee30a0:40"), ("ce", ""), ("ue", "mc#0csrow#1channel#3 1a3f0c7:40"),
    ]  # fmt: skip


def test_links_and_iommu() -> None:
    line = (
        "pci 0000:9b:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:9a:00.0 "
        "(capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)"
    )
    (found,) = observed(read(kernel, line), "pcie_bandwidth")
    assert (found.code, found.attributes["width"], found.attributes["best_width"]) == ("width", "8", "16")
    line = "DMAR: [DMA Write] Request device [3b:00.0] fault addr 38000000000 [fault reason 05] PTE Write access is not set"
    (fault,) = observed(read(kernel, line), "iommu_fault")
    assert fault.entity == "pcie_device:0000:3b:00.0"


@pytest.mark.parametrize(
    "text",
    ["EDAC MC0: Giving out device to module skx_edac", "mce: CPU0: Thermal monitoring enabled (TM1)", "AER: enabled with IRQ 24",
     "mce: [Hardware Error]: Machine check events logged"],
)  # fmt: skip
def test_ordinary_lines_yield_nothing(text: str) -> None:
    assert read(kernel, text) == []
