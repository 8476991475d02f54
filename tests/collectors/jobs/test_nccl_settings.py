"""Variables are read where a line does nothing but set them."""

from __future__ import annotations

import pytest

from collectors.block import Reader
from collectors.jobs import nccl_settings
from collectors.observation import Observation
from collectors.prefix import peel


@pytest.mark.parametrize(
    ("raw", "code", "value"),
    [
        ("NCCL_IB_HCA=mlx5_0,mlx5_1", "NCCL_IB_HCA", "mlx5_0,mlx5_1"),
        ('export NCCL_SOCKET_IFNAME="eth0"', "NCCL_SOCKET_IFNAME", "eth0"),
        ('declare -x GLOO_SOCKET_IFNAME="bond0"', "GLOO_SOCKET_IFNAME", "bond0"),
        ("    export NCCL_IB_HCA='^mlx5_3'", "NCCL_IB_HCA", "^mlx5_3"),
        ('{"name":"NCCL_SOCKET_IFNAME","value":"=eth0"}', "NCCL_SOCKET_IFNAME", "=eth0"),
        ("      NCCL_SOCKET_IFNAME:  eth0", "NCCL_SOCKET_IFNAME", "eth0"),
    ],
)
def test_assignments(raw: str, code: str, value: str) -> None:
    (found,) = nccl_settings.parse_line(peel("x", 1, raw))
    assert isinstance(found, Observation)
    assert (found.kind, found.code, found.attributes["value"]) == ("env", code, value)


@pytest.mark.parametrize(
    "raw",
    [
        "Set NCCL_IB_HCA=mlx5_0 to choose an adapter",
        "mpirun -x NCCL_SOCKET_IFNAME=eth0 ./all_reduce_perf",
        "# NCCL_IB_HCA=mlx5_0",
        "NCCL_IB_HCA=mlx5_0 python train.py",
        "      NCCL_SOCKET_IFNAME:  <set to the key 'x' of config map 'y'>",
        "NCCL_SOCKET_IFNAME: eth0 is not there",
    ],
)
def test_what_merely_names_a_variable_says_nothing(raw: str) -> None:
    assert not list(nccl_settings.parse_line(peel("x", 1, raw)))


def test_environment_of_a_container_in_yaml() -> None:
    text = '    - name: NCCL_IB_HCA\n      value: "mlx5_0"\n'
    (found,) = nccl_settings.parse_block(Reader(text.encode(), 0, 1, "x"))
    assert isinstance(found, Observation)
    assert (found.code, found.attributes["value"]) == ("NCCL_IB_HCA", "mlx5_0")
    for odd in ("- name: NCCL_IB_HCA\n  valueFrom:\n", "- name: NCCL_IB_HCA", ""):
        assert not list(nccl_settings.parse_block(Reader(odd.encode(), 0, 1, "x")))
