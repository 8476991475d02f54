"""The table of what GPUs can compute, and how their names are found in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnosis.rulebook.document import RuleError
from diagnosis.rulebook.loader import find_rules_folder
from diagnosis.rulebook.peaks import find_peak, load_peaks

SHIPPED = load_peaks(find_rules_folder() / "tables" / "gpu-peaks.csv")


@pytest.mark.parametrize(
    ("name", "tflops"),
    [
        ("NVIDIA H100 80GB HBM3", 989),
        ("NVIDIA H100 PCIe", 756),
        ("NVIDIA H100 NVL", 835),
        ("NVIDIA A100-SXM4-80GB", 312),
        ("NVIDIA A100-SXM...", 312),
        ("A100-SXM4-40GB", 312),
        ("NVIDIA H20-3e", 148),
        ("NVIDIA H200", 989),
        ("NVIDIA GH200 480GB", 989),
        ("NVIDIA GB200", 2500),
        ("NVIDIA B200", 2250),
        ("NVIDIA L40S", 362),
        ("NVIDIA L40", 181),
        ("Tesla V100-SXM2-32GB", 125),
        ("NVIDIA A10G", 0),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 0),
        ("GRID A100-10C", 0),
        ("AMD Instinct MI300X", 0),
        ("", 0),
    ],
)
def test_names_that_programs_print(name: str, tflops: float) -> None:
    assert find_peak(name, SHIPPED) == tflops


@pytest.mark.parametrize("row", ["H100,fast,bf16,datasheet", "H100,989,bf16,", ",989,bf16,datasheet"])
def test_a_bad_row_is_named(tmp_path: Path, row: str) -> None:
    path = tmp_path / "gpu-peaks.csv"
    path.write_text(f"model,tflops,precision,source\n{row}\n")
    with pytest.raises(RuleError, match=r"gpu-peaks\.csv:2: "):
        load_peaks(path)
