"""`nvidia-smi nvlink`: link state (`-s`), error counters (`-e`), per-lane CRC counters (`-ec`) and capabilities (`-c`); and
`nvidia-smi c2c`: the same of the links between a GPU and its Grace CPU.

Drivers 384 to 595; documented in the nvidia-smi manual page. Up to NVLink 4 the counters are Replay, Recovery and CRC; drivers
570 and later print for NVLink 5 packet, recovery and bit error counters instead. Old drivers leave the UUID out. Samples::

    GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-0000-4000-8000-000000000001)
             Link 0: 26.562 GB/s
             Link 1: <inactive>
             Link 0: Replay Errors: 0
             Link 0: Recovery Errors: 12
             Link 0: Link recovery failed events: 0
             Link 0: Effective BER: 15e-255
             Link 0, Lane 3: CRC Errors: 7
             Link 0, P2P is supported: true
             C2C Link 0: 44.712 GB/s
             C2C Link 0: Error Back-to-Back Replay Count: 7
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "nvidia-smi"
LAYERS = ("hardware",)
SIGNATURES = (
    r"^\s+Link \d+: (?:[\d.]+ GB/s|<inactive>)", r"^\s+Link \d+: [A-Z][\w ]+ (?:Errors?|events|discards): \d",
    r"^\s*Link \d+, \w[\w ]+ supported: ", r"^\s+C2C Link \d+: ",
)  # fmt: skip
HEADS = (r"^GPU \d+: \S", r"^\s*Link 0, P2P is supported: ")

_GPU = compile_later(r"^GPU (?P<index>\d+): (?P<name>\S.*?)(?: \(UUID: (?P<uuid>GPU-[0-9a-f-]+)\))?\s*$")
_STATE = compile_later(r"^\s+Link (?P<link>\d+): (?P<state><inactive>|[\d.]+ GB/s|N/A)\s*$")
_CHIP_STATE = compile_later(r"^\s+C2C Link (?P<link>\d+): (?P<state><?[Ii]nactive>?|[\d.]+ GB/s)\s*$")
_CHIP_COUNTER = compile_later(r"^\s+C2C Link (?P<link>\d+): Error (?P<name>[A-Z][\w -]*?) Count: (?P<value>\d+)\s*$")
_NO_LINKS = compile_later(r"Unable to retrieve NVLink information as all links are inActive", re.I)
_COUNTER = compile_later(
    r"^\s+Link (?P<link>\d+)(?:(?:,|:) ?Lane (?P<lane>\d+))?: (?P<name>[A-Z][A-Za-z ]*?(?: - \d+)?)\s*: (?P<value>[\d.]+(?:e[-+]?\d+)?)\s*$"
)
_ABLE = compile_later(r"^\s*Link (?P<link>\d+), (?P<what>\w[\w ]*?)(?: is)? supported: (?P<value>true|false)\s*$", re.I)
# What is counted in healthy operation as well: traffic, corrected code words, raw bit errors of a lane.
_ORDINARY = compile_later(r"packets|bytes|\bFEC\b|\bRaw\b")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `nvlink` (code active, inactive, unknown or all-inactive), `nvlink_counter` (code = name of the counter,
    attributes link, lane, value), `nvlink_capability` (code p2p or no-p2p, one for each GPU), `c2c` (code active or inactive) and
    `c2c_counter` observations."""
    place = reader.place()
    head = peel(reader.input, reader.number, reader.peek() or "").text
    match = _GPU.match(head)
    if match:
        reader.next()
    elif not _ABLE.match(head):
        reader.next()
        return
    found = False
    while True:
        gpu, model = (match["index"], match["name"]) if match else ("", "")
        able: Counter[str] = Counter()
        begin = (0, "")
        while (text := reader.peek()) is not None and not _GPU.match(text):
            one = _read(text, reader, gpu, model)
            capable = _ABLE.match(text)
            if one is not None:
                found = True
                yield one
            elif capable:
                if capable["what"].upper() == "P2P":
                    able[capable["value"].lower()] += 1
                    begin = begin if begin[0] else (reader.number, text.strip())
            elif text.strip() and not text.startswith((" ", "\t")):
                break
            reader.next()
        if able:
            found = True
            attributes = {
                "links": str(sum(able.values())),
                "refused": str(able["false"]),
                **({"gpu": gpu, "model": model} if gpu else {}),
            }
            code = "no-p2p" if able["false"] else "p2p"
            yield _observe(reader.input, begin[0], begin[1], "nvlink_capability", code, attributes, gpu)
        following = reader.peek() if found else None
        match = _GPU.match(following) if following is not None else None
        if match is None:
            break
        reader.next()
    if not found:
        reader.back(place)


def _read(text: str, reader: Reader, gpu: str, model: str) -> Observation | None:
    common = {"gpu": gpu, "model": model} if gpu else {}
    state, counter = _STATE.match(text), _COUNTER.match(text)
    if state:
        code = "inactive" if "inactive" in state["state"] else "active" if "GB/s" in state["state"] else "unknown"
        found = {**common, "link": state["link"], "speed": state["state"]}
        return _observe(reader.input, reader.number, text.strip(), "nvlink", code, found, gpu)
    if counter and not _ORDINARY.search(counter["name"]):
        found = {"link": counter["link"], "value": counter["value"], **({"gpu": gpu} if gpu else {})}
        if counter["lane"]:
            found["lane"] = counter["lane"]
        return _observe(reader.input, reader.number, text.strip(), "nvlink_counter", _name(counter["name"]), found, gpu)
    chip, chip_counter = _CHIP_STATE.match(text), _CHIP_COUNTER.match(text)
    if chip:
        code = "active" if "GB/s" in chip["state"] else "inactive"
        return _observe(reader.input, reader.number, text.strip(), "c2c", code, {**common, "link": chip["link"]}, gpu)
    if chip_counter:
        found = {**common, "link": chip_counter["link"], "value": chip_counter["value"]}
        code = chip_counter["name"].lower().replace(" ", "-")
        return _observe(reader.input, reader.number, text.strip(), "c2c_counter", code, found, gpu)
    if _NO_LINKS.search(text):
        return _observe(reader.input, reader.number, text.strip(), "nvlink", "all-inactive", common, gpu)
    return None


def _name(text: str) -> str:
    """Return a counter's name without what all of them share.

    >>> _name("CRC FLIT Errors"), _name("Rx Errors"), _name("Link recovery failed events"), _name("Effective BER")
    ('crc', 'rx', 'link-recovery-failed', 'effective-ber')
    """
    words = re.sub(r" ?(?:Errors?|events)$", "", text, flags=re.I).lower().split()
    return words[0] if words and words[0] in ("replay", "recovery", "crc") else "-".join(words)


def _observe(
    name: str, number: int, text: str, kind: str, code: str, attributes: dict[str, str], gpu: str
) -> Observation:
    entity = f"gpu:{gpu}" if gpu else ""
    return Observation(SOURCE, kind, name, number, number, text, code=code, entity=entity, attributes=attributes)
