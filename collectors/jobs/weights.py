"""When a model server began to load weights and when it had them.

Programs: vLLM 0.2 to 0.11 (the time of day stands in its own prefix, without a year), SGLang. Samples::

    INFO 06-11 10:02:11 llm_engine.py:161] Initializing an LLM engine (v0.4.3) with config: model='/data/models/m'
    INFO 06-11 12:01:37 model_runner.py:146] Loading model weights took 33.9296 GB
    INFO 09-14 07:21:04 [gpu_model_runner.py:3911] Model loading took 64.8 GiB memory and 24.9 seconds
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import parse_klog
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "serving"
LAYERS = ("application",)
SIGNATURES = (r"(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w/]+\.py:\d+\] ",)
ANCHORS = (
    r"Initializing an? (?:LLM|V\d LLM) engine", r"Starting to load model ", r"Loading (?:model )?weights took ", r"Model loading took ",
    r"Load weight begin\.", r"Load weight end\.",
)  # fmt: skip
_STAMP = compile_later(r"(?:INFO|WARNING) (\d\d)-(\d\d) (\d\d:\d\d:\d\d)")
_START = compile_later(r"Initializing an? (?:V\d )?LLM engine|Starting to load model |Load weight begin\.")
_SECONDS = compile_later(
    r"(?:Loading (?:model )?weights|Model loading) took (?:[\d.]+ (?:GiB|GB)(?: memory)? and )?(\d+(?:\.\d+)?) (?:s|sec|seconds)\b"
)
_SIZE = compile_later(r"took (\d+(?:\.\d+)?) (?:GiB|GB)\b")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `weights` observations, code start or done; `seconds` and `gib` where the line tells."""
    stamp = _STAMP.search(line.raw)
    time = line.time if line.time is not None else parse_klog(f"{stamp[1]}{stamp[2]} {stamp[3]}") if stamp else None
    code = "start" if _START.search(line.text) else "done"
    attributes: dict[str, str] = {}
    for name, regex in (("seconds", _SECONDS), ("gib", _SIZE)):
        match = regex.search(line.text)
        if match and code == "done":
            attributes[name] = match[1]
    if code == "done" and not attributes and "Load weight end" not in line.text:
        return
    yield Observation(
        SOURCE, "weights", line.input, line.number, line.number, line.text[:2000], code=code, time=time, node=line.host,
        attributes=attributes,
    )  # fmt: skip
