"""ibdiagnet: what the check of a whole InfiniBand fabric complains about, its summary, and its dumps of port counters.

ibdiagnet 2.1 to 2.19 (MLNX_OFED, DOCA, UFM); documented in NVIDIA's "ibdiagnet InfiniBand Fabric Diagnostic Tool User Manual".
`ibdiagnet2.log` and the screen show stages parted by dashes with `-I-`, `-W-` and `-E-` lines and end with a table;
`ibdiagnet2.pm` lists the counters of each port (`0x` or decimal). Counters there run since they were cleared; only what grew
`during the run` tells something by itself. Samples::

    -E- Link: S7cfe900300a51030/N7cfe900300a51030/P28<-->node-a/U1/P1 - Unexpected actual link speed 14
    -W- node-a/U1/P1 - "symbol_error_counter" increased during the run (difference value=117,difference allowed threshold=1)
    -E- Not found master subnet manager in fabric
    -I- Speed / Width checks                0          15
    Port=2 Lid=0x02d7 GUID=0x0002c9030068eaf0 Port Name=leaf-1/L02/U1/P2
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.fabric.fabric_names import read_end
from collectors.observation import Observation, Record, Sample
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "ibdiagnet"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^-I- (?:Discovering|Fabric Discover|Links Check|Lids Check|SM Info|Retrieving|Routing|Speed|Nodes Info|Partition|Port Counters)\b",
    r"^-[WE]- (?:Link|lid=|S[0-9a-f]{16}/|[\w.-]+/U\d+/P\d+)", r"^-I- Stage +Warnings +Errors",
    r"^Loading IBDIAGNET|^Running version +:? *\"?IBDIAGNET",
    r"^Port=\d+ Lid=0x[0-9a-f]+ GUID=0x[0-9a-f]+ ",
)  # fmt: skip
ANCHORS = (r"-E- ", r"-W- ", r"^-I- [A-Z][\w /&]+?\s{2,}\d+\s+\d+")
HEADS = (r"^Port=\d+ Lid=0x[0-9a-f]+ GUID=0x[0-9a-f]+ ",)

_MESSAGE = compile_later(r"^-(?P<level>[WE])- (?P<text>.*\S)")
_STAGE = compile_later(
    r"^-I- (?P<stage>[A-Z][\w /&-]*?)\s{2,}(?P<warnings>\d+)\s+(?P<errors>\d+)\s*(?P<comment>\S.*)?$"
)
_GROWN = compile_later(
    r"^(?P<end>\S+(?:\([^)]*\))?)(?: -|:)? \"?(?P<counter>\w+)\"? increased (?:during the run \(difference value=|by )(?P<rise>\d+)"
)
_EITHER = compile_later(r"Either (?P<end>\S+) or \S+ have \"(?P<counter>\w+)\" increased by (?P<rise>\d+)")
_PAIR = compile_later(r"[Ll]ink: (?P<left>\S+?(?:\([^)]*\))?)<-->(?P<right>\S+?(?:\([^)]*\))?)(?: - (?P<what>.*)|$)")
_NUMBER = compile_later(r"Unexpected actual link (?:speed|width) (?P<actual>[\w.]+)(?:.*should be (?P<wanted>[\w.]+))?")
_PORT = compile_later(
    r"(?P<end>S[0-9a-f]{8,16}/N[0-9a-f]{8,16}/P\d+(?:\([^)]*\))?|[A-Za-z][\w.-]*(?:/L\d+)?/U\d+/P?\d+)"
)
_CODES = tuple(
    (code, compile_later(regex))
    for code, regex in (
        ("link-speed", r"(?i)unexpected (?:actual )?link speed|links? speed"),
        ("link-width", r"(?i)unexpected (?:actual )?link width|links? width"),
        ("ber", r"(?i)\bBER\b"),
        ("duplicate-guid", r"(?i)GUID.*duplicat|duplicated? .*GUID"),
        ("duplicate-lid", r"(?i)LID.*(?:duplicat|configured for multiple)|duplicated? lid"),
        ("no-master", r"(?i)(?:not found|no|missing) .*master (?:subnet manager|SM)|SM .*not (?:found|running)"),
        ("several-masters", r"(?i)(?:more than one|several|multiple|found \d+) master (?:subnet manager|SM)"),
        ("zero-lid", r"(?i)(?:with|has) (?:zero|no|0) lid|LID .*zero|configured with ZERO lid"),
        ("link-init", r"(?i)logical state INI|INIT(?:IALIZE)? state|in INIT"),
        ("credit-loop", r"(?i)credit loop"),
        ("routing", r"(?i)Unassigned LFT|mark route|find a path|Dead end"),
        ("temperature", r"(?i)temperature"),
        ("cable", r"(?i)\bcable\b.*(?:alarm|warning|fault|bad|unsupported)|(?:alarm|fault).*\bcable\b"),
        ("bad-link", r"(?i)bad link"),
        ("partition", r"(?i)p_?key|partition"),
        ("no-response", r"(?i)(?:not respond|no response|timed? ?out|unreachable|failed to get)"),
    )
)
_NOISE = compile_later(
    r"(?:Check|finished|Discover|checks?|[Ii]nfo\w*|Keys|GUIDs|retrieving)\b.*finished with (?:errors|warnings)"
)
_PM_HEAD = compile_later(
    r"^Port=(?P<port>\d+) Lid=0x(?P<lid>[0-9a-f]+) GUID=0x(?P<guid>[0-9a-f]+) (?:Device=\S+ )?(?:Port Name=(?P<name>.*\S))?"
)
_PM_VALUE = compile_later(r"^(?P<name>[A-Za-z]\w*)=(?P<value>0x[0-9a-fA-F]{1,16}|\d{1,20})(?: \(overflow\))?\s*$")
NAMES = {
    "link_down_counter": "link_downed", "link_error_recovery_counter": "link_error_recovery", "symbol_error_counter": "symbol_error",
    "port_rcv_errors": "port_rcv_errors", "port_xmit_discard": "port_xmit_discards", "vl15_dropped": "VL15_dropped",
    "excessive_buffer_errors": "excessive_buffer_overrun_errors", "local_link_integrity_errors": "local_link_integrity_errors",
    "port_rcv_remote_physical_errors": "port_rcv_remote_physical_errors", "port_xmit_wait": "port_xmit_wait",
    "SymbolErrors": "symbol_error", "SymbolErrorCounter": "symbol_error", "LinkDownedCounter": "link_downed",
    "LinkErrorRecoveryCounter": "link_error_recovery", "PortRcvErrors": "port_rcv_errors", "PortXmitDiscards": "port_xmit_discards",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
}  # fmt: skip


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `fabric-check` observations (code what is wrong; attributes level, counter, rise, actual, wanted, peer) and, of the
    table at the end, `fabric-stage` (code the stage; attributes warnings and errors)."""
    stage = _STAGE.match(line.text)
    if stage:
        code = re.sub(r"\W+", "-", stage["stage"].lower()).strip("-")
        yield _observe(line, "fabric-stage", code, {"warnings": stage["warnings"], "errors": stage["errors"]})
        return
    message = _MESSAGE.match(line.text)
    if message is None or _NOISE.search(message["text"]):
        return
    text, attributes = message["text"], {"level": message["level"]}
    grown = _GROWN.match(text) or _EITHER.search(text)
    pair = _PAIR.search(text)
    if grown:
        counter = NAMES.get(grown["counter"], grown["counter"])
        yield _observe(
            line, "fabric-check", "counter", attributes | {"counter": counter, "rise": grown["rise"]}, grown["end"]
        )
        return
    code = next((name for name, regex in _CODES if regex.search(text)), "")
    if pair:
        number = _NUMBER.search(text)
        named = {name: value for name, value in (number.groupdict() if number else {}).items() if value}
        ends = (pair["left"], pair["right"]) if read_end(pair["left"]).is_host else (pair["right"], pair["left"])
        yield _observe(line, "fabric-check", code or "bad-link", attributes | named | {"peer": ends[1]}, ends[0])
    elif code:
        port = _PORT.search(text)
        yield _observe(line, "fabric-check", code, attributes, port["end"] if port else "")


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str], name: str = "") -> Observation:
    end = read_end(name)
    named = attributes | {"nic": end.nic, "port": end.port if end.nic else "", "switch": end.switch}
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text[:1000], code=code, time=line.time, node=end.node, entity=end.entity,
        attributes={key: value for key, value in named.items() if value},
    )  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read the counters of one port from ibdiagnet2.pm."""
    head = _PM_HEAD.match(reader.next() or "")
    if head is None:
        return
    end = read_end(head["name"] or "", head["port"])
    labels = {"nic": end.nic, "port": end.port if end.nic else head["port"], "guid": head["guid"], "lid": head["lid"]}
    labels = {name: value for name, value in labels.items() if value}
    for _ in range(400):
        text = reader.peek()
        if text is None or text.startswith("Port="):
            return
        value = _PM_VALUE.match(text)
        if value is None and text.strip() and not text.startswith("---"):
            return
        number = reader.number
        reader.next()
        if value:
            yield Sample(
                SOURCE, NAMES.get(value["name"], value["name"]), float(int(value["value"], 0)), reader.input, number, node=end.node,
                entity=end.entity or f"link:{head['guid']}:{head['port']}", labels=labels,
            )  # fmt: skip
