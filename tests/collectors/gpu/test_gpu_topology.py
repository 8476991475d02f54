"""The matrices of `nvidia-smi topo`."""

from __future__ import annotations

from collectors.gpu import gpu_topology
from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation
from collectors.registry import Registry
from collectors.scan import Scanner
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read, same

TEXT = (FIXTURES / "nvidia-smi" / "topology.txt").read_text()


def test_matrix() -> None:
    records = read(gpu_topology, TEXT)
    rows = {one.entity: one for one in observed(records, "gpu_topology")}
    assert [rows[f"gpu:{gpu}"].attributes["nvlinks"] for gpu in range(4)] == ["52", "52", "52", "48"]
    assert (rows["gpu:2"].code, rows["gpu:2"].attributes["nics"], rows["gpu:2"].attributes["numa"]) == (
        "PIX",
        "mlx5_3",
        "1",
    )
    assert rows["gpu:3"].attributes["processors"] == "48-95,144-191"
    assert ("nic:mlx5_3", "nic:NIC1") in same(records)


def test_old_matrix_names_its_nics() -> None:
    text = "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tPHB\tSYS\t0-19\nGPU1\tPHB\t X \tPIX\t0-19\nmlx5_0\tSYS\tPIX\t X \n"
    first, second = observed(read(gpu_topology, text), "gpu_topology")
    assert (first.code, second.code, second.attributes["nics"], second.attributes["nvlinks"]) == (
        "SYS",
        "PIX",
        "mlx5_0",
        "0",
    )


def test_peer_access() -> None:
    assert [(one.entity, one.code) for one in observed(read(gpu_topology, TEXT), "gpu_peer")] == [
        ("gpu:0", "TNS"), ("gpu:1", "TNS"),
    ]  # fmt: skip


def test_odd_input_yields_nothing() -> None:
    for text in (
        "GPU0 GPU1\n",
        "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X\n",
        "\tGPU0\tCPU Affinity\nno row\n",
        "GPU0\tCPU Affinity",
    ):
        assert read(gpu_topology, text) == []


def test_table_is_found_behind_a_long_line() -> None:
    registry = Registry()
    text = "a line of some other program that is long enough\n\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-95\nGPU1\tNV18\t X \t0-95\n"
    (intake,) = read_inputs([text_input("x", text)], Scanner(registry.patterns()), registry, now=1.0)
    assert [one.kind for one in intake.records if isinstance(one, Observation)] == ["gpu_topology"] * 2
