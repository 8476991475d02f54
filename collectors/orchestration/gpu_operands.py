"""Logs of what the GPU Operator runs on a node: driver container, driver manager, container toolkit, validator, MIG manager.

Driver container: the shell script `nvidia-driver` of NVIDIA/gpu-driver-container (418 to 595). NVIDIA/k8s-driver-manager (bash to
0.6, Go since), the toolkit's installer of NVIDIA/nvidia-container-toolkit (1.4 to 1.18) and nvidia-validator (operator 1.5 to 25.x)
write logrus; nvidia-mig-manager (NVIDIA/mig-parted 0.1 to 0.13) mixes a shell script with logrus. Samples::

    Starting installation of NVIDIA driver version 570.124.06 for Linux kernel version 5.15.0-134-generic
    time="2025-03-05T09:10:15Z" level=info msg="Could not unload NVIDIA driver kernel modules, driver is in use"
    time="2024-03-04T12:00:02Z" level=warning msg="Error signaling containerd, attempt 1/6: unable to dial: dial unix /run/..."
    time="2024-11-21T06:16:01Z" level=info msg="Error: error validating driver installation: error creating symlink creator: ..."
    Changing the 'nvidia.com/mig.config.state' node label to 'failed'
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import parse_iso
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "gpu-operator"
LAYERS = ("platform",)
_LABEL = r"(?:Getting c|C)urrent value of (?:the )?[\\'\"]*nvidia\.com/(?:gpu\.deploy\.|mig\.)"
SIGNATURES = (
    r"^DRIVER_ARCH is |^=+ NVIDIA Software Installer =+",
    (
        r"^(?:Starting installation of|Parsing kernel module parameters|Checking|Found|Installing|Compiling|Relinking|Signing|Unloading|"
        r"Loading|Mounting|Unmounting|Starting|Stopping) NVIDIA (?:driver|persistence|fabric|Peer Memory|topology|grid)"
    ),
    r"^(?:Resolving|Proceeding with|Installing|Generating) Linux kernel (?:version|headers|module)|^Done, now waiting for signal",
    r"^(?:Updating the package cache|Parsing kernel module parameters|Loading ipmi and i2c_core kernel modules)\.\.\.",
    _LABEL,
    r"GPU (?:operator components|clients on the current node|client pods)|NVIDIA driver kernel modules|k8s-driver-manager",
    r"msg=\"?(?:Starting nvidia-toolkit|Parsing arguments|Verifying Flags|Initializing|Installing NVIDIA container|Setting up runtime)",
    r"msg=\"(?:Starting|Completed) '(?:setup|cleanup)' for |msg=\"(?:Sending SIGHUP signal to|Error signaling|Successfully signaled) ",
    r"^WITH_SHUTDOWN_HOST_GPU_CLIENTS=|^(?:IS_HOST_DRIVER|DRIVER_ROOT(?:_CTR_PATH)?|NVIDIA_DRIVER_ROOT)=|^Starting nvidia-mig-manager",
    r"msg=\"(?:Waiting for change to 'nvidia\.com/mig\.config'|(?:Successfully )?[Uu]pdat(?:ing|ed) to MIG config)|selected MIG config",
    r"msg=\"(?:Parsing config file|Selecting specific MIG config|Asserting MIG|Walking MigConfig|Running (?:apply|pre-apply)-)",
    r"Attempting to validate a (?:pre-installed driver|driver container)|Error: error validating [\w -]+ (?:installation|workload)",
    r"^running command \S+ with args \[|^command failed, retrying after|nvidia-(?:cuda|device-plugin)-validator",
    r"^waiting for (?:nvidia|mofed|mellanox|nvidia-fs|gdrcopy)|GPU resources are not yet discovered|^toolkit is not ready",
)
ANCHORS = (
    r"Starting installation of NVIDIA driver",
    r"Done, now waiting for signal",
    r"Could not unload NVIDIA driver kernel modules",
    r"Error signaling (?:containerd|docker|cri-?o)",
    r"error validating [\w -]+ (?:installation|workload|devices)",
    r"'nvidia\.com/mig\.config\.state' node label to",
)
_INSTALL = compile_later(
    r"Starting installation of NVIDIA driver (?:version|branch) (?P<version>[\d.]+) for Linux kernel version (?P<kernel>\S+)"
)
_SIGNAL = compile_later(
    r"Error signaling (?P<runtime>containerd|docker|cri-?o), attempt (?P<attempt>\d+)/(?P<most>\d+): (?P<error>.*)"
)
_VALIDATION = compile_later(
    r"error validating (?P<part>[\w -]+?)(?: driver)? (?:installation|workload|devices):? ?(?P<error>.*)"
)
_MIG = compile_later(r"'nvidia\.com/mig\.config\.state' node label to \\?['\"](?P<state>\w+)")
_TIME = compile_later(r'^time="?(?P<time>[^" ]+)')


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `driver-install` (code = version, attribute kernel), `driver-ready`, `driver-unload` (code in-use), `runtime-signal`
    (code = the runtime that could not be told to read its configuration anew), `validation-failed` (code = driver, toolkit,
    cuda, plugin, ...) and `mig-state` (code = the state)."""
    text = line.text
    if line.time is None and (stamp := _TIME.match(text[:80])):
        line.time = parse_iso(stamp["time"])
    if "Done, now waiting for signal" in text:
        yield _observe(line, "driver-ready", "", {})
    elif "Could not unload NVIDIA driver" in text:
        yield _observe(line, "driver-unload", "in-use", {})
    elif match := _INSTALL.search(text):
        yield _observe(
            line, "driver-install", match["version"], {"version": match["version"], "kernel": match["kernel"]}
        )
    elif match := _SIGNAL.search(text):
        yield _observe(
            line, "runtime-signal", match["runtime"], {name: value[:400] for name, value in match.groupdict().items()}
        )
    elif match := _VALIDATION.search(text):
        yield _observe(line, "validation-failed", match["part"].lower(), {"error": match["error"][:400]})
    elif match := _MIG.search(text):
        yield _observe(line, "mig-state", match["state"], {})


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        attributes=attributes,
    )  # fmt: skip
