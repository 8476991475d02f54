"""The log of NVIDIA's GPU Operator (the controller `gpu-operator`): which states of the cluster policy are not ready.

Versions 1.0 to 25.x (controllers/clusterpolicy_controller.go, state_manager.go of NVIDIA/gpu-operator): zap as JSON, with an epoch
or an ISO time, or as text parted by tabs (1.6 to 22.x). Samples::

    {"level":"info","ts":1741165858.6,"logger":"controllers.ClusterPolicy","msg":"ClusterPolicy step completed","state:":...}
    {"level":"error","ts":1741165859.0,"logger":"controllers.ClusterPolicy","msg":"ClusterPolicy is not ready, states ..."}
    2022-04-07T01:11:24.472Z	INFO	controllers.ClusterPolicy	ClusterPolicy isn't ready	{"states not ready": [...]}
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import parse_epoch, parse_iso
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "gpu-operator"
LAYERS = ("platform",)
_LOGGERS = r"(?:controller_clusterpolicy|controllers?\.(?:ClusterPolicy|Upgrade|NVIDIADriver|NodeLabeling|GPUCluster))"
SIGNATURES = (
    rf'"logger":"{_LOGGERS}"',
    rf"\t(?:INFO|ERROR|DEBUG|WARN)\t{_LOGGERS}\t",
    rf"(?:INFO|ERROR|DEBUG|WARN)\s+{_LOGGERS}\s",
    r'"controller":"(?:clusterpolicy|nvidia-driver|nvidiadriver|upgrade)-controller"',
)
ANCHORS = (
    r"states not ready",
    r"ClusterPolicy is ready",
    r'"state:?": ?"[\w-]+", ?"status": ?"notReady"',
    r'"state:?": ?"state-device-plugin", ?"status": ?"disabled"',
    r"Number of nodes with GPU label",
    r"Could not find NFD labels? for node",
)
_STATES = compile_later(r"states not ready\"?: ?\[(?P<states>[^\]]*)\]")
_STEP = compile_later(r'"state:?": ?"(?P<state>[\w-]+)", ?"status": ?"(?P<status>notReady|disabled)"')
_NODES = compile_later(r'"NodeCount": ?(?P<count>\d+)')
_UNLABELLED = compile_later(r'Could not find NFD labels? for node.*?"Node": ?"(?P<node>[\w.-]+)"')
_STAMP = compile_later(r'"ts": ?"?(?P<stamp>[\d.:TZ+-]+)')


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield what the operator says of its states and nodes.

    `operator-state` (code = the state; in a summary the first of them, which the others wait for, or ready; attribute states),
    `operator-disabled` (code = the state that the cluster policy switches off), `operator-nodes` (code = none or some) and
    `operator-unlabelled` (code = the node that has no feature labels).
    """
    text = line.text
    if line.time is None and (stamp := _STAMP.search(text[:200])):
        line.time = parse_iso(stamp["stamp"]) if "-" in stamp["stamp"] else parse_epoch(stamp["stamp"])
    match = _STATES.search(text)
    if match:
        states = match["states"].replace('"', "").replace(",", " ").split()
        if states:
            yield _observe(line, "operator-state", states[0], {"states": " ".join(states), "summary": "yes"})
        return
    if "ClusterPolicy is ready" in text:
        yield _observe(line, "operator-state", "ready", {"summary": "yes"})
        return
    match = _STEP.search(text)
    if match and match["status"] == "disabled":
        yield _observe(line, "operator-disabled", match["state"], {})
        return
    if match:
        yield _observe(line, "operator-state", match["state"], {"summary": "no"})
        return
    match = _NODES.search(text)
    if match:
        yield _observe(
            line, "operator-nodes", "some" if int(match["count"][:18]) else "none", {"count": match["count"]}
        )
        return
    match = _UNLABELLED.search(text)
    if match:
        yield _observe(line, "operator-unlabelled", match["node"], {"node": match["node"]})


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time,
        node=attributes.get("node", line.host), attributes=attributes,
    )  # fmt: skip
