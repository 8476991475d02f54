"""The kubelet's log: klog text (old printf style and structured), klog JSON, alone or behind journald.

Format: k8s.io/klog `Lmmdd hh:mm:ss.uuuuuu threadid file:line] msg`; structured messages since Kubernetes 1.21
(`"Error syncing pod, skipping" err="..." pod="ns/name"`). Samples::

    Jun 04 15:51:53 node-c kubelet[15]: E0604 15:51:53.763537   15 pod_workers.go:190] Error syncing pod 5b ("web_ml(5b)"), skipping: ...
    E0722 06:50:11.841765    2210 pod_workers.go:1301] "Error syncing pod, skipping" err="..." pod="ml/web-0" podUID="..."
    {"ts":1753141980841.6128,"caller":"kubelet/kubelet.go:2406","msg":"Skipping pod synchronization","err":"..."}
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import parse_epoch
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "kubelet"
LAYERS = ("node", "platform", "runtime")
SIGNATURES = (
    r"\bkubelet(?:\[\d+\])?: ",
    (
        r"^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (?:kubelet\w*|pod_workers|kuberuntime_\w+|remote_\w+|reconciler\w*|operation_generator|"
        r"nestedpendingoperations|eviction_manager|pleg|generic|kubelet_node_status|reflector|cni|prober|image_gc_manager|"
        r"status_manager|container_manager_linux|csi_\w+)\.go:\d+\]"
    ),
    r"\"caller\":\"(?:kubelet|kuberuntime|pleg|eviction|status|prober|devicemanager|certificate|nodestatus|container)/\w+\.go",
)
ANCHORS = (
    r"Error syncing pod",
    r"SyncLoop (?:ADD|\(ADD)",
    r"Starting kubelet main sync loop",
    r"as it just became ready",
    r"Skipping pod synchronization",
    r"skipping pod synchronization",
)
_POD_OLD = r"(?P<pod>[a-z0-9][a-z0-9.-]*)_(?P<namespace>[a-z0-9-]+)\([0-9a-f-]+\)"
_OLD = compile_later(rf'Error syncing pod \S+ \("{_POD_OLD}"\), skipping: (?P<error>.*)')
_NEW = compile_later(
    r'"Error syncing pod, skipping" err="(?P<error>.*)" pod="(?P<namespace>[a-z0-9-]+)/(?P<pod>[a-z0-9.-]+)"'
)
_REASON = compile_later(r"with (?P<reason>[A-Z]\w+): ")
_EPOCH = compile_later(r'"ts":(\d+(?:\.\d+)?)')


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `pod-error` (code = the reason, such as CrashLoopBackOff), `kubelet-start` and `node-ready`."""
    text = line.text
    if line.time is None:
        stamp = _EPOCH.search(text[:120])
        line.time = parse_epoch(stamp[1]) if stamp else None
    match = _OLD.search(text) or _NEW.search(text)
    if match:
        reason = _REASON.search(match["error"])
        attributes = {name: match[name][:1000] for name in ("pod", "namespace", "error")}
        yield _observe(
            line,
            "pod-error",
            reason["reason"] if reason else "",
            f"pod:{match['namespace']}/{match['pod']}",
            attributes,
        )
        if line.host:
            yield Relation(
                f"pod:{match['namespace']}/{match['pod']}", f"node:{line.host}", "on", line.input, line.number
            )
    elif "Starting kubelet main sync loop" in text:
        yield _observe(line, "kubelet-start", "", "", {})
    elif "as it just became ready" in text:
        yield _observe(line, "node-ready", "", "", {})


def _observe(line: Line, kind: str, code: str, entity: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host, entity=entity,
        attributes=attributes,
    )  # fmt: skip
