"""Statistics of a metric as the AWS command line prints them: `aws cloudwatch get-metric-statistics` and `get-metric-data`.

Program: AWS CLI 1.x and 2.x, with `--output json`, `text` or `table`; the answer's shape is that of the CloudWatch API of
2010-08-01 (GetMetricStatistics: Label and Datapoints; GetMetricData: Label, Timestamps and Values). Samples::

    $ aws cloudwatch get-metric-statistics --namespace AWS/EFS --metric-name BurstCreditBalance --statistics Minimum --output text
    BurstCreditBalance
    DATAPOINTS	412316860416.0	2025-03-02T10:00:00+00:00	Bytes
    {"Label": "BurstCreditBalance", "Datapoints": [{"Timestamp": "2025-03-02T10:00:00Z", "Minimum": 0.0, "Unit": "Bytes"}]}
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_iso
from collectors.observation import Record, Sample
from collectors.regex import compile_later

SOURCE = "metrics"
LAYERS = ("storage", "node")
SIGNATURES = (r"\baws cloudwatch get-metric-(?:statistics|data)\b", r"^DATAPOINTS\t")
HEADS = (r"\bcloudwatch get-metric-(?:statistics|data)\b", r"^DATAPOINTS[\t ]", r"\"Datapoints\": ?\[")

_NAME = compile_later(r"--metric-name[ =]['\"]?(?P<name>\w+)")
_LABEL = compile_later(r"\"Label\": ?\"(?P<json>\w+)\"|^(?P<text>[A-Z]\w+)$")
_STAMP = compile_later(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?")
_FIELD = compile_later(
    r"\"(?:Minimum|Average|Maximum|Sum|SampleCount)\": ?(?P<value>-?\d{1,30}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?)"
)
_CELL = compile_later(r"(?:^|[\t| ])(?P<value>-?\d{1,30}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?)(?=[\t| ]|$)")
_NEXT_COMMAND = compile_later(r"^\S{0,80}[#$] ")
_OPTIONS = compile_later(r"^\s*--\w|\\\s*$")  # of a command over several lines
_MOST = 2000
_FOREIGN = 6  # lines that belong to no answer, after which it is over


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `Sample` named `cloudwatch_<metric>` for each data point, in the unit that CloudWatch gives."""
    name, stamp, value, foreign = "", None, None, 0
    for taken in range(_MOST):
        place, number, raw = reader.place(), reader.number, reader.next()
        if raw is None:
            return
        text = raw[:4000]
        command = _NAME.search(text)
        if taken and (command or _NEXT_COMMAND.match(text)):
            reader.back(place)
            return
        label = _LABEL.search(text)
        name = command["name"] if command else label["json"] or label["text"] if label else name
        known = bool(label)
        for point in () if command or _OPTIONS.search(text) else _points(text):
            met = _STAMP.search(point)
            field = _FIELD.search(point) or (_CELL.search(_STAMP.sub("", point)) if met else None)
            known = known or bool(met or field)
            stamp = parse_iso(met[0]) if met else stamp
            value = float(field["value"]) if field else value
            if name and stamp is not None and value is not None:
                yield Sample(SOURCE, f"cloudwatch_{name}", value, reader.input, number, time=stamp, node=reader.node)
                stamp = value = None
        foreign = 0 if known or not text.strip(" {}[],|+-") else foreign + 1
        if foreign >= _FOREIGN:
            return


def _points(text: str) -> list[str]:
    """Return the data points of a line: JSON may hold many in one."""
    return text.split("{")[1:] if text.count('"Timestamp"') > 1 else [text]
