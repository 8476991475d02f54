"""Processes on a GPU, as nvidia-smi lists them."""

from __future__ import annotations

from collectors.gpu import gpu_processes
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

TEXT = (FIXTURES / "nvidia-smi" / "processes.txt").read_text()


def test_tables_and_csv_of_several_versions() -> None:
    found = [
        (one.attributes.get("gpu"), one.attributes["pid"], one.attributes["process"], one.attributes["used_mib"])
        for one in observed(read(gpu_processes, TEXT), "gpu-holder")
    ]
    assert found == [
        ("0", "2104", "Xorg", "4"),
        ("3", "771203", "python", "75888"),
        ("GPU-00000000-0000-4000-8000-000000000001", "771203", "VLLM::EngineCore", "75888"),
        (None, "771203", "python", "75888"),
        ("0", "31244", "python", "10149"),
    ]


def test_odd_answers_yield_nothing() -> None:
    assert not list(read(gpu_processes, "| Processes:          |\n|  No running processes found  |\n+----+\n"))
    assert not list(read(gpu_processes, "$ nvidia-smi --query-compute-apps=colour --format=csv,noheader\nred\n"))
    assert not list(read(gpu_processes, "index, used_memory [MiB]\n0, 12 MiB\n"))
    assert not list(read(gpu_processes, "$ nvidia-smi --query-compute-apps=pid,name --format=csv,noheader\n"))
