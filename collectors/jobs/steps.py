"""Progress of training: step times, waiting for data, TFLOP/s, MFU, loss, loss scale; and Megatron's straggler report.

Programs: Megatron-LM and Megatron-DeepSpeed, Hugging Face Trainer, DeepSpeed timers, fairseq, MMEngine and MMCV, Detectron2, timm,
the PyTorch ImageNet example and what was built on it, TorchVision's and DINO's MetricLogger, apex, MLPerf's MLLOG, JSON lines
(ms-swift, wandb's history, trainer_state.json); those that say how much a GPU computes (TorchTitan, Megatron-Bridge, NeMo, MaxText,
nanotron, GPT-NeoX, InternEvo, PaddleNLP, nanoGPT, llm.c); loops of one's own that name the time of a step and of its data; and of
any other program the lines that print a loss or gradient norm that is no number (Lightning, PaddlePaddle, Keras). Times are given in
milliseconds, whatever the program prints, MFU in percent. Samples::

    iteration     3100/   50000 | elapsed time per iteration (ms): 5210.8 | lm loss: 2.204110E+00 | loss scale: 1.0 |
    {'loss': 3.0901, 'learning_rate': 4.99e-05, 'epoch': 0.0, 'data_time': 0.001, 'step_time': 0.094}
    [titan] ... INFO - step: 210  loss:  6.0388  memory: 49.66GiB(52.28%)  tps: 5,593  tflops: 323.92  mfu: 32.75%
    Train: [7/50][2000/2391] Data 0.031 (0.044) Batch 1.411 (1.420) loss: 0.2811
    [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 64, reducing to 32
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import find_iso
from collectors.jobs import step_figures
from collectors.jobs.step_figures import NUMBER, find_fields, to_percent
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.quantities import plain
from collectors.regex import compile_later

SOURCE = "training"
LAYERS = ("application",)
SIGNATURES = (
    r"iteration +\d+/ *\d+ \|", r"^\{'loss': ", r"\d+%\|.*\| \d+/\d+ \[", r"^Epoch(?:\(train\))?[: ]+\[?\d+\]?.*\bloss\b",
    r"^:::MLLOG ", r"^\s*Num (?:examples|Epochs) = ", r"\beta: .*\bloss: ", r"train_inner \| ",
)  # fmt: skip
ANCHORS = (
    r"elapsed time per iteration \(ms\):", r"^(?:.*\])?\{'(?:train_)?loss': ", r"'step_time': ", r"\bdata_time: ?\d",
    r"\bData:? +\(?\d+\.\d+s? ?\(",
    r"\bData:? +\d+\.\d+", r"avg_reader_cost: \d", r"\bdata: \d+\.\d+ ", r"OVERFLOW! Rank", r"Gradient overflow\. +Skipping step",
    r"gradient overflow detected, ignoring gradient", r"Train Epoch: \d+ \[",
    r"\"(?:train[/_])?loss\": ?-?\d",
    r"(?:^|[^\w/]|total_|train[_/]|lm |reduced_train_)[lL]oss['\"]?(?: *[:=] *| +)['\"]?[+-]?(?:nan|NaN|NAN|inf|Inf|INF|Infinity)\b",
    r"grad[_ ]norm['\"]?(?: *[:=] *| +)['\"]?[+-]?(?:nan|NaN|NAN|inf|Inf|INF|Infinity)\b",
    r"MnRtt/Rnk: ", r"\"train_step_time\": ", r"\"train_wall\": ", r"CurrSamplesPerSec=", r"train_step_timing in s=",
    *step_figures.ANCHORS,
    *step_figures.OWN_ANCHORS,
)  # fmt: skip

ROUTINE = tuple(regex for regex in ANCHORS if "verflow" not in regex.lower())  # a line for each step
_SCALES = (
    compile_later(
        rf"OVERFLOW! Rank (?P<rank>\d+) Skipping step\. Attempted loss scale: (?P<scale>{NUMBER}), "
        rf"(?:reducing to (?P<next>{NUMBER})|but hysteresis)"
    ),
    compile_later(
        rf"Gradient overflow\. +Skipping step, (?:loss scaler \S+ )?reducing loss scale to (?P<next>{NUMBER})"
    ),
    compile_later(rf"gradient overflow detected, ignoring gradient, setting loss scale to: (?P<next>{NUMBER})"),
)
_STRAGGLER = compile_later(r"\b(M[nx])(D?Rtt|Pwr|Tmp|Utl|Clk|Etpt)/Rnk: (\d{1,15}(?:\.\d{1,9})?)[A-Za-z%]*/(\d+)")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `step`, `loss-scale` and `straggler-report` observations."""
    text = line.text
    if "verflow" in text or "OVERFLOW" in text:
        yield from _read_scale(line, text)
        return
    extremes = _STRAGGLER.findall(text)
    if extremes:
        yield from _read_extremes(line, extremes)
        return
    attributes: dict[str, str] = {}
    for name, match, factor in find_fields(text):
        value = match[match.lastindex or 1]  # the running average where there is one
        if factor is None:
            attributes[name] = _plain_text(value)
            continue
        number = float(value.replace(",", "")) * factor
        attributes[name] = plain(to_percent(number, match[0]) if name == "mfu" else number)
    if set(attributes) - {"step"}:
        if line.rank:
            attributes["rank"] = line.rank
        if line.time is None:
            line.time = find_iso(text)
        yield _observe(line, "step", "", attributes, f"rank:{line.rank}" if line.rank else "")


def _plain_text(value: str) -> str:
    return value.lower().lstrip("+").replace("infinity", "inf")


def _read_scale(line: Line, text: str) -> Iterator[Record]:
    for regex in _SCALES:
        match = regex.search(text)
        if match:
            yield _observe(
                line, "loss-scale", "overflow", {name: value for name, value in match.groupdict().items() if value}
            )
            return


def _read_extremes(line: Line, extremes: list[tuple[str, str, str, str]]) -> Iterator[Record]:
    attributes: dict[str, str] = {}
    for side, what, value, rank in extremes:
        name = f"{'lowest' if side == 'Mn' else 'highest'}_{what.lower()}"
        attributes |= {name: value, f"{name}_rank": rank}
    for what in ("rtt", "clk", "etpt"):
        low, high = float(attributes.get(f"lowest_{what}", 0)), float(attributes.get(f"highest_{what}", 0))
        if low > 0:
            attributes[f"{what}_ratio"] = f"{high / low:.3f}"
    slowest = attributes.get("highest_rtt_rank", "")
    yield _observe(line, "straggler-report", "", attributes, f"rank:{slowest}" if slowest else "")


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str], entity: str = "") -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text[:2000], code=code, time=line.time, node=line.host,
        entity=entity, attributes=attributes,
    )  # fmt: skip
