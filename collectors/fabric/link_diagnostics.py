"""Why a switch port has no link or a bad one, in the words of its firmware: MLNX-OS and NVOS tables, Cumulus Linux `l1-show`.

MLNX-OS and Onyx 3.6 to 3.12 (`show interfaces ib link-diagnostics`), documented in NVIDIA's MLNX-OS user manual, "Link Diagnostic
Per Port", with the numbers; Cumulus Linux 3.7 to 5.x (`l1-show`, "Troubleshooting Info"). mlxlink says the same of a host's port
(`collectors.fabric.mlxlink`). Samples::

    Interface     Code     Status
    IB1/12        15       Bad signal integrity.
    IB1/13        1024     Cable is unplugged.
          Troubleshooting Info: No issue was observed.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.fabric.fabric_names import port_name
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "switch"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^Interface +Code +Status\s*$",
    r"^ *(?:IB|Eth)\d+/\d+\S* +\d{1,4} +[A-Z][a-z]",
    r"^\s+Troubleshooting Info: [A-Z]",
)
ANCHORS = (r"Troubleshooting Info: [A-Z]",)
HEADS = (r"^Interface +Code +Status",)

_L1_SHOW = compile_later(r"Troubleshooting Info: ([A-Z].*)$")
_ROW = compile_later(r"^ *(?P<port>(?:IB|Eth)?\d+/\d+(?:/\d+)*) +(?P<opcode>\d{1,4}) +(?P<said>[A-Z][a-z].*\S)")


def diagnosis_of(text: str) -> str:
    """Return the words as a code: in lower case, without the full stop."""
    return " ".join(text.lower().rstrip(". ").split())


def parse_line(line: Line) -> Iterator[Record]:
    """Yield the `link-diagnosis` that Cumulus Linux shows of a port."""
    said = _L1_SHOW.search(line.text)
    if said:
        yield Observation(
            SOURCE, "link-diagnosis", line.input, line.number, line.number, line.text, code=diagnosis_of(said[1]), time=line.time,
            node=line.host,
        )  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read the table of a switch: port, number, what is the matter."""
    reader.next()
    while (text := reader.peek()) is not None:
        row = _ROW.match(text)
        if row is None and not (text.startswith("---") and not text.strip(" -")):
            return
        number = reader.number
        reader.next()
        if row:
            yield Observation(
                SOURCE, "link-diagnosis", reader.input, number, number, text.strip(), code=diagnosis_of(row["said"]), node=reader.node,
                entity=f"link:{port_name(row['port'])}:1", attributes={"opcode": row["opcode"], "nic": row["port"]},
            )  # fmt: skip
