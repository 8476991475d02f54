"""What a cable or transceiver tells of itself: received and sent power, temperature, alarms (`ethtool -m`).

ethtool 3.x to 6.x for SFP (SFF-8472), QSFP (SFF-8636) and OSFP, QSFP-DD (CMIS) modules; texts of `sfpdiag.c`, `sff-common.c`,
`qsfp.c`, `cmis.c`. The module sets each alarm flag itself, against its own thresholds. Modules without diagnostics (passive copper)
print no such lines, or thresholds of zero and every flag at once: that is no alarm. Sample::

    Identifier                                : 0x11 (QSFP28)
    Laser tx power (Channel 1)                : 0.9021 mW / -0.45 dBm
    Rcvr signal avg optical power(Channel 1)  : 0.0001 mW / -40.00 dBm
    Module temperature                        : 38.42 degrees C / 101.16 degrees F
    Laser rx power low alarm   (Channel 1)    : On
    Laser rx power low alarm threshold        : 0.0646 mW / -11.90 dBm
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors import shell
from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "optics"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^\s+Identifier +: 0x[0-9a-f]{2} \(", r"^\s+Laser (?:bias current|output power|[rt]x power) .*(?:alarm|warning)",
    r"^\s+Vendor (?:PN|SN|OUI) +: ",
    r"^\s+(?:Rcvr signal avg|Receiver signal (?:average|OMA)) ?optical power",
)  # fmt: skip
HEADS = (r"ethtool (?:-m|--module-info|--dump-module-eeprom) \w", r"^\s+Identifier +: 0x[0-9a-f]{2} \(")

_COMMAND = compile_later(r"ethtool (?:-m|--module-info|--dump-module-eeprom) (?P<netdev>[A-Za-z][\w.-]*)")
_FIELD = compile_later(r"^\s+(?P<name>[A-Za-z][\w ,()/.&-]*?)\s*: ?(?P<value>.*\S)?\s*$")
_FLAG = compile_later(
    r"(?P<what>Laser (?:bias current|tx bias current|output power|tx power|rx power)|Module (?:temperature|voltage)) (?P<side>high|low) "
    r"(?P<level>alarm|warning) *(?:\((?:Chan(?:nel)?) ?(?P<lane>\d+)\))?$"
)
_POWER = compile_later(r"(?P<dbm>-?(?:\d{1,6}(?:\.\d{1,6})?|inf))(?= dBm)")
_TEMPERATURE = compile_later(r"(?P<celsius>-?\d{1,6}(?:\.\d{0,6})?) degrees C")
_WHAT = {
    "Laser bias current": "bias", "Laser tx bias current": "bias", "Laser output power": "tx-power", "Laser tx power": "tx-power",
    "Laser rx power": "rx-power", "Module temperature": "temperature", "Module voltage": "voltage",
}  # fmt: skip
_LEFT_OUT = 3  # lines that are no field, after which the block is over


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `optics`: code ok, or what is out of its range with the level (`rx-power-low-alarm`)."""
    command = _COMMAND.search(reader.peek() or "")
    netdev = command["netdev"] if command else ""
    if command:
        for prompt in shell.parse_line(peel(reader.input, reader.number, reader.peek() or "")):
            reader.node = prompt.node or reader.node
        reader.next()
    first, last, strangers = reader.number, reader.number, 0
    said: dict[str, str] = {}
    raised: dict[str, list[str]] = {}
    place: dict[str, tuple[int, str]] = {}
    seen = False
    for _ in range(600):
        text = reader.peek()
        if text is None or (command and seen and _COMMAND.search(text)):
            break
        field = _FIELD.match(text)
        if field is None or (field["name"] == "Identifier" and seen):
            strangers += 1
            if strangers > _LEFT_OUT or not text.strip() or (field and seen):
                break
            reader.next()
            continue
        number, name, value = reader.number, field["name"], field["value"] or ""
        reader.next()
        seen, last = True, number
        flag = _FLAG.match(name)
        if flag:
            if value.startswith("On"):
                code = f"{_WHAT[flag['what']]}-{flag['side']}-{flag['level']}"
                raised.setdefault(code, []).append(flag["lane"] or "")
                place.setdefault(code, (number, text.strip()))
        elif "threshold" not in name:
            _note(said, name, value)
    if not seen:
        return
    turned = {"low": "high", "high": "low"}
    opposite = {code: "-".join(turned.get(word, word) for word in code.split("-")) for code in raised}
    codes = [code for code in raised if opposite[code] not in raised]  # both at once: the module has no thresholds
    attributes = {"nic": netdev, **said}
    for code in codes or (["ok"] if "rx_dbm" in said or "celsius" in said else []):
        number, text = place.get(code, (first, ""))
        named = attributes | {"lanes": " ".join(one for one in raised.get(code, ()) if one)}
        shown = text or "; ".join(f"{name} {value}" for name, value in said.items())
        yield Observation(
            SOURCE, "optics", reader.input, number, number if text else last, shown, code=code, node=reader.node,
            entity=f"link:{netdev}:1" if netdev else "", attributes={key: one for key, one in named.items() if one},
        )  # fmt: skip


def _note(said: dict[str, str], name: str, value: str) -> None:
    power, warmth = _POWER.search(value), _TEMPERATURE.search(value)
    if power and ("Rcvr" in name or "Receiver" in name or "Rx power" in name):
        said["rx_dbm"] = _lowest(said.get("rx_dbm"), power["dbm"])
    elif power and ("tx power" in name or "output power" in name or "Transmit" in name):
        said["tx_dbm"] = _lowest(said.get("tx_dbm"), power["dbm"])
    elif warmth and name == "Module temperature":
        said["celsius"] = warmth["celsius"]
    elif name in ("Vendor name", "Vendor PN", "Vendor SN"):
        said[name.lower().replace(" ", "_")] = value


def _lowest(known: str | None, value: str) -> str:
    return value if known is None or float(value) < float(known) else known
