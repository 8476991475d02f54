"""Port events and health of network adapters in the kernel's log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.fabric import mlx5
from collectors.observation import Observation
from collectors.prefix import peel


def read(raw: str) -> list[Observation]:
    return [record for record in mlx5.parse_line(peel("x.log", 1, raw)) if isinstance(record, Observation)]


@pytest.mark.parametrize(
    ("raw", "kind", "code", "entity"),
    [
        ("mlx5_core 0000:5e:00.0 mlx5_3: Port: 1 Link DOWN", "link", "down", "link:mlx5_3:1"),
        ("[449410.332316] infiniband mlx5_5: Port: 1 Link ACTIVE", "link", "up", "link:mlx5_5:1"),
        ("Mar  3 08:00:01 node-1 kernel: mlx5_core 0000:5c:00.0 ens5f0np0: Link down", "link", "down", "link:ens5f0np0:1"),
        ("ixgbe 0000:0b:00.0 eth0: NIC Link is Up 10 Gbps, Flow Control: None", "link", "up", "link:eth0:1"),
        ("bond0: (slave ens5f0np0): link status definitely down, disabling slave", "link", "down", "link:ens5f0np0:1"),
        ("bond0: link status definitely down for interface ens1f0, disabling it", "link", "down", "link:ens1f0:1"),
        ("mlx5_core 0000:5e:00.0: firmware version: 28.43.2566", "link", "probe", "link:0000:5e:00.0:1"),
        ("mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, High Temperature", "nic-module", "high temperature",
         "link:0000:5c:00.0:1"),
        ("mlx5_core 0000:63:00.1: Port module event: module 1, Cable unplugged", "nic-module", "cable unplugged", "link:0000:63:00.1:1"),
        ("mlx5_core 0000:d2:00.0: poll_health:825:(pid 0): device's health compromised - reached miss count", "nic-health",
         "health-compromised", "nic:0000:d2:00.0"),
        ("mlx5_core 0000:03:00.0: wait_func:1195:(pid 19): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource", "nic-health",
         "command-timeout", "nic:0000:03:00.0"),
        ("mlx5_core: INFO: synd 0x8: unrecoverable hardware error.", "nic-syndrome", "unrecoverable hardware error", ""),
        ("NETDEV WATCHDOG: ens5f0np0 (mlx5_core): transmit queue 12 timed out", "nic-health", "queue-timeout", "nic:ens5f0np0"),
    ],
)  # fmt: skip
def test_lines(raw: str, kind: str, code: str, entity: str) -> None:
    (found,) = read(raw)
    assert (found.kind, found.code, found.entity) == (kind, code, entity)


@pytest.mark.parametrize(
    "raw",
    [
        "Feb 11 18:58:23 node-4 systemd-networkd[567]: ens3: Link DOWN",
        "mlx5_core 0000:5e:00.0: mlx5_pcie_event:299:(pid 1304): Detected insufficient power on the PCIe slot (27W).",
        "mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 1): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2)",
        "vethabc: Link DOWN", "", "Link",
    ],
)  # fmt: skip
def test_harmless_lines_yield_nothing(raw: str) -> None:
    assert read(raw) == []


@given(st.text(max_size=200))
def test_parser_is_total(raw: str) -> None:
    read(raw)
    read(f"mlx5_core 0000:5e:00.0 {raw}: Link down")
