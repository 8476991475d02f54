"""Answers of Prometheus at the command line: `promtool query instant`.

Format: promtool 2.x and 3.x (cmd/promtool/main.go prints the vector as model.Sample.String does: name and labels, `=>`, the value,
`@[time]`). A function such as `max_over_time` drops the name, so it is taken from the query where that asks for the range of one
metric and does not count or rate it. Sample::

    $ promtool query instant http://prometheus:9090 'max_over_time(DCGM_FI_DEV_GPU_UTIL{Hostname="node-a"}[7d])'
    {gpu="0", Hostname="node-a", exported_namespace="team", exported_pod="notebook-0"} => 0 @[1675065730.118]
    up{instance="node-a:9400", job="dcgm"} => 1 @[1675065730.118]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.metrics.prometheus import read_series
from collectors.observation import Record
from collectors.regex import compile_later

SOURCE = "metrics"
LAYERS = ("hardware", "application")
SIGNATURES = (r"^(?:[A-Za-z_:][\w:]*)?\{[^\n]*\} => \S+ @\[\d",)
HEADS = (r"\bpromtool query instant\b", r"^(?:[A-Za-z_:][\w:]*)?\{[A-Za-z_]\w*=\"[^\n]*\} => ")
_ROW = compile_later(
    r"^(?P<name>[A-Za-z_:][\w:]*)?(?P<labels>\{.{0,4000}\})? => (?P<value>[-+]?[\d.]{1,30}(?:e[-+]?\d{1,3})?) "
    r"@\[(?P<time>\d{1,12})(?:\.\d{1,9})?\]\s*$"
)
_QUERY = compile_later(
    r"(?:(?:max|min|avg|quantile|last)(?:_over_time)?(?: by ?\([\w, ]*\))?\((?:0?\.\d+, ?)?){1,2}(?P<name>[A-Za-z_:][\w:]*)(?:\{[^{}]*\})?"
    r"(?:\[[\w:]+\])?\){1,2}(?: by ?\([\w, ]*\))?['\"\s]*$"
)
_MOST = 20000


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `Sample` for each row of the answer whose metric is known, with the relations of GPUs and pods."""
    query, related = "", set[tuple[str, str, str]]()
    if "promtool query" in (reader.peek() or ""):
        match = _QUERY.search((reader.next() or "")[:4000])
        query = match["name"] if match else ""
    place = reader.place()
    for number, text in reader.lines(_MOST):
        match = _ROW.match(text) if len(text) < 8192 else None
        if match is None:
            break
        place = reader.place()
        name = match["name"] or query
        labels = re.sub(r'", (?=[A-Za-z_])', '",', match["labels"] or "")
        if name:
            yield from read_series(reader.input, number, f"{name}{labels} {match['value']} {match['time']}000", related)
    reader.back(place)
