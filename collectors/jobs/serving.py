"""Model servers' own lines: load, progress of loading, refused requests, the request that failed.

Programs: vLLM (V0 `INFO 04-11 10:02:31 metrics.py:455]`, V1 `(EngineCore_DP0 pid=174) INFO 09-28 15:47:24 [loggers.py:118]`),
SGLang (`[2025-03-24 10:12:40 TP0] Decode batch. ...`), Text Generation Inference, Triton (klog prefix), Knative's activator.
Formats: the programs' sources (vllm/v1/metrics/loggers.py, sglang/srt/managers/scheduler_metrics_mixin.py), no specification.
Samples::

    INFO 06-30 13:53:16 [loggers.py:118] Engine 000: ..., Running: 34 reqs, Waiting: 66 reqs, GPU KV cache usage: 65.4%, ...
    INFO 04-11 10:02:31 metrics.py:455] ..., Running: 8 reqs, Swapped: 0 reqs, Pending: 3 reqs, GPU KV cache usage: 91.2%, ...
    [2025-03-24 10:12:40 TP0] Decode batch. #running-req: 1288, #token: 402113, token usage: 0.97, ..., #queue-req: 512
    Loading safetensors checkpoint shards:  78% Completed | 7/9 [07:55<02:16, 68.0s/it]
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "serving"
LAYERS = ("application", "framework")
SIGNATURES = (
    r"^(?:\([\w ]+ pid=\d+\) )?(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./]+\.py:\d+\]",
    r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: [DTPE]P\d+)*\] ",
    r"^INFO: +(?:Started server process|Waiting for application startup|Uvicorn running|\d+\.\d+\.\d+\.\d+:\d+ - \")",
    r"^[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ [\w.]+\.cc:\d+\]",
    r"== Triton Inference Server ==",
    r"\"logger\":\"(?:(?:activator|autoscaler|queueproxy)\"|controller[\w.-]*\",\"caller\")",
)
ANCHORS = (
    r"Running: \d+ reqs",
    r"#running-req: \d+",
    r"checkpoint shards: +\d+% Completed",
    r"Uvicorn running on https?://",
    r"Starting vLLM (?:API )?server(?: \d+)? on https?://",
    r"Started HTTPService at ",
)
_VLLM = compile_later(
    r"Running: (?P<running>\d+) reqs,(?: Swapped: (?P<swapped>\d+) reqs,)? (?:Waiting|Pending): (?P<waiting>\d+) reqs"
    r"(?:, Deferred: \d+ reqs)?(?:, GPU KV cache usage: (?P<usage>[\d.]+)%)?"
)
_SGLANG = compile_later(r"#running-req: (?P<running>\d+)")
_SGLANG_QUEUE = compile_later(r"#queue-req: (\d+)")
_SGLANG_USAGE = compile_later(r"(?:full )?token usage: ([\d.]+)")
_SHARDS = compile_later(
    r"checkpoint shards: +(?P<percent>\d+)% Completed \| (?P<done>\d+)/(?P<total>\d+) \[(?P<elapsed>[\d:]+)<"
)
_SERVERS = r"Uvicorn running on https?://|Starting vLLM (?:API )?server(?: \d+)? on https?://|Started HTTPService at "
_LISTEN = compile_later(rf"(?:{_SERVERS})[\w.:\[\]-]*?:(?P<port>\d+)\b")


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `serving-load` (running, waiting, usage in percent), `serving-progress` (percent, seconds), `serving-listen` (port)."""
    match = _VLLM.search(line.text)
    if match:
        yield _observe(line, "serving-load", {name: value for name, value in match.groupdict().items() if value})
        return
    match = _SGLANG.search(line.text)
    if match:
        attributes = {"running": match["running"]}
        queue, usage = _SGLANG_QUEUE.search(line.text), _SGLANG_USAGE.search(line.text)
        if queue:
            attributes["waiting"] = queue[1]
        if usage:
            attributes["usage"] = f"{100 * float(usage[1]):.1f}" if usage[1].replace(".", "", 1).isdigit() else "0"
        yield _observe(line, "serving-load", attributes)
        return
    match = _SHARDS.search(line.text)
    if match:
        attributes = {"percent": match["percent"], "seconds": str(_seconds(match["elapsed"]))}
        yield _observe(line, "serving-progress", attributes)
        return
    match = _LISTEN.search(line.text)
    if match:
        yield _observe(line, "serving-listen", {"port": match["port"]})


def _observe(line: Line, kind: str, attributes: dict[str, str]) -> Observation:
    pod = line.labels.get("pod", "")
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, time=line.time, node=line.host,
        entity=f"pod:{pod}" if pod else "", attributes=attributes,
    )  # fmt: skip


def _seconds(clock: str) -> int:
    """Return the seconds in `07:55` or `1:02:03`."""
    total = 0
    for part in clock.split(":")[:4]:
        total = total * 60 + int(part[:9] or 0)
    return total
