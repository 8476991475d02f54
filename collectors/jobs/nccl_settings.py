"""Variables of NCCL and Gloo as a shell shows or sets them: `env | grep NCCL`, `export`, job scripts, /etc/nccl.conf.

Documented in NCCL's user guide, "Environment Variables". Only lines that hold nothing else count: advice and command lines that
merely name a variable say nothing of what is set. Samples::

    NCCL_IB_HCA=mlx5_0,mlx5_1
    export NCCL_SOCKET_IFNAME="eth0"
    declare -x GLOO_SOCKET_IFNAME="bond0"
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "nccl"
LAYERS = ("framework",)
SIGNATURES = (r"^(?:export |declare -x )?(?:NCCL_[A-Z0-9_]+|GLOO_SOCKET_IFNAME)=\S*$",)
ANCHORS = ((
    r"(?:NCCL_IB_(?:HCA|DISABLE|GID_INDEX|TC|SL|PKEY)|NCCL_(?:SOCKET|OOB_NET)_IFNAME|GLOO_SOCKET_IFNAME|NCCL_NET_GDR_LEVEL|"
    r"NCCL_(?:P2P|SHM|NVLS)_(?:DISABLE|LEVEL|ENABLE)|NCCL_(?:TOPO|GRAPH)_FILE|NCCL_(?:NET|ALGO|PROTO))="
),)  # fmt: skip

_ASSIGNMENT = compile_later(
    r"^\s*(?:export\s+|declare -x )?(?P<code>(?:NCCL|GLOO)_[A-Z0-9_]+)=(?P<quote>[\"']?)(?P<value>[^\"'\s]*)(?P=quote)\s*$"
)


def parse_line(line: Line) -> Iterator[Record]:
    """Yield an `env` observation."""
    match = _ASSIGNMENT.match(line.text)
    if match:
        yield Observation(
            SOURCE, "env", line.input, line.number, line.number, line.text, code=match["code"], time=line.time, node=line.host,
            attributes={"value": match["value"], "from": "environment"},
        )  # fmt: skip
