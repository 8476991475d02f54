"""etcd's warnings about slow disks, slow requests and clocks, in the plain format (to 3.4) and as JSON (from 3.5).

Samples::

    2020-02-14 08:59:07.101204 W | wal: sync duration of 2.712940561s, expected less than 1s
    {"level":"warn","ts":"2025-03-02T01:03:43.1Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"2.33s","expected-duration":"1s"}
    {"level":"warn",...,"msg":"apply request took too long","took":"1.57s","expected-duration":"100ms",...}
    2016-04-27 17:56:34.086748 W | rafthttp: the clock difference against peer aa4fdaf4c562342d is too high [8.484795885s > 1s]
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.clock import parse_iso
from collectors.observation import Observation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "etcd"
LAYERS = ("platform",)
SIGNATURES = (
    (
        r"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ )?[DINWEC] \| (?:etcd|raft|embed|wal|auth|mvcc|snap|lease|compactor|"
        r"membership|pkg/|flags|store|api|alarm|proxy|netutil|transport|discovery)"
    ),
    r"\"caller\":\"(?:etcdserver|wal|embed|rafthttp|etcdmain|mvcc|v3rpc|traceutil|membership|backend)/\w+\.go:\d+\"",
)
ANCHORS = (
    r"wal: sync duration of",
    r"slow fdatasync",
    r"took too long",
    r"failed to send out heartbeat on time",
    r"the clock difference against peer",
    r"prober found high clock drift",
)
_DURATION = r"(?:\d+h)?(?:\d+m(?!s))?(?:[\d.]+(?:ms|s|µs))?"
_FORMS = tuple(
    (code, compile_later(pattern))
    for code, pattern in (
        ("fsync", rf"wal: sync duration of (?P<took>{_DURATION})"),
        ("fsync", rf'slow fdatasync".*?"took":"?(?P<took>{_DURATION})'),
        ("heartbeat", rf"failed to send out heartbeat on time \(exceeded the \S+ timeout for (?P<took>{_DURATION})"),
        ("heartbeat", rf'failed to send out heartbeat on time.*?"exceeded-duration":"(?P<took>{_DURATION})'),
        ("request", rf"took too long \((?P<took>{_DURATION})\) to execute"),
        ("request", rf'took too long".*?"took":"(?P<took>{_DURATION})'),
        ("clock", rf"the clock difference against peer \w+ is too high \[(?P<took>{_DURATION})"),
        ("clock", rf'prober found high clock drift".*?"clock-drift":"(?P<took>-?{_DURATION})'),
    )
)
_PART = compile_later(r"(\d+(?:\.\d+)?)(h|ms|m|s|µs)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "µs": 0.000001}
_STAMP = compile_later(r'"ts":"([^"]{19,40})"')


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield `etcd-slow` (code fsync, heartbeat or request) or `etcd-clock`; attribute `seconds`."""
    for code, form in _FORMS:
        match = form.search(line.text)
        if not match:
            continue
        if line.time is None:
            stamp = _STAMP.search(line.text)
            line.time = parse_iso(stamp[1]) if stamp else None
        kind = "etcd-clock" if code == "clock" else "etcd-slow"
        yield Observation(
            SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
            attributes={"seconds": f"{_seconds(match['took']):.3f}"},
        )  # fmt: skip
        return


def _seconds(text: str) -> float:
    """Return the seconds of a Go duration: `2.71s`, `1m29.2s`, `8h0m2.6s`, `412ms`."""
    total = 0.0
    for value, unit in _PART.findall(text):
        try:
            total += float(value) * _UNITS[unit]
        except ValueError:
            return 0.0
    return total
