"""What a training log says at its start of the model and the GPU: how many parameters, whether experts, which card.

Programs: TorchTitan (`train.py`, `metrics.py`), Megatron-LM (arguments and `setup_model`), Hugging Face Transformers and PEFT,
DeepSpeed ZeRO (`partition_parameters.py`), Lightning's model summary, MaxText, nanoGPT, llm.c, OLMo-core. A rank of a model that is
split tells its own part only, so that a size is the least that the model has. Samples::

    [titan] 2025-06-16 22:30:10,322 - root - INFO - CUDA capacity: NVIDIA H100 80GB HBM3 with 79.18GiB memory
    [titan] 2025-06-16 22:30:10,401 - root - INFO - Model llama3 8B size: 8,030,261,248 total parameters
    [titan] 2025-06-16 22:30:10,500 - root - INFO - Peak FLOPS used for computing MFU: 9.890e+14
     > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 1204838912
      hidden_size ..................................... 4096
    [INFO|trainer.py:2137] 2025-04-24 20:44:49,943 >>   Number of trainable parameters = 8,030,261,248
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation
from collectors.prefix import Line
from collectors.quantities import plain
from collectors.regex import compile_later

SOURCE = "training"
LAYERS: tuple[str, ...] = ()
SIGNATURES: tuple[str, ...] = ()
ANCHORS = (
    r"size: \D{0,12}[\d,]{7,} total param", r"Total parameter count: ", r"number of parameters on \(tensor, pipeline\)",
    r"\bhidden_size \.{3,} \d", r"^ *\"hidden_size\": \d", r"Number of trainable parameters = \d", r"\|\| all params: \d",
    r"num_elems = \d", r"^\s*[\d.]+ +[KMB] +Total params", r"^number of parameters: \d", r"^number parameters: \d",
    r"^num_parameters: \d", r"Total parameters: +\d", r"CUDA capacity: ", r"Peak FLOPS used for computing MFU: ",
    r"\bnum_experts \.{3,} \d",
)  # fmt: skip
CONTEXT = ANCHORS
_COUNT = r"(?P<count>[\d,]*\d(?:\.\d+)?) ?(?P<unit>[KMBT]|billion|million)?\b"
_SIZES = tuple(
    compile_later(regex)
    for regex in (
        rf"size: \D{{0,12}}{_COUNT} total param",
        rf"Total parameter count: dense {_COUNT}, sparse (?P<experts>[\d,]+)",
        rf"number of parameters on \(tensor, pipeline\) model parallel rank \(\d+, \d+\): {_COUNT}",
        rf"(?:Number of trainable parameters = |\|\| all params: |num_elems = |Total parameters: +){_COUNT}",
        rf"^\s*{_COUNT} +Total params",
        rf"^(?:number of parameters|number parameters|num_parameters): {_COUNT}",
        r"\"?hidden_size\"?(?::| \.{3,}) (?P<hidden>\d+)",
        r"\bnum_experts \.{3,} (?P<experts>\d+)",
    )
)
_UNITS = {"K": 1e3, "M": 1e6, "million": 1e6, "B": 1e9, "billion": 1e9, "T": 1e12}
_CARD = compile_later(r"CUDA capacity: (?P<model>\S.*?) with [\d.]+GiB memory")
_PEAK = compile_later(r"Peak FLOPS used for computing MFU: (?P<flops>\d(?:\.\d+)?e\+?\d{1,2})\b")


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `model-size` (parameters, hidden, experts), `run-gpu` (code = the model) and `run-peak` (tflops)."""
    card = _CARD.search(line.text)
    if card:
        yield _observe(line, "run-gpu", card["model"], {"model": card["model"]})
        return
    peak = _PEAK.search(line.text)
    if peak:
        yield _observe(line, "run-peak", "", {"tflops": plain(float(peak["flops"]) / 1e12)})
        return
    for regex in _SIZES:
        match = regex.search(line.text)
        if not match:
            continue
        found = {name: value.replace(",", "") for name, value in match.groupdict().items() if value}
        unit = _UNITS.get(found.pop("unit", ""), 1.0)
        if "count" in found:
            found["parameters"] = f"{float(found.pop('count')) * unit:.0f}"
        yield _observe(line, "model-size", "", found)
        return


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text[:400], code=code, time=line.time, node=line.host,
        attributes=attributes,
    )  # fmt: skip
