"""ipmitool: the system event log (`sel list`, `sel elist`) and sensors (`sdr type ...`, `sdr elist`, `sensor`); `ipmi-sel`.

ipmitool 1.8 and FreeIPMI 1.6; documented in their manual pages. Samples::

     5a1 | 03/11/2025 | 13:58:02 | Power Supply #0xe3 | Failure detected | Asserted
    FAN3_F           | 43h | lnr | 29.3 | 0 RPM
    FAN3             | 0.000      | RPM        | nr    | 300.000   | 500.000   | 700.000   | na        | na        | na
    12  | Feb-11-2024 | 03:12:44 | Memory Status | Memory | Critical | Uncorrectable memory error
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.clock import parse_iso
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "ipmi"
LAYERS = ("hardware",)
SIGNATURES = (
    r"^\s*[0-9a-f]{1,4} \| \d\d/\d\d/\d{2,4} \| \d\d:\d\d:\d\d",
    r"^\d{1,5} +\| [A-Z][a-z]{2}-\d\d-\d{4} \| \d\d:\d\d:\d\d \| ", r"^[\w +./#()-]{3,24}\| [0-9A-F]{2}h \| \w{2,3} ?\| ",
    r"^[\w +./#()-]{3,24}\| -?[\d.]+ (?:degrees C|RPM|Volts|Watts|Amps|percent) +\| (?:ok|ns|nc|cr|nr|unc|ucr|unr|lnc|lcr|lnr)\s*$",
)  # fmt: skip
ANCHORS = (
    r"^\s*[0-9a-f]{1,4} \| +\d\d/\d\d/\d{2,4} \| ", r" \| Critical +\| ", r" \| Warning +\| ",
    r"\| [0-9A-F]{2}h \| (?:lnr|lcr|lnc|unc|ucr|unr|nr|cr|nc|ns) ",
    r"\| (?:RPM|degrees C|Volts|Watts|Amps) +\| (?:nr|cr|nc|lnr|lcr|unr|ucr)\b",
    r"\d (?:RPM|degrees C|Volts|Watts|Amps) +\| (?:nr|cr|nc|lnr|lcr|unr|ucr)\s*$",
)  # fmt: skip
_SEL = compile_later(
    r"^\s*(?P<record>[0-9a-f]{1,4}) \| +(?P<date>\d\d/\d\d/\d{2,4}) \| +(?P<time>\d\d:\d\d:\d\d)(?: [A-Z]{3,5})?(?: [AP]M)? \| +"
    r"(?P<sensor>[^|]+?) \| +(?P<event>[^|]+?)(?: \| +(?P<state>Asserted|Deasserted)(?P<reading> \|.*)?)?\s*$"
)
_FREE = compile_later(  # FreeIPMI's ipmi-sel --output-event-state
    r"^\s*(?P<record>\d{1,5}) +\| (?P<date>[A-Z][a-z]{2}-\d\d-\d{4}) \| (?P<time>\d\d:\d\d:\d\d) \| (?P<sensor>[^|]+?) +\| "
    r"(?P<type>[^|]+?) +\| (?P<severity>Critical|Warning) +\| (?P<event>[^|]+?)\s*$"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SDR = compile_later(
    r"^(?P<sensor>[^|]{2,40}?) *\| (?P<id>[0-9A-F]{2})h \| (?P<state>\w+) *\| *(?P<place>[\d.]+) \| (?P<reading>.*?)\s*$"
)
_SENSOR = compile_later(
    r"^(?P<sensor>[^|]{2,40}?) *\| (?P<value>[\w.-]+) *\| (?P<unit>RPM|degrees C|Volts|Watts|Amps) *\| (?P<state>\w+) *\|"
)
_SHORT = compile_later(
    r"^(?P<sensor>[^|]{2,40}?) *\| (?P<reading>-?[\d.]+ (?:RPM|degrees C|Volts|Watts|Amps)) *\| (?P<state>\w+)\s*$"
)
_TYPES = (
    ("fan", r"fan|pump|cooling"), ("power", r"power|\bpsu?\b|ps\d|ac lost|redundancy|vin|voltage"),
    ("temperature", r"temp|inlet|ambient|exhaust|thermal"), ("memory", r"memory|dimm|ecc"),
    ("processor", r"processor|cpu|ierr|caterr"), ("pci", r"pci|slot|critical interrupt|bus (?:fatal|uncorrect)"),
)  # fmt: skip  # fmt: skip


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `sel` (code = kind of sensor, attributes sensor, event, state) and `sensor` (a reading outside its limits)."""
    text = line.raw if "|" in line.raw else line.text
    match = _SEL.match(text[:400]) or _FREE.match(text[:400])
    if match:
        found = {name: value.strip() for name, value in match.groupdict().items() if value}
        found["state"] = found.get("state", "Asserted").lower()
        kind = _type(f"{found.get('type', found['sensor'])} {found['event']}")
        yield Observation(
            SOURCE, "sel", line.input, line.number, line.number, text.strip(), code=kind,
            time=_time(match["date"], match["time"]), node=line.host, attributes=found,
        )  # fmt: skip
        return
    match = _SDR.match(text[:400]) or _SENSOR.match(text[:400]) or _SHORT.match(text[:400])
    if match and match["state"] not in ("ok", "ns", "na"):
        found = {name: value for name, value in match.groupdict().items() if value}
        found["reading"] = found.get("reading") or f"{found.get('value', '')} {found.get('unit', '')}"
        kind = (
            "fan"
            if "RPM" in found["reading"]
            else "temperature"
            if "degrees" in found["reading"]
            else _type(match["sensor"])
        )
        yield Observation(
            SOURCE, "sensor", line.input, line.number, line.number, text.strip(), code=kind, time=line.time, node=line.host,
            attributes=found,
        )  # fmt: skip


def _type(text: str) -> str:
    return next((name for name, regex in _TYPES if re.search(regex, text, re.I)), "other")


def _time(date: str, clock: str) -> float | None:
    if "-" in date:
        name, day, year = date.split("-")
        month = f"{_MONTHS.index(name) + 1:02d}" if name in _MONTHS else "00"
    else:
        month, day, year = date.split("/")
    return parse_iso(f"{year if len(year) == 4 else '20' + year}-{month}-{day}T{clock}")
