"""Connections that somebody tried by hand: nc, ncat, telnet, bash's /dev/tcp.

Programs: OpenBSD netcat 1.105 to 1.226 and netcat-traditional 1.10, Ncat 6 to 7.95 (`ncat/ncat_connect.c`), telnet of inetutils and
netkit, bash 4 to 5 (`lib/sh/netopen.c`). Ncat and telnet do not repeat the address, so it is taken from the command above. Samples::

    nc: connect to 10.0.0.4 port 29500 (tcp) failed: Connection timed out
    Connection to 10.0.0.4 29500 port [tcp/*] succeeded!
    (UNKNOWN) [10.0.0.4] 29500 (?) : No route to host
    Ncat: TIMEOUT.
    telnet: Unable to connect to remote host: Connection timed out
    bash: /dev/tcp/10.0.0.4/29500: Connection timed out
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "network"
LAYERS = ("fabric",)
_TOOL = r"(?:nc|ncat|netcat|telnet)"
HEADS = (
    rf"[#$] (?:sudo )?(?:timeout \S+ )?{_TOOL} [^\n]*\d",
    r"nc(?:at)?: connect to \S+ (?:\(\S+\) )?port \d+",
    r"Connection to \S+ (?:\(\S+\) )?\d+ port \[tcp",
    r"\) \[[\da-f.:]+\] \d+ \([\w?-]+\)(?: open| ?: )",
    r"Ncat: (?:Connected to|Connection |TIMEOUT|No route|Network|Host)",
    r"telnet: (?:Unable to connect to remote host|connect to address)",
    r"/dev/tcp/[\w.:-]+/\d+: Connection",
    r"/dev/tcp/[\w.:-]+/\d+: No route",
)
_COMMAND = compile_later(
    rf"[#$] (?:sudo )?(?:timeout \S+ )?{_TOOL}(?: -[\w-]+(?:[ =]\d+)?)* "
    r"(?P<peer>[A-Za-z\d][\w.:-]*) (?P<port>\d{1,5})\b"
)
_NAMED = tuple(
    compile_later(regex)
    for regex in (
        r"nc(?:at)?: connect to (?P<peer>\S+)(?: \(\S+\))? port (?P<port>\d{1,5}) ?(?:\(\w+\))? ?(?:failed: |: )?(?P<says>.+)",
        r"Connection to (?P<peer>\S+) (?:\(\S+\) )?(?P<port>\d{1,5}) port \[tcp/[^\]]*\] (?P<says>succeeded)",
        r"\) \[(?P<peer>[\da-f.:]+)\] (?P<port>\d{1,5}) \([\w?-]+\) ?:? ?(?P<says>.+)",
        r"Ncat: (?P<says>Connected) to (?P<peer>[^\s:]+|\[?[\da-f:]+\]?):(?P<port>\d{1,5})",
        r"/dev/tcp/(?P<peer>[\w.:-]+)/(?P<port>\d{1,5}): (?P<says>.+)",
        r"telnet: connect to address (?P<peer>[\w.:]+): (?P<says>.+)",
    )
)
_UNNAMED = compile_later(r"(?:Ncat|telnet): (?:Unable to connect to remote host: )?(?P<says>.+)")
_SAYINGS = (
    (compile_later(r"(?i)^(?:succeeded|connected|open)"), "open"),
    (compile_later(r"(?i)timed? ?out"), "timed-out"),
    (compile_later(r"(?i)no route to host|host is (?:unreachable|down)"), "no-route"),
    (compile_later(r"(?i)network is unreachable"), "no-network"),
    (compile_later(r"(?i)refused"), "refused"),
)
_ANSWER_WITHIN = 4  # lines below a command


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `port-test`: code open, timed-out, no-route, no-network or refused; attributes peer and port where they are known."""
    command = _COMMAND.search((reader.peek() or "")[:2000])
    if command:
        reader.next()
    asked = reader.place()
    for _ in range(_ANSWER_WITHIN):
        number, raw = reader.number, reader.next()
        if raw is None or (command and _COMMAND.search(raw[:2000])):
            break
        line = peel(reader.input, number, raw[:2000])
        found = _judge(line.text)
        if found:
            code, named = found
            if command:
                named = command.groupdict() | named
            yield Observation(
                SOURCE, "port-test", reader.input, number, number, line.text, code=code, time=line.time,
                node=line.host or reader.node, attributes=named,
            )  # fmt: skip
            return
        if not command:
            break
    reader.back(asked)


def _judge(text: str) -> tuple[str, dict[str, str]] | None:
    match = next((met for regex in _NAMED if (met := regex.search(text))), None) or _UNNAMED.search(text)
    if match is None:
        return None
    named = {name: value for name, value in match.groupdict().items() if value}
    says = named.pop("says")
    code = next((code for regex, code in _SAYINGS if regex.search(says)), "")
    return (code, named) if code else None
