"""What a GPU can compute at most: dense BF16 (or FP16) matrix arithmetic, by model, from NVIDIA's datasheets."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from diagnosis.rulebook.document import RuleError

_SLICE = re.compile(r"\bMIG\b|GRID|vGPU")  # a part of a card


def load_peaks(path: Path) -> dict[str, float]:
    """Read `model,tflops,precision,source` rows; return TFLOP/s by model, in the order of the file.

    Raises RuleError naming file:line for a row without a model, a positive number, a precision or a source.
    """
    peaks: dict[str, float] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), 2):
            model, tflops = row.get("model") or "", row.get("tflops") or ""
            if not (model and tflops.isdecimal() and row.get("precision") and row.get("source")) or model in peaks:
                raise RuleError(
                    [f"{path.name}:{number}: expected model, whole TFLOP/s, precision and source: {dict(row)}"]
                )
            peaks[model] = float(tflops)
    return peaks


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
