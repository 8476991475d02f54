"""Container runtimes: containerd, dockerd and CRI-O in logrus text, alone or behind journald with escaped quotes; runc.

Format: logrus `time="..." level=error msg="..." error="..."`. Samples::

    Apr 18 13:01:48 node-b containerd[1201]: time="2024-04-18T13:01:48Z" level=error msg="StopPodSandbox for \\"a0\\" failed" error="..."
    time="2025-01-02T03:04:05Z" level=error msg="PullImage \\"registry.example.com/a:1\\" failed" error="failed to pull ..."
    time="2025-01-02T03:04:05Z" level=error msg="Handler for POST /v1.41/containers/create returned error: ..."
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import parse_iso
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "container-runtime"
LAYERS = ("runtime", "node")
SIGNATURES = (
    r"\b(?:containerd|dockerd|crio|cri-o|docker)(?:\[\d+\])?: ",
    (
        r"^time=\"[^\"]+\" level=\w+ msg=\"(?:RunPodSandbox|StopPodSandbox|PullImage|CreateContainer|StartContainer|loading plugin|"
        r"starting containerd|shim disconnected|cleaning up|API listen|Handler for|runc |OCI runtime|container_linux\.go)"
    ),
    r"^nvidia-container-(?:cli|runtime)[\w.-]*: |^(?:runc|crun|OCI runtime) (?:run|create|exec|start)[\w ]* failed",
)
ANCHORS = (r"level=(?:error|fatal|panic) msg=", r"level=\"?(?:error|fatal)\"? msg=")
_FIELD = compile_later(r'(?P<name>\w+)=(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>\S+))')
_CALL = compile_later(
    r"(?P<call>RunPodSandbox|StopPodSandbox|RemovePodSandbox|CreateContainer|StartContainer|StopContainer|RemoveContainer|"
    r"PullImage|ExecSync|ContainerStatus|ListContainerStats|PodSandboxStatus)\b"
)
_POD = compile_later(r"PodSandboxMetadata\{Name:(?P<pod>[a-z0-9.-]+),Uid:[\w-]*,Namespace:(?P<namespace>[a-z0-9-]+),")
_PROGRAMS = ("containerd", "dockerd", "docker", "crio", "cri-o")


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `runtime-error`: code = the CRI call that failed ("" when none is named), attributes msg, error, pod."""
    fields = {
        match["name"]: match["bare"] if match["bare"] is not None else match["quoted"].replace('\\"', '"')
        for match in _FIELD.finditer(line.text[:8000])
    }
    message = fields.get("msg", "")
    call = _CALL.search(message)
    if not call and line.program.partition("[")[0] not in _PROGRAMS:
        return
    if line.time is None:
        line.time = parse_iso(fields.get("time", ""))
    attributes = {"msg": message[:1000], "error": fields.get("error", "")[:2000]}
    pod = _POD.search(message)
    if pod:
        attributes["pod"] = f"{pod['namespace']}/{pod['pod']}"
    yield Observation(
        SOURCE, "runtime-error", line.input, line.number, line.number, line.text, code=call["call"] if call else "",
        time=line.time, node=line.host, entity=f"pod:{attributes['pod']}" if pod else "", attributes=attributes,
    )  # fmt: skip
