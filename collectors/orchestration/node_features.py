"""Node Feature Discovery (NFD): worker, master, topology updater and garbage collector. Its labels tell the GPU Operator where
GPUs are.

kubernetes-sigs/node-feature-discovery 0.4 to 0.18 (pkg/nfd-worker, pkg/nfd-master, ...): plain `log` lines to 0.7, klog text to 0.13,
structured klog since 0.14; the worker spoke gRPC to the master up to 0.16. Samples::

    2021/03/29 08:08:05 Node Feature Discovery Worker v0.7.0
    I1107 21:59:22.763586       1 base.go:126] connecting to nfd-master at gpu-operator-node-feature-discovery-master:8080 ...
    E0730 15:09:42.000142       1 nfd-master.go:722] "failed to update node" err="nodes \\"node-b\\" is forbidden: ..." nodeName="node-b"
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.identity import normalise_node
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "node-feature-discovery"
LAYERS = ("platform",)
SIGNATURES = (
    r"Node Feature Discovery (?:Worker|Master|Topology Updater|Garbage Collector|Operator)",
    r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (?:nfd-[\w-]+|updater-pool|namespace-lister|topology-updater)\.go:\d+\]",
    r"\] \[core\](?:parsed scheme|scheme|ccResolverWrapper|ClientConn|Channel|Subchannel|pickfirst|grpc|blockingPicker)",
    r"connecting to nfd-master at |\"feature discovery completed\"|\"starting feature discovery\.\.\.\"|labeling request for node",
)
ANCHORS = (
    r"failed to connect to \{\S*(?:nfd-master|node-feature-discovery-master)",
    r"rror while dialing[^\n]{0,80}(?:nfd-master|node-feature-discovery-master)",
    r'"failed to (?:update node|get NodeFeature|list NodeFeature|create NodeFeature|delete NodeFeature)',
    r'"node update failed, queuing for retry',
    r"failed to (?:list|watch) \*v1alpha1\.NodeFeature",
)
_LOST = compile_later(
    r"(?:failed to connect to \{|rror while dialing)[^\n]{0,400}?"
    r"(?P<error>no such host|connection refused|i/o timeout|context deadline exceeded|no route to host|certificate|$)"
)
_FAILED = compile_later(
    r'"(?:failed to (?P<what>update node|\w+ NodeFeature)|node update failed)[^"]*" err="(?P<error>(?:[^"\\]|\\.)*)"'
)
_LIST = compile_later(r"failed to (?:list|watch) \*v1alpha1\.(?P<what>NodeFeature\w*): (?P<error>.{0,300})")
_NODE = compile_later(r'nodeName="(?P<node>[\w.-]+)"')


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `nfd` observations: code master-lost (the worker cannot reach the master) or update-failed (labels cannot be written
    or read), attribute error."""
    match = _FAILED.search(line.text) or _LIST.search(line.text)
    code = "update-failed" if match else "master-lost"
    match = match or _LOST.search(line.text)
    if not match:
        return
    named = _NODE.search(line.text)
    yield Observation(
        SOURCE, "nfd", line.input, line.number, line.number, line.text, code=code, time=line.time,
        node=normalise_node(named["node"]) if named else line.host, attributes={"error": match["error"].replace('\\"', '"')[:300]},
    )  # fmt: skip
