"""Kubernetes resources: quantities in base units, and which resources count GPUs.

Documented at kubernetes.io: resource quantities; device plugins name their resources themselves.
"""

from __future__ import annotations

from collectors.regex import compile_later

_QUANTITY = compile_later(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(m|u|n|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei)?(?: \(.*\))?")
_FACTORS = {
    "": 1.0,
    "m": 1e-3,
    "u": 1e-6,
    "n": 1e-9,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}


def parse_quantity(text: str) -> float | None:
    """Return a resource quantity in base units, None when it is none.

    >>> (
    ...     parse_quantity("500m"),
    ...     parse_quantity("64Gi"),
    ...     parse_quantity("8"),
    ...     parse_quantity("24350m (25%)"),
    ...     parse_quantity("<none>"),
    ... )
    (0.5, 68719476736.0, 8.0, 24.35, None)
    """
    match = _QUANTITY.fullmatch(text.strip().strip("\"'"))
    return float(match[1]) * _FACTORS[match[2] or ""] if match else None


def plain_number(value: float) -> str:
    """Return a number without needless decimals."""
    return str(int(value)) if abs(value) < 1e18 and value == int(value) else f"{value:g}"


_DEVICE = compile_later(
    r"(?:requests\.|limits\.)?(?:nvidia\.com/(?:gpu(?:\.shared)?|mig-[\w.]+|pgpu|[A-Z][\w-]*)|amd\.com/gpu|(?:gpu\.)?intel\.com/\S+|volcano\.sh/v?gpu-number|"
    r"alpha\.kubernetes\.io/nvidia-gpu|aliyun\.com/gpu-count|tencent\.com/vcuda-core|huawei\.com/(?:Ascend(?!\S*-memory)\S*|npu)|"
    r"cambricon\.com/\w+|run\.ai/gpu\S*|habana\.ai/gaudi|aws\.amazon\.com/neuron\w*|google\.com/tpu|hygon\.com/dcu(?:num)?|"
    r"metax-tech\.com/s?gpu|iluvatar\.(?:ai|com)/(?:v?gpu|\S+-vgpu)|mthreads\.com/v?gpu|enflame\.com/v?gcu|kunlunxin\.com/v?xpu)"
)


def is_device(resource: str) -> bool:
    """Tell whether a resource counts GPUs (or slices of them), unlike memory or cores of a GPU.

    >>> (
    ...     is_device("nvidia.com/gpu"),
    ...     is_device("nvidia.com/mig-1g.10gb"),
    ...     is_device("habana.ai/gaudi"),
    ...     is_device("nvidia.com/gpumem"),
    ...     is_device("huawei.com/Ascend910B4-memory"),
    ...     is_device("cpu"),
    ... )
    (True, True, True, False, False, False)
    """
    return _DEVICE.fullmatch(resource) is not None
