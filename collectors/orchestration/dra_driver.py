"""NVIDIA's DRA driver for GPUs and compute domains (kubelet plugins, controller, IMEX daemons): claims that it could not prepare.

kubernetes-sigs/dra-driver-nvidia-gpu (NVIDIA/k8s-dra-driver-gpu) 0.1 to 26.x, klog (cmd/*/driver.go, device_state.go, nvlib.go).
Samples::

    I0724 14:15:05.531615       1 nvlib.go:255] Adding device gpu-0 to allocatable devices
    I0724 14:15:05.722648       1 nonblockinggrpcserver.go:90] "GRPC server started" logger="dra" endpoint="/var/lib/.../dra.sock"
    I0523 22:44:58.336698       1 workqueue.go:171] Reconcile: error preparing devices for claim 'ml/a-gpu:4914da61-...': ... (attempt 1)
    E1205 20:27:39.194697       1 nonblockinggrpcserver.go:127] "dra: handling request failed" err="error preparing devices for claim ..."
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "dra-driver"
LAYERS = ("platform",)
SIGNATURES = (
    r"nvlib\.go:\d+\] |Adding device gpu-\d+\S* to allocatable devices|About to announce device gpu-",
    r"nonblockinggrpcserver\.go:\d+\]|resourceslicecontroller\.go:\d+\]|draplugin\.go:\d+\]",
    r"NodePrepareResources? is called|Returning newly prepared devices for claim|error (?:un)?preparing devices for claim",
    r"(?:compute-domain|gpu)\.nvidia\.com/dra\.sock|ComputeDomain(?:Clique|Manager|StatusManager)?\b.{0,40}(?:sync|manager|insert|status)",
    r"Verbosity: \d+$|^Feature gates: map\[string\]bool\{.*IMEXDaemons",
)
ANCHORS = (r"error preparing devices for claim",)
_FAILED = compile_later(
    r"error preparing devices for claim '?(?:(?P<namespace>[a-z0-9-]+)/(?P<claim>[a-z0-9.-]+):)?(?P<uid>[0-9a-f-]{36})?'?: "
    r"(?P<error>.*?)(?: \(attempt (?P<attempt>\d+)\))?\"?(?: requestID=.*)?$"
)


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `claim-failed`: code = domain (a compute domain is not ready yet), mig, or other; attributes claim, error, attempt."""
    match = _FAILED.search(line.text)
    if not match:
        return
    found = {name: value[:400] for name, value in match.groupdict().items() if value}
    error = found.get("error", "")
    code = "domain" if "ComputeDomain" in error else "mig" if "MIG" in error else "other"
    yield Observation(
        SOURCE, "claim-failed", line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        attributes=found,
    )  # fmt: skip
