"""Rolling tables of nvidia-smi and dcgmi."""

from __future__ import annotations

from collectors.gpu import gpu_monitor
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read, samples

TEXT = (FIXTURES / "nvidia-smi" / "monitors.txt").read_text()


def test_columns_are_told_by_their_head() -> None:
    found = {(one.metric, one.entity): one.value for one in samples(read(gpu_monitor, TEXT)) if one.line == 7}
    assert found["DCGM_FI_DEV_MEMORY_TEMP", "gpu:1"] == 98
    assert found["DCGM_FI_DEV_SM_CLOCK", "gpu:1"] == 930
    assert found["nvidia_smi_thermal_violation", "gpu:1"] == 1
    old = {one.metric: one.value for one in samples(read(gpu_monitor, TEXT)) if one.line == 11}
    assert (old["DCGM_FI_DEV_GPU_TEMP"], old["DCGM_FI_DEV_SM_CLOCK"]) == (35, 135)


def test_date_and_time_in_front() -> None:
    times = sorted({one.time for one in samples(read(gpu_monitor, TEXT)) if one.time is not None})
    assert times == [1741701482.0, 1741701483.0]


def test_processes_and_dcgm_fields() -> None:
    records = read(gpu_monitor, TEXT)
    (process,) = observed(records, "gpu_process")
    assert (process.code, process.attributes["pid"], process.attributes["process"]) == ("C", "2883969", "python3")
    active = [
        one.value
        for one in samples(records)
        if one.metric == "DCGM_FI_PROF_GR_ENGINE_ACTIVE" and one.entity == "gpu:dcgm-0"
    ]
    assert active == [0.984]


def test_odd_input_yields_nothing() -> None:
    for text in (
        "# gpu pwr\n",
        "# gpu   pwr  temp\n# Idx     W     C\n   x y z\n",
        "#Entity   GRACT\nID\nGPU x 1\n",
        "# gpu pid\n0",
    ):
        assert read(gpu_monitor, text) == []
