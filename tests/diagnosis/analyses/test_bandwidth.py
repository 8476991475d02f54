"""Bandwidth is compared with what rings reach over these links; small messages, cards and NVLS say nothing."""

from __future__ import annotations

import pytest

from diagnosis.analyses import bandwidth, instance_network
from diagnosis.rulebook import find_rules_folder
from diagnosis.rulebook.reference import load_reference
from tests.diagnosis.analyses.test_job_network import read

H100, H800, A100 = "NVIDIA H100 80GB HBM3", "NVIDIA H800", "NVIDIA A100-SXM4-80GB"


def devices(ranks: int, model: str, per_host: int = 8) -> str:
    return "".join(
        f"#  Rank {rank:2d} Group  0 Pid  {30000 + rank} on     node-{rank // per_host} device {rank % per_host:2d} "
        f"[0000:{16 + 16 * (rank % per_host):02x}:00] {model}\n"
        for rank in range(ranks)
    )


def row(busbw: float, ranks: int, size: int = 8 << 30, operation: str = "sum", times: int = 2) -> str:
    algbw = busbw / (times * (ranks - 1) / ranks)
    numbers = f"{size / algbw / 1000:8.1f}  {algbw:6.2f}  {busbw:6.2f}      0"
    return f"{size:12d} {size // 4:14d}     float  {operation:>6}      -1 {numbers} {numbers}\n"


def adapters(host: str, count: int, speed: int = 400000, used: int | None = None) -> str:
    head = f"{host}:2200:2300 [0] NCCL INFO "
    names = " ".join(f"[{nic}]mlx5_{nic}:1/IB" for nic in range(used or count))
    return f"{head}NET/IB : Using {names} [RO]; OOB eth0:10.0.0.1<0>\n" + "".join(
        f"{head}NET/IB: [{nic}] mlx5_{nic}:uverbs{nic}:1/IB provider=Mlx5 speed={speed} context=0x7f40 pciPath=/sys/x ar=1\n"
        for nic in range(count)
    )


def judge(text: str) -> list[tuple[str, str, str]]:
    return [(one.code, one.attributes.get("bound", ""), one.attributes.get("expected", "")) for one, _ in bandwidth.derive(read(text))]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "busbw", "code"),
    [
        (H100, 478.0, "as-expected"),  # with NVLS
        (H100, 365.0, "as-expected"),  # a ring
        (H100, 210.0, "low"),
        (H800, 158.0, "as-expected"),
        (A100, 233.0, "as-expected"),
        (A100, 120.0, "low"),
        ("NVIDIA B200", 682.2, "as-expected"),
        ("NVIDIA H20", 366.0, "as-expected"),
        ("NVIDIA A100 80GB PCIe", 20.0, "unknown"),
        ("NVIDIA H100 NVL", 90.0, "unknown"),
        ("NVIDIA L40S", 12.0, "unknown"),
        ("NVIDIA GB200", 600.0, "unknown"),
    ],
)
def test_one_host(model: str, busbw: float, code: str) -> None:
    assert [one[0] for one in judge(devices(8, model) + row(busbw, 8))] == [code]


def test_a_mesh_of_four_gives_two_thirds() -> None:
    assert judge(devices(4, H100) + row(275.0, 4)) == [("as-expected", "nvlink", "247")]
    assert judge(devices(4, H100) + row(150.0, 4))[0][0] == "low"


def test_small_messages_say_nothing() -> None:
    assert judge(devices(8, H100) + row(120.0, 8, size=512 << 20)) == []
    many = "".join(
        f"#  Rank {rank} Group  0 Pid  3 on node-{rank // 8} device {rank % 8} [0x1b] {H100}\n" for rank in range(2048)
    )
    assert judge(many + row(120.0, 2048)) == []


@pytest.mark.parametrize(("busbw", "code"), [(360.0, "as-expected"), (260.0, "as-expected"), (160.0, "low")])
def test_between_hosts_the_adapters_bound(busbw: float, code: str) -> None:
    text = devices(16, H100) + adapters("node-0", 8) + adapters("node-1", 8) + row(busbw, 16)
    assert judge(text) == [(code, "network", "371")]


def test_between_hosts_nothing_is_expected_of_adapters_without_a_rate() -> None:
    text = devices(16, H100) + "node-0:2:3 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
    assert judge(text + row(60.0, 16)) == [("unknown", "", "")]


@pytest.mark.parametrize(("busbw", "code"), [(76.2, "as-expected"), (12.0, "low")])
def test_between_machines_of_a_cloud(busbw: float, code: str) -> None:
    text = devices(16, A100) + row(busbw, 16, size=1 << 30)
    for node in ("node-0", "node-1"):
        text += f"{node}:35:89 [0] NCCL INFO NET/OFI Running on p4d.24xlarge platform, topology file /opt/p4d-24xl-topo.xml\n"
    facts = read(text)
    facts.reference = load_reference(find_rules_folder())
    for one, because in list(instance_network.derive(facts)):
        facts.add(one, because)
    (found,) = (one for one, _ in bandwidth.derive(facts))
    assert (found.code, found.attributes["bound"], found.attributes["expected"]) == (code, "network", "50")


def test_one_adapter_of_many() -> None:
    ports = "root@node-0:~# ibstat\n" + "".join(
        f"CA 'mlx5_{nic}'\n\tPort 1:\n\t\tState: Active\n\t\tRate: 200\n" for nic in range(4)
    )
    text = devices(16, A100) + adapters("node-0", 1, 200000) + adapters("node-1", 1, 200000) + row(22.0, 16)
    assert judge(text) == [("as-expected", "network", "25")]
    (found,) = (one for one, _ in bandwidth.derive(read(text, ports)))
    assert (found.code, found.attributes["expected"], found.attributes["used"]) == ("low", "100", "1")


def test_sockets_between_boards() -> None:
    socket = "node-0:2200:2300 [0] NCCL INFO Using network Socket\n"
    assert judge(devices(16, H100) + socket + row(4.0, 16)) == [("low", "sockets", "12")]
    assert judge(devices(16, "NVIDIA L40S") + socket + row(4.0, 16)) == [("unknown", "", "")]


def test_several_tests_in_one_log_and_their_operations() -> None:
    text = devices(8, H100)
    text += row(360.0, 8) + row(350.0, 8, size=1 << 30, operation="sum", times=1)
    found = [one.attributes["operation"] for one, _ in bandwidth.derive(read(text))]
    assert found == ["all-reduce", "reduce-scatter"]
    named = "# Collective test starting: alltoall_perf\n" + devices(8, H100) + row(100.0, 8, operation="none", times=1)
    assert [(one.code, one.attributes["operation"]) for one, _ in bandwidth.derive(read(named))] == [("unknown", "alltoall")]  # fmt: skip


def test_the_torch_benchmark() -> None:
    text = (
        "- hardware: _CudaDeviceProperties(name='NVIDIA H200', major=9, minor=0)\n"
        "The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):\n"
        "|   16GiB | 120.00GBps |  68.57GBps |\n"
    )
    assert judge(text) == [("low", "nvlink", "371")]
