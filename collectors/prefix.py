"""Take launcher, logger and transport prefixes off a line and keep what they tell: time, host, rank, program.

Prefixes nest (`[1,3]<stdout>:[rank3]:[E1026 04:01:29.5 ProcessGroupNCCL.cpp:683] ...`), so they are peeled one by one.
Forms: docs of util-linux dmesg, systemd journalctl, klog, Open MPI `--tag-output`, Slurm `srun -l`, torchrun, Ray, CRI,
vLLM, SGLang.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from collectors.clock import parse_epoch, parse_iso, parse_klog, parse_syslog
from collectors.identity import normalise_node
from collectors.transport import unwrap


@dataclass(slots=True)
class Line:
    """One line of an input. `text` is what is left without prefixes; `raw` is the line as it stands."""

    input: str
    number: int
    raw: str
    text: str = ""
    time: float | None = None
    uptime: float | None = None
    host: str = ""
    program: str = ""
    rank: str = ""
    level: str = ""
    source: str = ""
    labels: dict[str, str] = field(default_factory=dict)


_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_ISO = r"\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|[+-]\d\d:?\d\d))?"
_SYSLOG_TIME = r"(?:[A-Z][a-z]{2} +\d{1,2}|\d{1,2}月 +\d{1,2}) \d\d:\d\d:\d\d(?:\.\d+)?"
_ISO_ZONE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?[+-]\d\d:?\d\d"  # as rsyslog and journalctl write it
_HOST = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
_PROGRAM = r"[A-Za-z0-9_./@()-]+?"
_SURE_PROGRAM = rf"(?P<program>kernel(?=: )|{_PROGRAM}(?=\[\d+\]: ))"
# Where a logger's own lines put a level, and syslog a host.
_NO_LEVEL = r"(?!(?i:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|ALERT|FATAL|PANIC|EXCEPTION)[ :\[])"
# What a web server's error log puts behind a time that looks like dmesg's.
_LEVEL = r"\[(?:\w+:)?(?:emerg|alert|crit|error|warn|notice|info|debug)\]"


def _set_time(line: Line, seconds: float | None) -> None:
    if seconds is not None and line.time is None:
        line.time = seconds


def _syslog(line: Line, match: re.Match[str]) -> None:
    _set_time(
        line,
        parse_iso(match["time"])
        if match["time"][0].isdigit() and "月" not in match["time"]
        else parse_syslog(match["time"]),
    )
    line.host = line.host or normalise_node(match["host"])
    line.program = match["program"]
    line.source = line.source or ("kernel" if match["program"] == "kernel" else "")


def _uptime(line: Line, match: re.Match[str]) -> None:
    line.uptime = float(match[1])
    line.source = line.source or "kernel"


def _ctime(line: Line, match: re.Match[str]) -> None:
    _set_time(line, parse_syslog(match[1]))
    line.source = line.source or "kernel"


def _delta(line: Line, match: re.Match[str]) -> None:
    line.source = line.source or "kernel"


def _decoded(line: Line, match: re.Match[str]) -> None:
    line.level = match[1]
    line.source = line.source or "kernel"
    stamp = match[2]
    if stamp:
        _set_time(line, parse_iso(stamp))


def _klog(line: Line, match: re.Match[str]) -> None:
    _set_time(line, parse_klog(match[2]))
    line.level = match[1]
    line.program = line.program or (match["file"] or "")


def _monthday(line: Line, match: re.Match[str]) -> None:
    _set_time(line, parse_klog(f"{match[2]}{match[3]} {match[4]}"))
    line.level = match[1][0]


def _iso(line: Line, match: re.Match[str]) -> None:
    _set_time(line, parse_iso(match[1]))


def _rank(line: Line, match: re.Match[str]) -> None:
    line.rank = line.rank or match[1]


def _own_rank(line: Line, match: re.Match[str]) -> None:
    line.rank = match[1]  # what torch itself says counts more than a launcher's number of a task


def _host(line: Line, match: re.Match[str]) -> None:
    line.host = line.host or normalise_node(match[1])


def _actor(line: Line, match: re.Match[str]) -> None:
    line.labels["actor"] = match[1]
    if match["ip"]:
        line.host = line.host or match["ip"]


def _pod(line: Line, match: re.Match[str]) -> None:
    line.labels["pod"] = match[1]


def _labels(line: Line, match: re.Match[str]) -> None:
    labels = dict(_LABEL.findall(match[1]))
    line.host = line.host or normalise_node(
        next((labels[key] for key in ("node", "node_name", "host") if key in labels), "")
    )
    if labels.get("pod"):
        line.labels.setdefault("pod", labels["pod"])


def _program(line: Line, match: re.Match[str]) -> None:
    line.program = match[1]
    line.source = line.source or ("kernel" if match[1] == "kernel" else "")


_LABEL = re.compile(r'(\w+)="([^"]*)"')
# What may follow the name of a pod and container, or of a service, that a viewer puts before each line.
_LOGGED = r"(?=\[?\d{4}-\d\d-\d\d|\[?[IWEF]\d{3,4} |\[rank|\[ *\d+\.\d{6}\]|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d)"

_PREFIXES: tuple[tuple[re.Pattern[str], Callable[[Line, re.Match[str]], None]], ...] = tuple(
    (re.compile(pattern), handle)
    for pattern, handle in (
        # syslog and journalctl: time, host, program[pid]
        (
            rf"(?:\S+:)?(?P<time>{_SYSLOG_TIME}|{_ISO_ZONE}) {_NO_LEVEL}(?P<host>{_HOST}) (?P<program>{_PROGRAM})(?:\[\d+\])?: ?",
            _syslog,
        ),
        (  # such a time stands in front of any sentence as well, so it takes more to make the next word a host
            rf"(?:\S+:|[A-Z][a-z]{{2}} )?(?P<time>{_ISO})(?: [A-Z]{{3,4}})? {_NO_LEVEL}(?P<host>{_HOST}) {_SURE_PROGRAM}(?:\[\d+\])?: ?",
            _syslog,
        ),
        (r"(?:<\d{1,3}>)?\[ *(\d{1,9}\.\d{6})\] ?(?:\[ *[TC]\d+\] ?)?", _uptime),
        (  # dmesg -T; the same time and a level in brackets is a web server's error log
            rf"\[[A-Z][a-z]{{2}} ([A-Z][a-z]{{2}} +\d{{1,2}} \d\d:\d\d:\d\d \d{{4}})\](?! {_LEVEL} ) ?",
            _ctime,
        ),
        (r"\[(?: *\+\d+\.\d{6}|[A-Z][a-z]{2} ?\d{1,2} \d\d:\d\d)\] ?", _delta),
        (
            rf"(?:kern|user|daemon|syslog) *:(emerg|alert|crit|err|warn|notice|info|debug) *: ?({_ISO})?(?:: )?",
            _decoded,
        ),
        (r"\[?([IWEF])(\d{3,4} \d\d:\d\d:\d\d(?:\.\d+)?) +(?:\d+ )?(?P<file>[\w./-]+\.\w+):\d+\] ?", _klog),
        (rf"({_ISO}) (?:stdout|stderr) [FP] ", _iso),
        (r"\[\d+,(\d+)\](?:<std(?:out|err|diag)>)?:? ?", _rank),
        (r"\[rank ?(\d+)\]: ?", _own_rank),
        (r"\[default\d+\]: ?()", lambda line, match: None),
        (r"\(([A-Za-z_][\w.:<>]*)(?: \w+)*,? pid=\d+(?:, ip=(?P<ip>[\d.]+))?\) ?", _actor),
        (r"\[pod/([\w.-]+)/[\w.-]+\] ", _pod),
        (rf"([a-z0-9]+(?:[.-][a-z0-9]+)+) [a-z0-9][a-z0-9-]* {_LOGGED}", _pod),  # stern
        (rf"[A-Za-z0-9][\w.-]* +\| {_LOGGED}()", lambda line, match: None),  # docker compose
        (r'\{((?:\w+="[^"]*"(?:, ?)?)+)\} ', _labels),  # logcli
        (r"(\d{1,5}): (?=\S)", _rank),
        (rf"\[({_ISO})(?: [A-Z]P\d+)*\]:? (?=\S)", _iso),
        (rf"\[[a-z][a-z0-9_]*\] ({_ISO}):? (?=\S)", _iso),  # torchtitan names itself first
        (
            r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d)-(\d\d) (\d\d:\d\d:\d\d) (?:\[[\w./-]+:\d+\]|[\w./-]+:\d+\]) ?",
            _monthday,
        ),
        (rf"({_ISO}):?[ \t](?=\S)", _iso),
        (
            rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ({_SYSLOG_TIME} \d{{4}}):? (?=\S)",
            lambda line, match: _set_time(line, parse_syslog(match[1])),
        ),
        (rf"({_SYSLOG_TIME}(?: \d{{4}})?) (?=\S)", lambda line, match: _set_time(line, parse_syslog(match[1]))),
        (r"(kernel): ", _program),
        (rf"({_HOST}): (?:kern|user): \w+: ", _host),
    )
)


_OPENINGS = (  # how a prefix's regex begins -> the characters with which a line has to begin; none: any
    (r"\[?([IWEF])", "[IWEF"), (r"\[?", ""), (r"\[", "["), (r"\(", "("), (r"(?:<\d{1,3}>)?\[", "<["), (r"(\d{", "0123456789"),
    (r"(kernel)", "k"), (r"(?:kern|user|daemon|syslog) ", "kuds"),
)  # fmt: skip


@cache
def _prefixes_at(
    character: str,
) -> tuple[tuple[Callable[[str], re.Match[str] | None], Callable[[Line, re.Match[str]], None]], ...]:
    """Return, in order, the prefixes that a line which begins with this character may have."""
    found = []
    for pattern, handle in _PREFIXES:
        openings = next((characters for start, characters in _OPENINGS if pattern.pattern.startswith(start)), "")
        if not openings or character in openings:
            found.append((pattern.match, handle))
    return tuple(found)


_DIGITS = r"\d{10,19}(?:\.\d{1,9})?(?![\d.])"
# Stamps that stay in the text, as the collectors of their programs read the line as a whole: logfmt, JSON, Fabric Manager's log, a site's
# own logger before NCCL's lines.
_INSIDE = re.compile(
    rf'(?:time="?|\[\d+(?:/\d+)?\]\[|\{{(?:[^{{}}]{{0,400}}?[,{{ ])?"(?:ts|time|timestamp)": ?"?)(?P<stamp>{_ISO}|{_DIGITS})'
    r"|\[(?P<day>[A-Z][a-z]{2} +\d{1,2}) (?P<year>\d{4}) (?P<clock>\d\d:\d\d:\d\d)\]"
)


def _find_time_inside(text: str) -> float | None:
    match = _INSIDE.match(text)
    if match is None:
        return None
    if match["day"]:
        return parse_syslog(f"{match['day']} {match['clock']} {match['year']}")
    return parse_iso(match["stamp"]) if "-" in match["stamp"] or "/" in match["stamp"] else parse_epoch(match["stamp"])


def _strip_margin(text: str) -> str:
    """Return a line without the blanks and `>` that a message or a mail puts before it, when a prefix stands behind them."""
    stripped = text.lstrip(" \t>")
    return stripped if any(find(stripped) for find, _ in _prefixes_at(stripped[:1])) else text


def peel(input_name: str, number: int, raw: str) -> Line:
    """Return the line with its prefixes taken off and read.

    >>> line = peel("a", 1, "[rank11]:[E1026 04:01:29.500801336 ProcessGroupNCCL.cpp:683] [Rank 3] Watchdog")
    >>> line.rank, line.level, line.text
    ('11', 'E', '[Rank 3] Watchdog')
    >>> line = peel("a", 1, "Aug 20 23:41:07 node-b.example.com kernel: [310912.440000] NVRM: hello")
    >>> line.host, line.source, line.uptime, line.text
    ('node-b', 'kernel', 310912.44, 'NVRM: hello')
    """
    text = raw.rstrip("\r")
    if "\r" in text:  # a progress bar redrawn in place: the last state is what was seen
        text = text.rsplit("\r", 1)[1]
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if text[:1] in (" ", "\t", ">"):
        text = _strip_margin(text)
    line = Line(input_name, number, raw)
    carried = unwrap(text) if text[:1] == "{" else None
    if carried is not None:
        text, line.time, line.host, line.program = (
            carried.text,
            carried.time,
            normalise_node(carried.host),
            carried.program,
        )
        line.source = "kernel" if carried.program == "kernel" else ""
    for _ in range(6):
        for find, handle in _prefixes_at(text[:1]):
            match = find(text)
            if match and match.end():
                handle(line, match)
                text = text[match.end() :]
                break
        else:
            break
    if line.time is None and text[:1] in ("t", "{", "["):
        line.time = _find_time_inside(text)
    line.text = text.strip()
    return line
