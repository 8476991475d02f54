"""Counters and pause watchdog of switch ports, as their command lines show them.

Programs: SONiC 201911 to 202505 (`show interfaces counters`, `show interfaces counters rates`, `pfcwd show stats`;
sonic-utilities `scripts/portstat`, `pfcwd/main.py`),
Arista EOS (`show interfaces counters errors`). Counters run since they were cleared, so two readings of one port tell a rate.
Samples::

          IFACE    STATE    RX_OK     RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR    TX_OK     TX_BPS    TX_UTIL    TX_ERR ...
      Ethernet0        U    1,024   0.00 B/s      0.00%         0         2         0      981   0.00 B/s      0.00%         0 ...
          IFACE    STATE    RX_OK     RX_BPS    RX_PPS    RX_UTIL    TX_OK     TX_BPS    TX_PPS    TX_UTIL
      Ethernet0        U    1,024   0.00 B/s    0.00/s      0.00%      981   0.00 B/s    0.00/s      0.00%
           QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
    Ethernet12:3      stormed                        2/1           0/0           0/0                0/0                0/0
    Port         FCS    Align   Symbol       Rx    Runts   Giants       Tx
    Et1            0        0        0        0        0        0        0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.fabric.fabric_names import port_name
from collectors.observation import Observation, Record, Sample
from collectors.regex import compile_later

SOURCE = "switch"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^ *IFACE +STATE +RX_OK +RX_BPS ", r"^ *Ethernet\d+ +[UDX] +[\d,]+ +[\d.]+ [KMG]?B/s", r"^ *QUEUE +STATUS +STORM DETECTED/RESTORED",
    r"^Port +FCS +Align +Symbol +Rx +Runts ",
)  # fmt: skip
HEADS = (
    r"^ *IFACE +STATE +RX_OK +RX_BPS ",
    r"^ *QUEUE +STATUS +STORM DETECTED/RESTORED",
    r"^Port +FCS +Align +Symbol +Rx +Runts ",
)

_RULE = compile_later(r"^[ -]*-{4,}[ -]*$")
_BYTES = r" +[\d.]+ [KMG]?B/s +[\d.]+%"
_SONIC = compile_later(
    r"^ *(?P<port>[A-Za-z][\w/-]*) +(?P<state>[UDX]) +[\d,]+(?:" + _BYTES + r")? +(?P<switch_rx_errors>\d[\d,]*) +"
    r"(?P<switch_rx_drops>\d[\d,]*) +(?P<switch_rx_overruns>\d[\d,]*) +[\d,]+(?:"
    + _BYTES
    + r")? +(?P<switch_tx_errors>\d[\d,]*) +(?P<switch_tx_drops>\d[\d,]*)"
)
_RATES = compile_later(
    r"^ *(?P<port>[A-Za-z][\w/-]*) +U +[\d,]+ +[\d.,]+ [KMG]?B/s +[\d.,]+ ?[KMG]?/s +[\d.]+% +[\d,]+ +[\d.,]+ [KMG]?B/s +"
    r"[\d.,]+ ?[KMG]?/s +(?P<percent>\d{1,3}(?:\.\d+)?)%"
)
_FULL, _IDLE = 85.0, 5.0  # percent of a port's rate
_STORMS = compile_later(
    r"^ *(?P<port>[A-Za-z][\w/-]*):(?P<queue>\d+) +(?P<status>\w[\w/]*) +(?P<detected>\d+)/(?P<restored>\d+) +\d+/\d+"
)
_ARISTA = compile_later(
    r"^(?P<port>(?:Et|Ma|Po)\d+(?:/\d+)*) +(?P<switch_fcs_errors>\d+) +(?P<switch_alignment_errors>\d+) +(?P<switch_symbol_errors>\d+) +"
    r"(?P<switch_rx_errors>\d+) +\d+ +\d+ +(?P<switch_tx_errors>\d+)"
)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield samples of each port, `pause-watchdog` for queues that were in a storm, `switch-load` (full, idle) for what ports send."""
    head = reader.next() or ""
    row = _STORMS if "STORM" in head else _ARISTA if "FCS" in head else _RATES if "TX_PPS" in head else _SONIC
    for _ in range(4000):
        text = reader.peek()
        match = row.match(text) if text is not None else None
        if text is None or (match is None and not _RULE.match(text)):
            return
        number = reader.number
        reader.next()
        if match is None:
            continue
        port = match["port"]
        if row is _RATES:
            percent = float(match["percent"])
            if percent >= _FULL or percent <= _IDLE:
                yield Observation(
                    SOURCE, "switch-load", reader.input, number, number, text.strip(), code="full" if percent >= _FULL else "idle",
                    node=reader.node, entity=f"link:{port_name(port)}:1",
                    attributes={"nic": port, "port": "1", "percent": match["percent"]},
                )  # fmt: skip
            continue
        if row is _STORMS:
            if match["detected"].strip("0"):
                named = {name: match[name] for name in ("queue", "status", "detected", "restored")}
                code = "storm" if "stormed" in match["status"] or match["detected"] != match["restored"] else "restored"
                yield Observation(
                    SOURCE, "pause-watchdog", reader.input, number, number, text.strip(), code=code, node=reader.node,
                    entity=f"link:{port_name(port)}:1", attributes=named | {"nic": port, "port": "1"},
                )  # fmt: skip
            continue
        for name, value in match.groupdict().items():
            if name.startswith("switch_"):
                yield Sample(
                    SOURCE, name, float(value.replace(",", "")), reader.input, number, node=reader.node, entity=f"link:{port_name(port)}:1",
                    labels={"nic": port, "port": "1"},
                )  # fmt: skip
