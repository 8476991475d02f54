"""Variables are read where a line does nothing but set them."""

from __future__ import annotations

import pytest

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
    ],
)
def test_what_merely_names_a_variable_says_nothing(raw: str) -> None:
    assert not list(nccl_settings.parse_line(peel("x", 1, raw)))
