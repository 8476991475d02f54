"""NVIDIA's device plugin for Kubernetes and its GPU feature discovery: what they offer the kubelet, and what they withdraw.

NVIDIA/k8s-device-plugin 1.0 and 0.1 to 0.19 (cmd/nvidia-device-plugin, internal/plugin, internal/rm/health.go): plain `log` lines to
0.12, klog since. gpu-feature-discovery 0.2 to 0.8 stood alone and put its name in front. Samples::

    2020/08/10 02:03:04 Failed to initialize NVML: could not load NVML library.
    I0402 20:02:42.105220       1 server.go:125] Registered device plugin for 'nvidia.com/gpu' with Kubelet
    I0403 03:12:09.000320       1 server.go:245] 'nvidia.com/gpu' device marked unhealthy: GPU-11111111-2222-3333-4444-555555555506
    I0403 04:00:00.000320       1 main.go:203] inotify: /var/lib/kubelet/device-plugins/kubelet.sock created, restarting.
    gpu-feature-discovery: 2021/05/11 09:16:12 Running gpu-feature-discovery in version v0.4.1
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "gpu-device-plugin"
LAYERS = ("platform",)
_KLOG = r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ "
SIGNATURES = (
    r"(?:Starting (?:GRPC server for|to serve)|Registered device plugin for) '(?:nvidia\.com|\S+/)\S*'",
    r"(?:Starting (?:FS|OS) watcher|Retrei?v?ing plugins|Retrieving plugins|Starting Plugins|Fetching devices|Loading NVML)\.?$",
    r"Updating config with default resource matching patterns|NVIDIA/k8s-device-plugin#|for health checks: (?:map)?\[",
    r"No devices found\. Waiting indefinitely|'[\w./-]+' device marked unhealthy|XidCriticalError: Xid=\d+ on Device=",
    r"inotify: /var/lib/kubelet/device-plugins/kubelet\.sock created|Detected (?:non-)?(?:NVML|Tegra) platform",
    r"^gpu-feature-discovery: |Starting gpu-feature-discovery|Writing labels to output file|Using (?:NVML|CUDA|Vfio|empty) manager",
    rf"^{_KLOG}main\.go:\d+\] (?:Creating Labels|Start running|Sleeping for \d+)",
    r"(?:creating|no changes in|Updating|created) NodeFeature object nvidia-features-for-",
)
ANCHORS = (
    r"Registered device plugin for '",
    r"device-plugins/kubelet\.sock created, restarting",
    r"No devices found\. Waiting indefinitely",
    r"Failed to initialize NVML: ",
    r"'[\w./-]+' device marked (?:un)?healthy: ",
    r"Marking all devices as unhealthy",
    r"Could not register device plugin",
)
_FORMS: tuple[tuple[str, str], ...] = (
    ("registered", r"Registered device plugin for '(?P<resource>[^']+)'"),
    ("kubelet-restart", r"inotify: \S+ created, restarting"),
    ("no-devices", r"No devices found\. Waiting indefinitely"),
    ("nvml-failed", r"Failed to initialize NVML: (?P<error>[^\n]{1,120})"),
    ("unhealthy", r"'(?P<resource>[\w./-]+)' device marked unhealthy: (?P<device>[\w-]+)"),
    ("healthy", r"'(?P<resource>[\w./-]+)' device marked healthy: (?P<device>[\w-]+)"),
    ("all-unhealthy", r"(?P<error>.{0,200})Marking all devices as unhealthy"),
    ("register-failed", r"Could not register device plugin: (?P<error>.{1,200})"),
)
_COMPILED = tuple((code, compile_later(regex)) for code, regex in _FORMS)


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `plugin` observations: code registered, kubelet-restart, no-devices, nvml-failed, unhealthy, healthy, all-unhealthy
    or register-failed; the GPU is the entity where a full one is named (MIG devices have ids of their own)."""
    for code, regex in _COMPILED:
        match = regex.search(line.text)
        if not match:
            continue
        if code == "nvml-failed" and line.source and line.source != SOURCE:  # nvidia-smi and others say the same
            return
        found = {name: value.strip() for name, value in match.groupdict().items() if value}
        device = found.get("device", "")
        yield Observation(
            SOURCE, "plugin", line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
            entity=f"gpu:{device}" if device.startswith("GPU-") else f"mig_instance:{device}" if device.startswith("MIG-") else "",
            attributes=found,
        )  # fmt: skip
        return
