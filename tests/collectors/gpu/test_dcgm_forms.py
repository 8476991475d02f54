"""DCGM's boxes and logs beyond the diagnostic of 2.x and 3.x: results by GPU, link counts, numbers and addresses, the exporter's log."""

from __future__ import annotations

import pytest

from collectors.gpu import dcgm, dcgm_discovery
from collectors.registry import Registry
from tests.collectors.gpu.gpu_reading import observed, read, same

DIAG_4 = """\
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 4.2.3                                          |
|-----  Deployment  --------+------------------------------------------------|
| software                  | Pass                                           |
|                           | GPU0: Pass                                     |
|                           | GPU1: Pass                                     |
+-----  Hardware  ----------+------------------------------------------------+
| memory                    | Fail                                           |
|                           | GPU0: Pass                                     |
|                           | GPU1: Fail                                     |
| Warning: GPU1             | GPU 1 had uncorrectable memory errors and row  |
|                           | remapping failed. Run a field diagnostic on t  |
|                           | he GPU.                                        |
+---------------------------+------------------------------------------------+
"""
COUNTS = """\
+-----------------------------+------------------------------------------------+
| NVLINK Error Counts                                                          |
| GPU 3                                                                        |
+=============================+================================================+
| Link 0                      |                                                |
| -> CRC FLIT Error           | 0                                              |
| -> Replay Error             | 7                                              |
| Link 1                      |                                                |
| -> Recovery Error           | 14                                             |
+-----------------------------+------------------------------------------------+
"""
LIST = """\
2 GPUs found.
+--------+----------------------------------------------------------------------+
| GPU ID | Device Information                                                   |
+--------+----------------------------------------------------------------------+
| 0      | Name: NVIDIA A100-SXM4-40GB                                          |
|        | PCI Bus ID: 00000000:07:00.0                                         |
|        | Device UUID: GPU-11111111-2222-3333-4444-555555555506                |
+--------+----------------------------------------------------------------------+
| 1      | Name: NVIDIA A100-SXM4-40GB                                          |
|        | PCI Bus ID: 00000000:0F:00.0                                         |
+--------+----------------------------------------------------------------------+
"""
EXPORTER = (
    'time="2023-07-28T07:58:55Z" level=info msg="Starting dcgm-exporter"',
    'time="2023-07-28T07:58:56Z" level=info msg="DCGM successfully initialized!"',
    'time=2025-02-12T03:52:38.223Z level=INFO msg="Not collecting DCP metrics: This request is serviced by a module of DCGM"',
)


def test_results_by_gpu() -> None:
    tests = [(one.code, one.attributes["result"], one.entity) for one in observed(read(dcgm, DIAG_4), "dcgm_test")]
    assert tests == [("software", "pass", ""), ("memory", "fail", "gpu:dcgm-1")]
    (warning,) = observed(read(dcgm, DIAG_4), "dcgm_warning")
    assert (warning.code, warning.entity) == ("memory", "gpu:dcgm-1")
    assert "diagnostic on the GPU" in warning.text


def test_link_counts() -> None:
    found = observed(read(dcgm, COUNTS), "nvlink_counter")
    assert [(one.code, one.attributes["link"], one.attributes["value"], one.entity) for one in found] == [
        ("crc", "0", "0", "gpu:dcgm-3"),
        ("replay", "0", "7", "gpu:dcgm-3"),
        ("recovery", "1", "14", "gpu:dcgm-3"),
    ]


def test_numbers_and_addresses() -> None:
    assert same(read(dcgm_discovery, LIST)) == {
        ("gpu:0000:07:00.0", "gpu:dcgm-0"),
        ("gpu:GPU-11111111-2222-3333-4444-555555555506", "gpu:dcgm-0"),
        ("gpu:0000:0f:00.0", "gpu:dcgm-1"),
    }


@pytest.mark.parametrize("text", ["| GPU ID | Device Information |", "| GPU ID | Device Information |\n| x | y |", ""])
def test_odd_lists_yield_nothing(text: str) -> None:
    assert not read(dcgm_discovery, text)


def test_the_exporters_log_is_dcgms() -> None:
    assert set(Registry().recognise(EXPORTER)) == {"dcgm"}
