"""Results of measurements between two hosts: ping, perftest (ib_write_bw, ib_send_lat, ...), iperf3.

iputils 2014 to 2024 and BusyBox ping; linux-rdma/perftest 4.4 to 25.x (header of `src/perftest_parameters.h`, with or without
`--report_gbits`), GPUDirect runs included. What a link should give is not in the text: ranking compares ports with each other.
Samples::

    3 packets transmitted, 0 received, 100% packet loss, time 2034ms
    rtt min/avg/max/mdev = 0.048/0.061/0.081/0.013 ms
                        RDMA_Write BW Test
     Device         : mlx5_0
     Link type      : IB
     #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
     65536      5000             392.51             392.42              0.748484
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record, Sample
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "perftest"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^\s*(?:RDMA_Write|RDMA_Read|Send|Atomic\w*)(?: \w+)? (?:BW|Latency|BW Post List) Test", r"^ ?#bytes +#iterations +(?:BW peak|t_min)",
    r"^\d+ bytes from \S+:? .*icmp_seq=", r"^PING \S+ ", r"packets transmitted, \d+ (?:packets )?received",
    r"^\[ *ID\] Interval +Transfer +Bitrate",
)  # fmt: skip
ANCHORS = (r"packets transmitted, \d+ (?:packets )?received",)
HEADS = (
    r"(?:RDMA_Write|RDMA_Read|Send|Atomic\w*)(?: \w+)? (?:BW|Latency|Bidirectional BW|BW Post List) Test",
    r"^ ?#bytes +#iterations +(?:BW peak|t_min)",
)

_PING = compile_later(
    r"(?P<sent>\d+) packets transmitted, (?P<received>\d+) (?:packets )?received,(?: \+(?P<errors>\d+) errors,)? "
    r"(?P<loss>\d+(?:\.\d+)?)% packet loss"
)
_SETTING = compile_later(
    r"(?P<name>Device|Link type|Mtu|Transport type|GID index|Connection type|Number of qps) +: (?P<value>\S+)"
)
_TITLE = compile_later(
    r"(?P<test>RDMA_Write|RDMA_Read|Send|Atomic\w*)(?: \w+)? (?P<what>BW|Latency|Bidirectional BW|BW Post List) Test"
)
_HEAD = compile_later(r"^ ?#bytes +#iterations +(?:BW peak\[(?P<unit>[^\]]+)\]|(?P<latency>t_min))")
_ROW = compile_later(
    r"^ *(?P<bytes>\d+) +(?P<iterations>\d+) +(?P<first>\d+(?:\.\d+)?) +(?P<second>\d+(?:\.\d+)?) +(?P<third>\d+(?:\.\d+)?)"
)
_END = compile_later(r"^-{10,}$")
_GBPS = {"Gb/sec": 1.0, "MB/sec": 8e6 / 1e9, "MiB/sec": 8 * 2**20 / 1e9, "Gb/s": 1.0}
_FOREIGN = 25  # between the settings and the rows stand the addresses of each connection, and rulers
_LARGE = 65536  # bytes from which on a message size shows what the link carries


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `ping`: code ok, lossy or lost; attributes sent, received, loss."""
    match = _PING.search(line.text)
    if match:
        loss = float(match["loss"])
        code = "ok" if loss == 0 else "lost" if loss >= 100 else "lossy"
        named = {name: value for name, value in match.groupdict().items() if value}
        yield Observation(
            SOURCE,
            "ping",
            line.input,
            line.number,
            line.number,
            line.text,
            code=code,
            time=line.time,
            node=line.host,
            attributes=named,
        )


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `bandwidth-test` or `latency-test` for each row, and a sample of the largest message's bandwidth."""
    said: dict[str, str] = {}
    unit, best = "", None
    latency = False
    foreign = 0  # lines since one that belongs to a test
    for _ in range(400):
        raw = reader.peek()
        if raw is None or foreign > _FOREIGN:
            break
        foreign += 1
        text = peel(reader.input, reader.number, raw).text if not raw.startswith(" ") else raw
        title, head, row = _TITLE.search(text), _HEAD.match(text), _ROW.match(text)
        if title and said.get("test"):
            break
        number = reader.number
        reader.next()
        if title or head or row:
            foreign = 0
        if title:
            said |= {"test": title["test"].lower(), "what": title["what"].lower()}
        elif head:
            unit, latency = head["unit"] or "", bool(head["latency"])
        elif row and (unit or latency):
            found = _tell(reader, number, raw, row, said, unit)
            yield found
            if not latency and int(row["bytes"][:18]) >= _LARGE:
                best = (number, float(found.attributes["gbps"]))
        elif (unit or latency) and _END.match(text):
            break
        else:
            for setting in _SETTING.finditer(text):
                foreign = 0
                said[setting["name"].lower().replace(" ", "_")] = setting["value"].partition("[")[0]
    if best:
        device = said.get("device", "")
        labels = {"nic": device, "port": "1", "test": said.get("test", "")}
        yield Sample(
            SOURCE, "rdma_test_gbps", best[1], reader.input, best[0], node=reader.node, entity=f"link:{device}:1" if device else "",
            labels={name: value for name, value in labels.items() if value},
        )  # fmt: skip


def _tell(reader: Reader, number: int, raw: str, row: re.Match[str], said: dict[str, str], unit: str) -> Observation:
    device = said.get("device", "")
    attributes = {
        "bytes": row["bytes"],
        "nic": device,
        **{name: value for name, value in said.items() if name != "device"},
    }
    if unit:
        attributes["gbps"] = f"{float(row['second']) * _GBPS.get(unit, 0.0):.2f}"
    else:
        attributes["microseconds"] = row["third"]
    kind = "bandwidth-test" if unit else "latency-test"
    return Observation(
        SOURCE, kind, reader.input, number, number, raw.strip(), code=said.get("test", ""), node=reader.node,
        entity=f"link:{device}:1" if device else "", attributes={name: value for name, value in attributes.items() if value},
    )  # fmt: skip
