"""NVRM and SXid lines of several driver generations."""

from __future__ import annotations

import pytest

from collectors.gpu import nvrm
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read, same

LOG = (FIXTURES / "kernel" / "gpu-node-dmesg.log").read_text()
MMU_FAULT = (
    "NVRM: Xid (PCI:0000:3b:00): 31, pid=57530, Ch 00000010. MMU Fault: ENGINE GRAPHICS GPC6 GPCCLIENT_T1_13 faulted @ 0x6f_0. "
    "Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ"
)


@pytest.mark.parametrize(
    ("line", "code", "gpu", "attributes"),
    [
        ("NVRM: Xid (0000:03:00): 14, Ch 00000020, engmask 00000101", "14", "0000:03:00.0", {}),
        (MMU_FAULT, "31", "0000:3b:00.0",
         {"pid": "57530", "fault": "FAULT_PDE", "engine": "GRAPHICS", "client": "GPCCLIENT_T1_13"}),
        ("NVRM: Xid (PCI:0000:a1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "79", "0000:a1:00.0", {}),
        ("NVRM: Xid (PCI:0000:e4:00): 13, Graphics SM Warp Exception on (GPC 1, TPC 0, SM 1): Out Of Range Address", "13",
         "0000:e4:00.0", {"place": "1, TPC 0, SM 1", "fault": "Out Of Range Address"}),
        ("NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:00): 94, pid=7194, Contained: SM (0x1). RST: No, D-RST: No", "94",
         "0000:01:00.0", {"mig": "05", "compute": "00"}),
        ("NVRM: Xid (PCI:0008:01:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x8 0x0)", "145", "0008:01:00.0",
         {"severity": "Nonfatal", "link": "03", "unit": "RLW_SRC_TRACK"}),
        ("NVRM: Xid (PCI:0008:01:00): 45, pid=181899, name=python3, Ch 00000001 caused by previous Xid 149", "45",
         "0008:01:00.0", {"process": "python3", "previous": "149"}),
    ],
)  # fmt: skip
def test_xid_forms(line: str, code: str, gpu: str, attributes: dict[str, str]) -> None:
    (found,) = observed(read(nvrm, line), "xid")
    assert (found.code, found.entity) == (code, f"gpu:{gpu}")
    assert attributes.items() <= dict(found.attributes).items()
    assert "<unknown>" not in found.attributes.values()


def test_messages_over_several_lines() -> None:
    records = read(nvrm, LOG)
    (fallen,) = observed(records, "gpu_fallen")
    assert (fallen.entity, fallen.line_end - fallen.line) == ("gpu:0000:b3:00.0", 2)
    (invalid,) = observed(records, "bar_invalid")
    assert (invalid.entity, invalid.code) == ("gpu:0000:14:00.0", "BAR1")
    (mismatch,) = observed(records, "driver_mismatch")
    assert (mismatch.attributes["client"], mismatch.attributes["module"]) == ("580.95.05", "580.65.06")
    assert ("gpu:0000:3b:00.0", "gpu:GPU-a000003b-0000-4000-8000-00000000003b") in same(records)


def test_mismatch_in_one_syslog_line() -> None:
    line = (
        "Jun  4 06:46:11 node-a kernel: NVRM: API mismatch: the client has the version 535.54.03, but#012NVRM: this kernel "
        "module has the version 530.30.02.  Please#012NVRM: make sure that this kernel module"
    )
    (found,) = observed(read(nvrm, line + "\n" + "NVRM: other"), "driver_mismatch")
    assert (found.node, found.line_end, found.attributes["module"]) == ("node-a", 1, "530.30.02")


def test_sxid_once_for_its_three_lines() -> None:
    (found,) = observed(read(nvrm, LOG), "sxid")
    assert (found.code, found.entity, found.attributes["severity"], found.attributes["link"]) == (
        "20034",
        "nvswitch:nvswitch0",
        "fatal",
        "63",
    )


@pytest.mark.parametrize(
    "text",
    ["NVRM: Xid (", "NVRM: Xid (PCI:zz): 79, x", "nvidia-nvswitch0: SXid (PCI): 1", "NVRM: The NVIDIA GPU 0000:b3:00.0",
     "NVRM: API mismatch: the client", "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:"],
)  # fmt: skip
def test_odd_input_yields_nothing(text: str) -> None:
    assert read(nvrm, text) == []


def test_a_refused_region_is_cited_at_the_line_that_names_it() -> None:
    text = (
        "[   28.109029] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n"
        "               NVRM: BAR0 is 0M @ 0x0 (PCI:0000:06:00.0)\n"
    )
    (invalid,) = observed(read(nvrm, text), "bar_invalid")
    assert (invalid.line, invalid.line_end, invalid.entity) == (2, 2, "gpu:0000:06:00.0")
