"""Host memory as a job's own log prints it from time to time.

Programs: DeepSpeed's see_memory_usage, /proc/PID/status read in a loop, and the many training scripts that print psutil's resident
size. Samples::

    [INFO] [utils.py:781:see_memory_usage] CPU Virtual Memory:  used = 512.3 GB, percent = 51.2%
    VmRSS:	 12400000 kB
    step 1000 | RSS: 12.1 GB
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Record, Sample
from collectors.prefix import Line
from collectors.quantities import parse_size
from collectors.regex import compile_later

SOURCE = "training"
LAYERS = ("application",)
SIGNATURES = (r"CPU Virtual Memory: +used = ",)
_RESIDENT = r"(?:^|[^\w-])(?:RSS|rss|resident(?: set(?: size)?)?)(?: \(?mem(?:ory)?\)?)?['\"]?(?: ?[:=] ?| )"
ANCHORS = (r"CPU Virtual Memory: +used = \d", r"\bVmRSS:\s+\d", _RESIDENT + r"\d")
ROUTINE = ANCHORS

_UNIT = r"(?P<unit>[KMGTkmgt]i?[Bb])"
_FORMS = (
    ("host_memory_used", compile_later(rf"CPU Virtual Memory: +used = (?P<value>\d+(?:\.\d+)?) ?{_UNIT}")),
    ("process_rss", compile_later(rf"\bVmRSS:\s+(?P<value>\d+) {_UNIT}")),
    ("process_rss", compile_later(rf"{_RESIDENT}(?P<value>\d+(?:\.\d+)?) ?{_UNIT}")),
)
_PROCESS = compile_later(r"\b(?:pid|PID)[ =:]+(\d+)")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield a sample in bytes, labelled with the process or rank where the line names it."""
    for metric, regex in _FORMS:
        match = regex.search(line.text)
        size = parse_size(match["value"] + match["unit"].replace("b", "B")) if match else None
        if match is None or size is None:
            continue
        process = _PROCESS.search(line.text)
        labels = {"pid": process[1]} if process else {}
        if line.rank:
            labels["rank"] = line.rank
        yield Sample(SOURCE, metric, size, line.input, line.number, time=line.time, node=line.host, labels=labels)
        return
