"""What a GPU can compute at most: dense BF16 (or FP16) matrix arithmetic, by model, from NVIDIA's datasheets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from diagnosis.rulebook.rows import read_rows

_SLICE = re.compile(r"\bMIG\b|GRID|vGPU")  # a part of a card


def load_peaks(path: Path) -> dict[str, float]:
    """Read `model,tflops,precision,source` rows; return TFLOP/s by model, in the order of the file.

    Raises RuleError naming file:line for a row without a model, a positive number, a precision or a source.
    """
    rows = read_rows(path, ("model", "precision"), whole=("tflops",), unique="model")
    return {row["model"]: float(row["tflops"]) for row in rows}


def find_peak(name: str, peaks: Mapping[str, float]) -> float:
    """Return the TFLOP/s of a GPU by the name that programs print, 0 for one that is not listed or a slice of one.

    >>> find_peak("NVIDIA H100 80GB HBM3", {"H100 PCIe": 756.0, "H100": 989.0})
    989.0
    >>> find_peak("NVIDIA A100-SXM4-80GB MIG 1g.10gb", {"A100": 312.0}), find_peak("NVIDIA A1000", {"A100": 312.0})
    (0.0, 0.0)
    """
    if _SLICE.search(name):
        return 0.0
    words = re.findall(r"[A-Za-z0-9]+", name)
    return next((tflops for model, tflops in peaks.items() if all(word in words for word in model.split())), 0.0)
