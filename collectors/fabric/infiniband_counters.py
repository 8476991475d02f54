"""Counters of a port as lines of `name value`: sysfs files, perfquery, ethtool -S; with the time of each reading.

The device stands in the heading or the command; a loop prints a time before each reading. Samples::

    # 2025-03-04T01:00:01Z mlx5_0 port 1
    symbol_error 0
    $ for i in 1 2 3; do date +%T; ethtool -S ens13np0 | egrep 'prio3|discards_phy'; sleep 10; done
    13:20:01                                            (or `Wed Sep  2 10:21:40 UTC 2020`)
         rx_prio3_pause: 18230411
    /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:511083
    SymbolErrorCounter:..............0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors import shell
from collectors.block import Reader
from collectors.clock import parse_iso, parse_syslog
from collectors.observation import Sample
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "rdma"
COMMAND = compile_later(
    r"ethtool (?:-\w+ )*(?:-S|--statistics) (?P<netdev>[A-Za-z][\w.-]*)|"
    r"/sys/class/infiniband/(?P<nic>\w+)/ports/(?P<port>\d+)/(?:hw_)?counters"
)
_HEADING = compile_later(r"# (?P<time>\d{4}-\S+) (?P<nic>[\w.-]+) port (?P<port>\d+)$")
_LID = compile_later(r"# Port (?:extended )?counters: Lid (?P<lid>\d+) port (?P<port>\d+)")
_PATH = compile_later(
    r"/sys/class/infiniband/(?P<nic>\w+)/ports/(?P<port>\d+)/(?:hw_)?counters/(?P<name>\w+)[: ]\s*(?P<value>\d+)$"
)
_FILE = compile_later(r"/(?:hw_)?counters/(?P<name>[a-z]\w*) *$")  # `cat` of one file prints the number alone
_DATE = compile_later(
    r"(?P<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*)$|(?P<clock>\d\d):(?P<minute>\d\d):(?P<second>\d\d)$|"
    r"[A-Z][a-z]{2} (?P<day>[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d) (?:[AP]M )?(?P<zone>[A-Z]{2,5}|[+-]\d\d) (?P<year>\d{4})$"  # date(1)
)
_VALUE = compile_later(r"(?P<name>[A-Za-z][A-Za-z0-9_]*)(?::\.*\s*|\s+)(?P<value>\d+)$")
_PROMPT = compile_later(
    r"^\S*[#$] [^\s(#-]|^\[\S+ \S+\][#$] "
)  # and no remark: `# (after the run)`, `# --- second reading`
PERFQUERY = {
    "SymbolErrorCounter": "symbol_error", "LinkErrorRecoveryCounter": "link_error_recovery", "LinkDownedCounter": "link_downed",
    "PortRcvErrors": "port_rcv_errors", "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "PortRcvSwitchRelayErrors": "port_rcv_switch_relay_errors", "PortXmitDiscards": "port_xmit_discards",
    "PortXmitConstraintErrors": "port_xmit_constraint_errors", "PortRcvConstraintErrors": "port_rcv_constraint_errors",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors", "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
    "VL15Dropped": "VL15_dropped", "PortXmitData": "port_xmit_data", "PortRcvData": "port_rcv_data", "PortXmitPkts": "port_xmit_packets",
    "PortRcvPkts": "port_rcv_packets", "PortXmitWait": "port_xmit_wait",
}  # fmt: skip


def read_counters(reader: Reader) -> Iterator[Sample]:
    """Read the counters under a heading or command until another command or something else begins."""
    name, port, time, file = "", "1", None, ""
    head = peel(reader.input, reader.number, reader.peek() or "")
    for prompt in shell.parse_line(head):
        reader.node = prompt.node or reader.node
    strangers = 0
    for place in range(200_000):
        raw = reader.peek()
        if raw is None:
            return
        line = Line(reader.input, reader.number, raw)
        text = raw.strip()
        heading = _HEADING.match(text)
        command = COMMAND.search(raw) if not _PATH.match(text) else None
        if heading:
            name, port, time = heading["nic"], heading["port"], parse_iso(heading["time"])
        elif lid := _LID.match(text):
            name, port = f"lid-{lid['lid']}", lid["port"]
        elif command:
            if place and _PROMPT.match(raw):
                return  # the next command's own block
            name, port = command["netdev"] or command["nic"], command["port"] or "1"
            time = time or head.time
            named = _FILE.search(raw)
            file = named["name"] if named else ""
        elif place and _PROMPT.match(raw):
            return
        else:
            date = _DATE.match(text)
            if date and date["iso"]:
                time = parse_iso(date["iso"]) or time
            elif date and date["day"]:
                time = parse_syslog(f"{date['day']} {date['year']}") or time
            counted = f"{file} {text}" if file and text.isdecimal() else text
            sample = None if date else _sample(line, counted, name, port, time, reader.node)
            if sample is not None:
                yield sample
                strangers = 0
            elif (
                text
                and not date
                and not text.startswith(("NIC statistics", "# Port", "#", "PortSelect", "CounterSelect", "egrep"))
            ):
                strangers += 1
                if strangers > 2:
                    return
        reader.next()


def _sample(line: Line, text: str, nic: str, port: str, time: float | None, node: str) -> Sample | None:
    match = _PATH.match(text)
    if match:
        nic, port = match["nic"], match["port"]
    else:
        match = _VALUE.match(text)
    if match is None:
        return None
    metric = PERFQUERY.get(match["name"], match["name"])
    labels = {"nic": nic, "port": port} if nic else {}
    return Sample(
        SOURCE, metric, float(match["value"]), line.input, line.number, time=time, node=node,
        entity=f"link:{nic}:{port}" if nic else "", labels=labels,
    )  # fmt: skip
