"""Errors and drops of network interfaces, from `ip -s link`.

iproute2 3.x to 6.x (`ip/ipaddress.c`): the heading has `overrun` up to 5.x and `missed` later; documented in ip-link(8). Counters
run since the interface came up, so two readings tell a rate. The interface's name stands in the line two above. Sample::

    3: ens5f0np0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000
        link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
        RX:  bytes packets errors dropped  missed   mcast
          12345678   90123      0      12       0      44
        TX:  bytes packets errors dropped carrier collsns
          87654321   80123      0       0       0       0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Record, Sample
from collectors.regex import compile_later

SOURCE = "network"
LAYERS = ("fabric",)
SIGNATURES = (r"^ +[RT]X: +bytes +packets +errors +dropped",)
HEADS = (r"^ +RX: +bytes +packets +errors +dropped",)

_HEAD = compile_later(r"^ +(?P<way>[RT]X): +(?P<names>bytes +packets +errors +dropped.*\S)\s*$")
_NAME = compile_later(r"^\d+: (?P<name>[\w.-]+)(?:@[\w.-]+)?: <")
_KEPT = frozenset({"errors", "dropped", "missed", "overrun", "carrier"})
_ABOVE = 1000  # bytes in which the two lines above stand


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield samples `netdev_rx_errors`, `netdev_tx_dropped` and so on of one interface."""
    above = reader.data[max(0, reader.offset - _ABOVE) : reader.offset].decode("utf-8", "replace").splitlines()[-2:]
    name = next((found["name"] for text in above if (found := _NAME.match(text))), "")
    for _ in range(2):
        head = _HEAD.match(reader.peek() or "")
        if head is None:
            return
        reader.next()
        number, values = reader.number, (reader.peek() or "").split()
        names = head["names"].split()
        if len(values) != len(names) or not all(one.isdecimal() and one.isascii() for one in values):
            return
        reader.next()
        for what, value in zip(names, values, strict=True):
            if what in _KEPT and name:
                yield Sample(
                    SOURCE, f"netdev_{head['way'].lower()}_{what}", float(value), reader.input, number, node=reader.node,
                    entity=f"link:{name}:1", labels={"nic": name, "port": "1"},
                )  # fmt: skip
