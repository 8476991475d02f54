"""The head of a log by nvidia-bug-report.sh: when and where it was made. Its sections are read by the collectors of the programs.

Script of drivers 295 to 595. Sections are parted by lines of underscores and begin with `*** FILE` or with a command. Sample::

    Start of NVIDIA bug report log file.  Please include this file, along
    nvidia-bug-report.sh Version: 34275296
    Date: Wed May 19 13:43:41 EDT 2021
    uname: Linux node-1 5.4.0-70-generic #78-Ubuntu SMP Fri Mar 19 13:29:52 UTC 2021 x86_64 x86_64 x86_64 GNU/Linux
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_syslog
from collectors.identity import normalise_node
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "bug-report"
LAYERS: tuple[str, ...] = ()
SIGNATURES = (r"^Start of NVIDIA bug report log file", r"^nvidia-bug-report\.sh Version: \d")
HEADS = (r"^Start of NVIDIA bug report log file",)
_DATE = compile_later(
    r"^Date: (?:[A-Z][a-z]{2} (?P<day>[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d)\D*?(?: [+-]\d+)? (?P<year>\d{4})|.*)$"
)
_UNAME = compile_later(r"^uname: Linux (?P<host>\S+) (?P<kernel>\d\S+) ")
_MOST = 16


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield one `bug_report` observation with the time at which the report was made, its host and kernel."""
    first, head = reader.number, (reader.next() or "").strip()
    time, found, place = None, dict[str, str](), reader.place()
    for _, text in reader.lines(_MOST):
        date, uname = _DATE.match(text), _UNAME.match(text)
        if date and date["day"]:
            time = parse_syslog(f"{date['day']} {date['year']}")
        elif uname:
            found = {"kernel": uname["kernel"], "host": normalise_node(uname["host"])}
            break
    reader.back(place)
    yield Observation(
        SOURCE, "bug_report", reader.input, first, first, head, time=time, node=found.get("host", ""), attributes=found
    )
