"""nvidia-smi's table, lists, CSV and `-q` in text and XML."""

from __future__ import annotations

import pytest

from collectors.gpu import nvidia_query, nvidia_smi
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read, same

TEXT = (FIXTURES / "nvidia-smi" / "node-health.txt").read_text()


def test_table_rows_and_broken_cells() -> None:
    records = read(nvidia_smi, TEXT)
    good, bad = observed(records, "gpu_row")
    assert (good.entity, good.attributes["draw"], good.attributes.get("broken")) == ("gpu:0000:18:00.0", "71W", None)
    assert "temp" in bad.attributes["broken"]
    (driver,) = observed(records, "driver")
    assert driver.attributes["cuda"] == "12.4"
    assert ("gpu:0000:18:00.0", "gpu:0") in same(records)


def test_narrow_table_of_older_drivers() -> None:
    text = (
        "|===============================+======================+======================|\n"
        "|   0  Tesla V100-PCIE...  Off  | 00000000:3B:00.0 Off |                    0 |\n"
        "| N/A   40C    P0    27W / 250W |      0MiB / 32510MiB |      0%      Default |\n"
    )
    (row,) = observed(read(nvidia_smi, text), "gpu_row")
    assert (row.entity, row.attributes["limit"]) == ("gpu:0000:3b:00.0", "250W")


def test_csv_decodes_the_throttle_mask() -> None:
    active = {
        (one.entity, one.code) for one in observed(read(nvidia_smi, TEXT), "field") if one.attributes["value"] == "Active"
    }  # fmt: skip
    assert active == {("gpu:0000:2a:00.0", "HW Slowdown"), ("gpu:0000:2a:00.0", "HW Power Brake Slowdown")}


@pytest.mark.parametrize(
    ("line", "pci"),
    [("Unable to determine the device handle for GPU0000:A1:00.0: Unknown Error", "0000:a1:00.0"),
     ("Unable to determine the device handle for GPU 0000:C1:00.0: GPU is lost.  Reboot the system to recover this GPU", "0000:c1:00.0"),
     ("Unable to determine the device handle for gpu 00000000:3B:00.0: Unknown Error", "0000:3b:00.0")],
)  # fmt: skip
def test_lost_handle(line: str, pci: str) -> None:
    (found,) = observed(read(nvidia_smi, line), "nvidia_smi")
    assert (found.code, found.entity) == ("handle", f"gpu:{pci}")


def test_query_text() -> None:
    records = read(nvidia_query, TEXT)
    fields = {(one.code, one.attributes["section"]): one.attributes["value"] for one in observed(records, "field")}
    assert fields[("HW Power Brake Slowdown", "Clocks Event Reasons")] == "Active"
    assert fields[("Pending", "Remapped Rows")] == "Yes"
    (power,) = observed(records, "gpu_power")
    assert (power.attributes["limit"], power.attributes["default"], power.attributes["reason_hw"]) == (
        "700.00 W",
        "700.00 W",
        "Active",
    )
    assert ("gpu:0000:18:00.0", "gpu:GPU-00000000-0000-4000-8000-000000000001") in same(records)


def test_query_xml() -> None:
    text = """<nvidia_smi_log>
    <gpu id="00000000:3B:00.0">
        <product_name>NVIDIA A100</product_name>
        <uuid>GPU-00000000-0000-4000-8000-000000000001</uuid>
        <clocks_throttle_reasons>
            <clocks_throttle_reason_hw_power_brake_slowdown>Active</clocks_throttle_reason_hw_power_brake_slowdown>
        </clocks_throttle_reasons>
        <remapped_rows>
            <remapped_row_pending>Yes</remapped_row_pending>
        </remapped_rows>
    </gpu>
</nvidia_smi_log>
"""
    records = read(nvidia_query, text)
    fields = {one.code: one.attributes["value"] for one in observed(records, "field")}
    assert fields["HW Power Brake Slowdown"] == "Active"
    assert fields["Pending"] == "Yes"


@pytest.mark.parametrize(
    "text", ["GPU 0: not a list", "index, name", "name, status, more\n1, 2", "|=====+=====|", "GPU 00000000:ZZ:00.0"]
)
def test_odd_input_yields_nothing(text: str) -> None:
    assert read(nvidia_smi, text) == []
    assert read(nvidia_query, text) == []


def test_query_columns_with_capitals_and_numbers_for_yes() -> None:
    text = (
        "pci.bus_id, ecc.errors.uncorrected.aggregate.sram.thresholdExceeded\n00000000:3D:00.0, Yes\n"
        "gpu_bus_id, remapped_rows.pending, remapped_rows.failure\n00000000:3D:00.0, 0, 1\n"
    )
    found = {one.code: one.attributes["value"] for one in observed(read(nvidia_smi, text), "field")}
    assert found == {"SRAM Threshold Exceeded": "Yes", "Pending": "No", "Remapping Failure Occurred": "Yes"}


def test_csv_without_a_heading_is_read_below_its_command() -> None:
    text = (
        "$ nvidia-smi --query-gpu=index,clocks.sm,clocks_throttle_reasons.active --format=csv,noheader\n"
        "0, 345 MHz, 0x0000000000000088\n"
        "1, 1980 MHz, 0x0000000000000000\n"
        "$ uptime\n"
    )
    active = {
        (one.entity, one.code) for one in observed(read(nvidia_smi, text), "field") if one.attributes["value"] == "Active"
    }  # fmt: skip
    assert active == {("gpu:0", "HW Slowdown"), ("gpu:0", "HW Power Brake Slowdown")}


@pytest.mark.parametrize(
    ("command", "answer", "told"),
    [
        ("--query-gpu=utilization.gpu --format=csv,noheader", "11 %\n9 %\n", [("gpu:0", "11 %"), ("gpu:1", "9 %")]),
        ("--query-gpu=utilization.gpu --format=csv", "utilization.gpu [%]\n11 %\n", [("gpu:0", "11 %")]),
        ("-i 3 --query-gpu=utilization.gpu --format=csv,noheader", "11 %\n", [("", "11 %")]),
        ("--query-gpu=utilization.gpu --format=csv,noheader", "No devices were found\n", []),
    ],
)
def test_an_answer_of_one_column(command: str, answer: str, told: list[tuple[str, str]]) -> None:
    text = f"$ nvidia-smi {command}\n{answer}$ nvidia-smi --query-gpu=name --format=csv\nname\nTesla T4\n"
    found = [one for one in observed(read(nvidia_smi, text), "field") if one.attributes["section"] == "Utilization"]
    assert [(one.entity, one.attributes["value"]) for one in found] == told
