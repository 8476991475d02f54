"""What the power supplies of a host can give: `dmidecode -t 39`.

dmidecode 2.9 to 3.6, DMI type 39 "System Power Supply" of SMBIOS 2.3.1 on (`src/dmidecode.c`). Vendors leave it out or write
`Unknown`; a bay without a supply says so in `Status`. Sample::

    Handle 0x0043, DMI type 39, 22 bytes
    System Power Supply
        Location: Internal
        Name: PSU1
        Max Power Capacity: 490 W
        Status: Present, OK
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "host"
LAYERS = ("hardware",)
SIGNATURES = (r"^Handle 0x[0-9A-F]{4}, DMI type \d+, \d+ bytes",)
HEADS = (r"^System Power Supply$",)
_FIELD = compile_later(r"^\s+(?P<name>[A-Z][\w ]+): *(?P<value>.*?)\s*$")
_WATTS = compile_later(r"(?P<number>\d+) *W$")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `supply` with its `watts`, where a supply is present and says what it can give."""
    reader.next()
    said: dict[str, tuple[int, str, str]] = {}
    while True:
        number, text = reader.number, reader.peek()
        match = _FIELD.match(text[:400]) if text is not None else None
        if text is None or not match:
            break
        reader.next()
        said.setdefault(match["name"], (number, match["value"], text.strip()))
    number, value, text = said.get("Max Power Capacity", (0, "", ""))
    watts = _WATTS.search(value)
    status = said.get("Status", (0, "", ""))[1]
    if not watts or int(watts["number"]) <= 0 or status.startswith("Not Present"):
        return
    named = {"watts": watts["number"], "name": said.get("Name", (0, "", ""))[1], "status": status}
    yield Observation(
        SOURCE, "supply", reader.input, number, number, text, node=reader.node,
        attributes={name: value for name, value in named.items() if value},
    )  # fmt: skip
