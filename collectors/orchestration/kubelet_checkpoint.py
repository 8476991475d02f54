"""The kubelet's own record of devices, `/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint`: who holds which GPU.

Written as one line of JSON by the device manager (since Kubernetes 1.9; `DeviceIDs` is a list, since 1.20 a map by NUMA node), and
pasted whole, through `jq` or `json.tool`, or as the lines that a grep left. One device in the entries of two pods means that it was
given away twice. Samples::

    {"Data":{"PodDeviceEntries":[{"PodUID":"368e63c4-...","ContainerName":"notebook","ResourceName":"nvidia.com/gpu","DeviceIDs":
            {"-1":["GPU-72cbf723-9f70-7d49-a6bb-626fcb3f8c30"]},"AllocResp":"CkI..."}],"RegisteredDevices":{...}},"Checksum":3364951114}
                    "GPU-72cbf723-9f70-7d49-a6bb-626fcb3f8c30"
                "PodUID": "368e63c4-2d97-11e9-8954-505dac4a7d28",
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "kubelet"
LAYERS: tuple[str, ...] = ()
SIGNATURES = (r'"PodDeviceEntries": ?\[',)
HEADS = (r'"PodDeviceEntries": ?\[', r'^\s*"(?:ContainerName|PodUID)": ?"[^"]+",?\s*$')

_TOKEN = compile_later(
    r'"(?P<key>PodUID|ContainerName|ResourceName)": ?"(?P<value>[^"]{1,200})"|"(?P<device>(?:GPU|MIG)-[0-9a-f-]{36})"'
    r'|"(?P<end>RegisteredDevices)"'
)
_LAYOUT = compile_later(r'^\s*(?:[\[\]{}(),:]*|"[^"]*"(?::.*|,)?)\s*$')
_MOST_LINES = 20_000


@dataclass
class _Entry:
    values: dict[str, str] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `kubelet-devices`, code `twice`, for a device in the entries of two pods (attributes uuid, pod_uid, other_pod)."""
    holders: dict[str, str] = {}
    for entry in _read_entries(reader):
        pod = entry.values.get("PodUID")
        if not pod:
            continue
        for device in entry.devices:
            other = holders.setdefault(device, pod)
            if other != pod:
                yield Observation(
                    SOURCE, "kubelet-devices", reader.input, entry.lines[0][0], entry.lines[-1][0],
                    "\n".join(text.strip()[:300] for _, text in entry.lines), code="twice", entity=f"gpu:{device}",
                    node=reader.node, attributes={"uuid": device, "pod_uid": pod, "other_pod": other},
                )  # fmt: skip


def _read_entries(reader: Reader) -> Iterator[_Entry]:
    """Cut what is left of the file into entries: a new one begins where a key comes again."""
    entry, place = _Entry(), reader.place()
    for number, text in reader.lines(_MOST_LINES):
        compact = '"PodDeviceEntries"' in text
        if not compact and not _LAYOUT.match(text):
            reader.back(place)
            break
        place = reader.place()
        for match in _TOKEN.finditer(text):
            if match["end"]:
                yield entry
                return
            if match["key"] and match["key"] in entry.values:
                yield entry
                entry = _Entry()
            if match["key"]:
                entry.values[match["key"]] = match["value"]
            else:
                entry.devices.append(match["device"])
            piece = match[0] if compact else text
            if not entry.lines or entry.lines[-1] != (number, piece):
                entry.lines.append((number, piece))
    yield entry
