"""Variables of NCCL and Gloo as a shell or Kubernetes shows them: `env | grep NCCL`, `export`, job scripts, /etc/nccl.conf, pods.

Documented in NCCL's user guide, "Environment Variables"; pods as in Kubernetes 1.2 to 1.36 (`env` of a container). Only lines that
hold nothing else count: advice and command lines that merely name a variable say nothing of what is set. Samples::

    NCCL_IB_HCA=mlx5_0,mlx5_1
    export NCCL_SOCKET_IFNAME="eth0"
    declare -x GLOO_SOCKET_IFNAME="bond0"
    {"name":"NCCL_SOCKET_IFNAME","value":"eth0"}                        (kubectl get -o json | jq -c)
          NCCL_SOCKET_IFNAME:  eth0                                     (kubectl describe pod, Environment)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "nccl"
LAYERS = ("framework",)
SIGNATURES = (r"^(?:export |declare -x )?(?:NCCL_[A-Z0-9_]+|GLOO_SOCKET_IFNAME)=\S*$",)
ANCHORS = (
    (
        r"(?:NCCL_IB_(?:HCA|DISABLE|GID_INDEX|TC|SL|PKEY)|NCCL_(?:SOCKET|OOB_NET)_IFNAME|GLOO_SOCKET_IFNAME|NCCL_NET_GDR_LEVEL|"
        r"NCCL_(?:P2P|SHM|NVLS)_(?:DISABLE|LEVEL|ENABLE)|NCCL_(?:TOPO|GRAPH)_FILE|NCCL_(?:NET|ALGO|PROTO))="
    ),
    r'"name": ?"(?:NCCL|GLOO)_[A-Z0-9_]+", ?"value": ?"',
    r"^ {2,}(?:NCCL|GLOO)_[A-Z0-9_]+: +\S+ *$",
)  # fmt: skip
HEADS = (r"^ *- name: [\"']?(?:NCCL|GLOO)_[A-Z0-9_]+[\"']? *$",)

_ASSIGNMENT = compile_later(
    r"^\s*(?:export\s+|declare -x )?(?P<code>(?:NCCL|GLOO)_[A-Z0-9_]+)=(?P<quote>[\"']?)(?P<value>[^\"'\s]*)(?P=quote)\s*$"
)
_POD = compile_later(r'"name": ?"(?P<code>(?:NCCL|GLOO)_[A-Z0-9_]+)", ?"value": ?"(?P<value>[^"]*)"')
_DESCRIBED = compile_later(r"^ {2,}(?P<code>(?:NCCL|GLOO)_[A-Z0-9_]+): +(?P<value>[^\s{<]\S*) *$")
_NAME = compile_later(r"^ *- name: [\"']?(?P<code>[A-Z0-9_]+)")
_VALUE = compile_later(r"^ +value: *(?P<quote>[\"']?)(?P<value>[^\"'\s]+)(?P=quote) *$")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield an `env` observation."""
    single = _ASSIGNMENT.match(line.text) or _DESCRIBED.match(line.raw)
    for match in [single] if single else _POD.finditer(line.text[:4000]):
        yield _observe(line, match["code"], match["value"])


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield what a container's `env` says in YAML, where the value stands on the next line."""
    number, head = reader.number, reader.next() or ""
    name, value = _NAME.match(head[:200]), _VALUE.match((reader.peek() or "")[:400])
    if name and value:
        line = peel(reader.input, number, f"{head.strip()} {(reader.peek() or '').strip()}")
        line.host = reader.node
        yield _observe(line, name["code"], value["value"])


def _observe(line: Line, code: str, value: str) -> Observation:
    return Observation(
        SOURCE, "env", line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        attributes={"value": value, "from": "environment"},
    )  # fmt: skip
