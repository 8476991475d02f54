"""NVLink state, counters and capabilities of nvidia-smi."""

from __future__ import annotations

from collectors.gpu import nvidia_smi, nvlink
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read, same

TEXT = (FIXTURES / "nvidia-smi" / "node-health.txt").read_text()
COUNTERS = (FIXTURES / "nvidia-smi" / "nvlink-counters.txt").read_text()


def test_states() -> None:
    down = [one for one in observed(read(nvlink, TEXT), "nvlink") if one.code == "inactive"]
    assert [(one.entity, one.attributes["link"]) for one in down] == [("gpu:1", "1")]
    assert ("gpu:GPU-00000000-0000-4000-8000-000000000002", "gpu:1") in same(read(nvidia_smi, TEXT))


def test_old_drivers_print_no_uuid() -> None:
    (one,) = observed(read(nvlink, "GPU 0: Tesla V100-SXM2-32GB\n\t Link 0: 25.781 GB/s\n"), "nvlink")
    assert (one.code, one.entity, one.attributes["model"]) == ("active", "gpu:0", "Tesla V100-SXM2-32GB")


def test_counters_of_nvlink_4_and_5() -> None:
    found = {
        (one.entity, one.code): one.attributes["value"]
        for one in observed(read(nvlink, COUNTERS), "nvlink_counter")
        if one.attributes["link"] == ("1" if one.entity == "gpu:0" else "0") and "lane" not in one.attributes
    }
    assert (found["gpu:0", "replay"], found["gpu:0", "recovery"], found["gpu:0", "crc"]) == ("3120", "44", "90211")
    assert (found["gpu:3", "link-recovery-failed"], found["gpu:3", "effective-ber"]) == ("2", "3e-12")
    assert not [code for _, code in found if code.startswith("fec") or "packets" in code]


def test_lanes_and_capabilities() -> None:
    records = read(nvlink, COUNTERS)
    (lane,) = [one for one in observed(records, "nvlink_counter") if "lane" in one.attributes]
    assert (lane.code, lane.attributes["lane"], lane.attributes["value"]) == ("crc", "3", "7")
    (able,) = observed(records, "nvlink_capability")
    assert (able.code, able.entity, able.attributes["refused"]) == ("no-p2p", "gpu:1", "1")


def test_odd_input_yields_nothing() -> None:
    for text in (
        "GPU 0: x",
        "GPU 0: x\nGPU 1: y\n",
        "GPU 0: x\n\t Link a: 3\n",
        "Link 0, P2P is supported: maybe",
        "GPU 1: \n",
    ):
        assert read(nvlink, text) == []


def test_links_between_gpu_and_cpu() -> None:
    text = (
        "GPU 0: NVIDIA GH200 480GB (UUID: GPU-00000000-0000-4000-8000-000000000001)\n"
        "\t C2C Link 0: 44.712 GB/s\n"
        "\t C2C Link 1: <inactive>\n"
        "\t C2C Link 1: Error Back-to-Back Replay Count: 7\n"
    )
    records = read(nvlink, text)
    assert [(one.code, one.attributes["link"]) for one in observed(records, "c2c")] == [
        ("active", "0"),
        ("inactive", "1"),
    ]
    (counter,) = observed(records, "c2c_counter")
    assert (counter.code, counter.attributes["value"]) == ("back-to-back-replay", "7")
