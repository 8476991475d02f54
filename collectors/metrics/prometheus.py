"""Metrics in the Prometheus text format: scrapes of dcgm-exporter and of anything else that speaks it.

Format: Prometheus exposition formats (text 0.0.4) and OpenMetrics; dcgm-exporter 2.x to 4.x (labels `gpu`, `UUID`,
`pci_bus_id`, `Hostname`; blank fields are written as very large numbers). When Prometheus has scraped an exporter without
`honor_labels`, the workload stands in `exported_pod` and `pod` is the exporter's own, so `exported_*` goes first. Sample::

    # TYPE DCGM_FI_DEV_GPU_UTIL gauge
    DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-00000000-0000-4000-8000-000000000001",pci_bus_id="00000000:3B:00.0",Hostname="node-a"} 97
    vllm:num_requests_waiting{model_name="m"} 12 1764547200000
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_node, normalise_pci
from collectors.observation import Record, Relation, Sample
from collectors.regex import compile_later

SOURCE = "metrics"
LAYERS = ("hardware", "application")
SIGNATURES = (
    r"^# (?:HELP|TYPE) [A-Za-z_:]",
    r"^[A-Za-z_:][\w:]*\{[A-Za-z_]\w*=\"[^\n]*\} [-+0-9.eEnNaAiIfF]+(?: \d+)?\s*$",
)
HEADS = (
    r"^# (?:HELP|TYPE) [A-Za-z_:][\w:]* ",
    r"^[A-Za-z_:][\w:]*\{[A-Za-z_]\w*=\"",
    r"^[A-Za-z_:][\w:]* [-+]?\d[\d.eE+-]* \d{13}\s*$",
)  # fmt: skip

_SAMPLE = compile_later(
    r"^(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>(?:[^\"}]|\"(?:\\.|[^\"\\])*\")*)\})? +"
    r"(?P<value>[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[Nn]a[Nn]|[Ii]nf)) *(?P<time>-?\d{1,19}(?:\.\d{1,9})?)?(?: *#.*)?\s*$"
)
_LABEL = compile_later(r'([A-Za-z_]\w*)="((?:\\.|[^"\\])*)"')
_ESCAPE = compile_later(r"\\(.)")
_BLANKS = frozenset({2147483632, 2147483633, 2147483634, 2147483635, 2147483647, 4294967295})
_BLANK_FROM = 9.2e18  # DCGM's 64-bit blanks begin at 9223372036854775792
_HOST_LABELS = (
    "Hostname",
    "hostname",
    "exported_node",
    "node",
    "kubernetes_node",
    "node_name",
    "nodename",
    "host",
    "instance",
)
_NIC_METRICS = compile_later(r"^(?:node_infiniband|node_network|hca|rdma|mlx|infiniband|node_ethtool)_")
_MOST = 200000


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `Sample` for each series (no histogram buckets), and how GPUs and pods in the labels are related."""
    related: set[tuple[str, str, str]] = set()
    place = reader.place()
    for number, text in reader.lines(_MOST):
        if text.startswith("#") or not text.strip():
            place = reader.place()
            continue
        match = _SAMPLE.match(text) if len(text) < 8192 else None
        if match is None:
            break
        place = reader.place()
        yield from _read_sample(reader.input, number, match, related)
    reader.back(place)


def read_series(name: str, line: int, text: str, related: set[tuple[str, str, str]]) -> Iterator[Record]:
    """Yield the sample and the relations of one line of the text format, for sources that print series in another way."""
    match = _SAMPLE.match(text)
    if match is not None:
        yield from _read_sample(name, line, match, related)


def _read_sample(name: str, line: int, match: re.Match[str], related: set[tuple[str, str, str]]) -> Iterator[Record]:
    metric = match["name"]
    value = float(match["value"])
    if metric.endswith("_bucket") or not math.isfinite(value) or _is_blank(metric, value):
        return
    labels = {
        key: _ESCAPE.sub(lambda one: "\n" if one[1] == "n" else one[1], text)
        for key, text in _LABEL.findall(match["labels"] or "")
    }
    node = _node_of(labels)
    own = {
        key: labels.get(f"exported_{key}", labels.get(key, ""))
        for key in ("pod", "namespace", "container", "gpu", "UUID", "uuid")
    }
    gpu, names = _gpu_of(metric, labels, own)
    if own["pod"]:
        labels["pod"] = own["pod"]
    for other in names:
        if other != gpu and (node, gpu, other) not in related:
            related.add((node, gpu, other))
            yield Relation(gpu, other, "same", name, line, node)
    pod = f"pod:{own['pod']}" if own["pod"] and (gpu or "exported_pod" in labels or "pod" in labels) else ""
    if gpu and pod and (node, pod, gpu) not in related:
        related.add((node, pod, gpu))
        yield Relation(pod, gpu, "uses", name, line, node)
    entity = gpu
    if not entity and _NIC_METRICS.match(metric) and labels.get("device"):
        entity = f"nic:{labels['device']}"
    yield Sample(SOURCE, metric, value, name, line, _time_of(match["time"]), node, entity or pod, labels)


def _is_blank(metric: str, value: float) -> bool:
    return value >= _BLANK_FROM or (metric.startswith("DCGM_") and value in _BLANKS)


def _time_of(text: str | None) -> float | None:
    """Milliseconds in the Prometheus format, seconds in OpenMetrics."""
    if not text:
        return None
    number = float(text)
    return number / 1000 if number > 1e11 else number if number > 1e8 else None


def _node_of(labels: dict[str, str]) -> str:
    for key in _HOST_LABELS:
        text = labels.get(key, "")
        if key == "instance":
            text = text.rpartition(":")[0] or text
        if text and "/" not in text and text not in ("localhost", "127.0.0.1"):
            return normalise_node(text)
    return ""


def _gpu_of(metric: str, labels: dict[str, str], own: dict[str, str]) -> tuple[str, list[str]]:
    """Return the GPU's best name and all its names."""
    names = []
    pci = normalise_pci(labels.get("pci_bus_id", labels.get("pci_bus", "")))
    if pci:
        names.append(f"gpu:{pci}")
    uuid = own["UUID"] or own["uuid"]
    if uuid.startswith("GPU-"):
        names.append(f"gpu:{uuid}")
    index = own["gpu"]
    if not index and re.match(r"(?:DCGM_|nvidia_|gpu_)", metric):
        index = labels.get("device", "").removeprefix("nvidia")
    if index.isdigit():  # dcgm-exporter's labels `gpu` and `device` are DCGM's numbers, which need not be nvidia-smi's
        names.append(f"gpu:dcgm-{index}" if metric.startswith("DCGM_") else f"gpu:{index}")
    return (names[0] if names else ""), names
