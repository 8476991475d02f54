"""The figures that trainers print for a step: how long it took, how long it waited for data, how much was computed.

What each program prints, by figure; `collectors.jobs.steps` reads them. `tflops` is what one GPU computes in a second and `mfu`
that in percent of its peak, as the program counts them; `rate` is samples or tokens a second, which can be compared only with
other lines of the same run. Formats: Megatron-LM `training.py`, Megatron-Bridge and NeMo loggers, Megatron-DeepSpeed, GPT-NeoX
`logging.py`, DeepSpeed `timer.py` and pipeline engine, TorchTitan `metrics.py`, nanotron, MaxText, InternEvo, PaddleNLP, nanoGPT,
llm.c, OLMo-core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from collectors.literals import find_required_literals
from collectors.regex import compile_later

# Bounded: a number without end, before a word that is missing, would be tried from each of its digits.
_PLAIN = r"\d{1,18}(?:\.\d{0,18})?(?:[eE][+-]?\d{1,3})?"
NUMBER = rf"([+-]?(?:{_PLAIN}|(?:nan|NaN|NAN|inf|Inf|INF|Infinity)\b))"
_GROUPED = rf"(\d{{1,3}}(?:,\d{{3}}){{1,5}}(?:\.\d{{1,18}})?|{_PLAIN})"  # 10,050 or 341.02
# regexes of lines that hold figures of how much is computed, for those programs whose lines nothing else marks
ANCHORS = (
    r"\bmfu[:=]? *\d", r"\bMFU: \d", r"% bf16 MFU", r"\btflops[:=] *\d", r"TFLOP/s/(?:GPU|device)", r"TFLOPS_per_GPU[:=]",
    r"_tflops_per_(?:gpu|device): ", r"approx flops per GPU: ", r"\bTFLOPs: \d", r"elapsed time per iteration \(s\): ",
    r"train_step_timing in s: ", r"\biter time \(s\): ", r"device/MFU(?: \(actual avg\))?=\d",
)  # fmt: skip
# Names that people give in loops of their own; a number without a unit is in seconds.
_DATA = r"\b(?:t_data|data[_ ]?(?:time|wait|load(?:ing)?)(?:_time)?|dataload(?:er|ing)?[_ ](?:time|wait))"
_STEP = r"\b(?:t_step|(?:step|iter|iteration|batch)[_ ]?time|time_per_(?:step|iter))"
_SECONDS = r"(?: ?s(?:ec(?:onds)?)?\b|[,;|}\])\s]|$)"
OWN_ANCHORS = (rf"{_DATA}(?:_m?s)?['\"]?(?:: ?|=| )\d", r"\bdata:? \d+(?:\.\d+)? ?m?s\b")
# (attribute, regex, factor to the unit or None for text); the first that is found for an attribute counts
_FIELDS: tuple[tuple[str, re.Pattern[str], float | None], ...] = tuple(
    (name, compile_later(regex), factor)
    for name, regex, factor in (
        ("step", r"iteration:? +(\d+) ?/", None),
        ("step", r"\biter:? (\d+)", None),
        ("step", r"\bstep: *(\d+)", None),
        ("step", r"\bstep +(\d+)/", None),
        ("step", r"\bglobal_step[:=] ?(\d+)", None),
        ("step", r"\"num_updates\": \"?(\d+)", None),
        ("step", r"\[ *(\d+)/ *\d+\]", None),
        ("step_ms", rf"elapsed time per iteration \(ms\): {NUMBER}", 1.0),
        ("step_ms", rf"elapsed time per iteration \(s\): {NUMBER}", 1000.0),
        ("step_ms", rf"elapsed_time_per_iteration_ms: {NUMBER}K", 1000.0),
        ("step_ms", rf"elapsed_time_per_iteration_ms: {NUMBER}", 1.0),
        ("step_ms", rf"'step_time': '?{NUMBER}", 1000.0),
        ("step_ms", rf"\"train_step_time\": {NUMBER}", 1000.0),
        ("step_ms", rf"train_step_timing in s(?:=|: ){NUMBER}", 1000.0),
        ("step_ms", rf"[Ss]tep [Tt]ime ?:? {NUMBER} ?s\b", 1000.0),
        ("step_ms", rf"completed step: \d+, seconds: {NUMBER}", 1000.0),
        ("step_ms", rf"\biter time \(s\): {NUMBER}", 1000.0),
        ("step_ms", rf", time {NUMBER}ms", 1.0),
        ("step_ms", rf"\| {NUMBER} ms \|", 1.0),
        ("step_ms", rf"\bTime:? +{NUMBER}s?(?:, +[\d.]+/s)? +\( *{NUMBER}", 1000.0),
        ("step_ms", rf"\bBatch:? +{NUMBER}s? +\( *{NUMBER}\)", 1000.0),
        ("step_ms", rf"(?:^|[^_\w])time: {NUMBER}", 1000.0),
        ("step_ms", rf"avg_batch_cost: {NUMBER}", 1000.0),
        ("step_ms", rf"{_STEP}(?:_ms['\"]?(?:: ?|=| ){NUMBER}|['\"]?(?:: ?|=| ){NUMBER} ?ms\b)", 1.0),
        ("step_ms", rf"{_STEP}(?:_s)?['\"]?(?:: ?|=| ){NUMBER}{_SECONDS}", 1000.0),
        ("step_ms", rf"\b(?:step|total|iter)(?: \d+ took|:)? {NUMBER} ?ms\b", 1.0),
        ("step_ms", rf"\b(?:step|total|iter)(?: \d+ took|:)? {NUMBER} ?s\b", 1000.0),
        ("data_ms", rf"avg_reader_cost: {NUMBER}", 1000.0),
        ("data_ms", rf"'data_time': '?{NUMBER}", 1000.0),
        ("data_ms", rf"\bdata_time: ?{NUMBER}", 1000.0),
        ("data_ms", rf"\bData:? +{NUMBER}s? +\( *{NUMBER}\)", 1000.0),
        ("data_ms", rf"\bdata: {NUMBER}", 1000.0),
        ("data_ms", rf"{_DATA}(?:_ms['\"]?(?:: ?|=| ){NUMBER}|['\"]?(?:: ?|=| ){NUMBER} ?ms\b)", 1.0),
        ("data_ms", rf"{_DATA}(?:_s)?['\"]?(?:: ?|=| ){NUMBER}{_SECONDS}", 1000.0),
        ("data_ms", rf"\bdata:? {NUMBER} ?ms\b", 1.0),
        ("data_ms", rf"\bdata:? {NUMBER} ?s\b", 1000.0),
        (
            "loss",
            rf"(?<![\w/])(?:lm |total_|train[_/]|reduced_train_)?[lL]oss['\"]?(?: *[:=] *| +|)['\"]?{NUMBER}",
            None,
        ),
        ("loss_scale", rf"loss scale: {NUMBER}", None),
        ("skipped", r"number of skipped iterations: +(\d+)", None),
        ("nan_iterations", r"number of nan iterations: +(\d+)", None),
        ("grad_norm", rf"grad[_ ]norm['\"]?(?: *[:=] *| +)['\"]?{NUMBER}", None),
        ("tflops", rf"throughput per GPU \(TFLOP/s/GPU\): {_GROUPED}", 1.0),
        ("tflops", rf"{_GROUPED} ?(?:MODEL_)?TFLOP/s/GPU", 1.0),
        ("tflops", rf"TFLOP/s/device: {_GROUPED}", 1.0),
        ("tflops", rf"TFLOPS_per_GPU(?:=|: ){_GROUPED}", 1.0),
        ("tflops", rf"(?:model|hardware)_tflops_per_(?:gpu|device): {_GROUPED}", 1.0),
        ("tflops", rf"approx flops per GPU: {_GROUPED}TFLOPS", 1.0),
        ("tflops", rf"\bTFLOPs: {_GROUPED}", 1.0),
        ("tflops", rf"\btflops[:=] *{_GROUPED}", 1.0),
        ("mfu", r"\b(?:mfu|MFU)(?: \(actual avg\))?[:=]? *(\d{1,3}(?:\.\d+)?)(?:%|[\s,|}']|$)", 1.0),
        ("mfu", rf"\| {_GROUPED}% bf16 MFU", 1.0),
        ("rate", rf"\b(?:tps|wps): *{_GROUPED}", 1.0),
        ("rate", rf"Tokens/s/device: {_GROUPED}", 1.0),
        ("rate", rf"tokens_per_sec_per_gpu: {_GROUPED}K", 1000.0),
        ("rate", rf"tokens_per_sec_per_gpu: {_GROUPED}", 1.0),
        ("rate", rf"\btgs \(tokens/gpu/second\)={_GROUPED}", 1.0),
        ("rate", rf"CurrSamplesPerSec={_GROUPED}", 1.0),
        ("rate", rf"\bsamples(?: per second|/sec): {_GROUPED}", 1.0),
        ("rate", rf"\btok/s {_GROUPED}", 1.0),
    )
)


def find_fields(text: str) -> Iterator[tuple[str, re.Match[str], float | None]]:
    """Yield (attribute, match, factor to the unit or None for text) for each attribute that a line holds.

    Most regexes are of other programs: what they cannot do without is not in the text, which takes a tenth of a search to see.
    """
    found = ""
    for name, literal, regex, factor in _guarded_fields():
        if name == found or literal not in text:
            continue
        match = regex.search(text)
        if match:
            found = name
            yield name, match, factor


@cache
def _guarded_fields() -> tuple[tuple[str, str, re.Pattern[str], float | None], ...]:
    """Return the fields with the longest literal that each needs, "" where it needs none."""
    return tuple(
        (
            name,
            max((one[0] for one in find_required_literals(regex.pattern) if len(one) == 1), key=len, default=""),
            regex,
            factor,
        )
        for name, regex, factor in _FIELDS
    )


def to_percent(value: float, text: str) -> float:
    """Return an MFU in percent: some programs print a share of one.

    >>> to_percent(0.43, "mfu 0.43"), to_percent(4.29, "mfu: 4.29%"), to_percent(0.63, "mfu 0.63%")
    (43.0, 4.29, 0.63)
    """
    return value * 100 if value <= 1.0 and "%" not in text else value
