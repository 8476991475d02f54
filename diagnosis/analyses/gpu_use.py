"""How busy each GPU is, whatever told it: DCGM, other exporters, nvidia-smi's table, `-q` or CSV.

Derives one `gpu-use` observation for each GPU of an input with `utilization` (percent, the median of a series), and where known
`memory_mib`, `memory_share` and `sm_active` (0 to 1).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts, observe_sample

# metric -> (attribute, factor)
_METRICS = {
    "DCGM_FI_DEV_GPU_UTIL": ("utilization", 1.0),
    "dcgm_gpu_utilization": ("utilization", 1.0),
    "dcgm_fi_dev_gpu_util": ("utilization", 1.0),
    "nvidia_smi_utilization_gpu_ratio": ("utilization", 100.0),
    "nvidia_gpu_duty_cycle": ("utilization", 1.0),
    "gpu_utilization": ("utilization", 1.0),
    "utilization_gpu": ("utilization", 1.0),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("engine_active", 1.0),
    "DCGM_FI_PROF_SM_ACTIVE": ("sm_active", 1.0),
    "DCGM_FI_DEV_FB_USED": ("memory_mib", 1.0),
    "DCGM_FI_DEV_FB_FREE": ("memory_free_mib", 1.0),
    "dcgm_fb_used": ("memory_mib", 1.0),
    "nvidia_smi_memory_used_bytes": ("memory_mib", 1.0 / 2**20),
}
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_Key = tuple[str, str, str]  # input, node, GPU


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `gpu-use` observations, citing the lines that say so."""
    values: dict[_Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    cited: dict[_Key, dict[str, Observation]] = defaultdict(dict)
    for metric, (name, factor) in _METRICS.items():
        for sample in facts.by_metric.get(metric, ()):
            if sample.entity.startswith("gpu:"):
                key = (sample.input, sample.node, facts.resolver.resolve(sample.entity, sample.node))
                values[key][name].append(sample.value * factor)
                cited[key][name] = observe_sample(sample)
    for one in (*facts.by_kind.get("gpu_row", ()), *facts.by_kind.get("field", ())):
        for name, text in _read(one):
            number = _NUMBER.match(text)
            if number and one.entity.startswith("gpu:"):
                key = (one.input, one.node, facts.resolver.resolve(one.entity, one.node))
                values[key][name].append(float(number[0]))
                cited[key][name] = one
    for key in sorted(values):
        names = {name: median(found) for name, found in values[key].items()}
        if "utilization" not in names and "engine_active" in names:
            names["utilization"] = 100.0 * names["engine_active"]
        if "utilization" not in names:
            continue
        total = names.get("memory_total_mib") or names.get("memory_mib", 0.0) + names.get("memory_free_mib", 0.0)
        if "memory_mib" in names and total > names["memory_mib"]:
            names["memory_share"] = names["memory_mib"] / total
        name = "utilization" if "utilization" in cited[key] else "engine_active"
        lines = [cited[key][name], *(line for other, line in sorted(cited[key].items()) if other == "sm_active")]
        yield _make(key, names, lines[0]), lines


def _read(one: Observation) -> Iterator[tuple[str, str]]:
    if one.kind == "gpu_row":
        yield "utilization", one.attributes.get("util", "")
        yield "memory_mib", one.attributes.get("used", "")
        yield "memory_total_mib", one.attributes.get("total", "")
    elif one.attributes.get("section") == "FB Memory Usage" and one.code in ("Used", "Total"):
        yield "memory_mib" if one.code == "Used" else "memory_total_mib", one.attributes.get("value", "")
    elif one.code.lower() == "gpu" and one.attributes.get("section") == "Utilization":
        yield "utilization", one.attributes.get("value", "")


def _make(key: _Key, names: dict[str, float], line: Observation) -> Observation:
    attributes = {name: f"{value:.6g}" for name, value in sorted(names.items())}
    for label in ("pod", "namespace"):
        if line.attributes.get(label):
            attributes[label] = line.attributes[label]
    return derive_at(line, "gpu-use", attributes=attributes, node=key[1], entity=key[2])
