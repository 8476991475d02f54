"""mlxlink: state, bit error rates, module and troubleshooting advice of one port (`-m`, `-c`, `-e`, and `--json`).

MFT and mstflint (`mstlink`) 4.12 to 4.34; documented in NVIDIA's MFT manual, "mlxlink Utility"; field names of
`mlxlink/modules/mlxlink_commander.cpp`. A rate of `15E-255` means that no error was seen. With PAM4 (HDR, NDR) the symbol rate
is what is left after correction; before, the effective rate is. Sample::

    $ mlxlink -d mlx5_3 -m -c
    Operational Info
    ----------------
    State                              : Active
    Physical state                     : LinkUp
    Speed                              : IB-NDR
    Troubleshooting Info
    --------------------
    Enabled Link Speed                 : 0x000000ff (NDR,HDR,EDR,FDR,FDR10,QDR,DDR,SDR)
    Supported Cable Speed              : 0x0000007f (HDR,EDR,FDR,FDR10,QDR,DDR,SDR)
    Status Opcode                      : 15
    Recommendation                     : Bad signal integrity
    Physical Counters and BER Info
    Symbol BER                         : 3E-10
    Link Down Counter                  : 12
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from collectors import shell
from collectors.block import Reader, RefusedError
from collectors.fabric.link_diagnostics import diagnosis_of
from collectors.notes import Note
from collectors.observation import Observation, Record, Sample
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "mlxlink"
LAYERS = ("fabric",)
SIGNATURES = (
    r"^(?:Operational|Supported|Troubleshooting|Module) Info(?: \(\w+\))?$", r"^Physical Counters and BER Info$", r"^Status Opcode +: ",
    r"^Recommendation +: ", r"^(?:Raw|Effective) Physical (?:BER|Errors)", r"\bmlxlink -d ",
)  # fmt: skip
HEADS = (
    r"m(?:lx|st)link (?:.* )?-d ?\S", r"^Operational Info(?: \(\w+\))?$", r"^Troubleshooting Info$", r"^Physical Counters and BER Info$",
)  # fmt: skip
MAGIC = (rb"\A\s*\{[\s\S]{0,4000}\"Operational Info\"\s*:\s*\{",)

_COMMAND = compile_later(r"m(?:lx|st)link (?:.* )?-d ?(?P<device>\S+)(?:.* -p (?P<port>\d+))?")
_ANSI = compile_later(r"\x1b\[[\d;]*m")
_FIELD = compile_later(r"^(?P<name>[A-Z][\w \[\]/().,-]*?) *: (?P<value>.*\S)\s*$")
_SECTION = compile_later(r"^(?:[A-Z][\w ]+(?: \(\w+\))?|-{4,}|)$")
_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = compile_later(rf"^(?P<values>{_NUMBER}(?:, ?{_NUMBER})*) *\[(?P<low>{_NUMBER}) ?\.\. ?(?P<high>{_NUMBER})\]")
_RATE = compile_later(r"^(\d+(?:\.\d+)?)[eE](-?\d+)$")
_SPEED = compile_later(r"(?P<gbps>\d+)G")
_RATES = {"SDR": 10, "DDR": 20, "QDR": 40, "FDR": 56, "EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}
_METERS = {"Temperature [C]": "temperature", "Rx Power Current [dBm]": "rx-power", "Tx Power Current [dBm]": "tx-power",
           "Bias Current [mA]": "bias", "Voltage [mV]": "voltage"}  # fmt: skip
_FLAGS = {"Module FW Fault": "module-fault", "DataPath FW Fault": "module-fault", "Tx Fault [per lane]": "tx-fault",
          "Rx LOS [per lane]": "rx-lost", "Rx CDR LOL [per lane]": "rx-unlocked"}  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read one port from the command or the first section on."""
    command = _COMMAND.search(reader.peek() or "")
    device, port = (command["device"], command["port"] or "1") if command else ("", "1")
    if command:
        for prompt in shell.parse_line(peel(reader.input, reader.number, reader.peek() or "")):
            reader.node = prompt.node or reader.node
        reader.next()
    said: dict[str, tuple[int, str]] = {}
    for _ in range(400):
        raw = reader.peek()
        text = _ANSI.sub("", raw) if raw is not None else None
        if text is None or (text.startswith("Operational Info") and "State" in said):
            break
        field = _FIELD.match(text)
        if field is None and not _SECTION.match(text.rstrip()):
            break
        number = reader.number
        reader.next()
        if field and _COMMAND.search(text) is None:
            said.setdefault(field["name"], (number, field["value"]))
    yield from _tell(reader.input, reader.node, device, port, said)


def parse_document(name: str, data: bytes) -> Iterator[Record]:
    """Read the JSON form: the same fields in sections; lists of lanes under `values`."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RefusedError(Note.of("not-whole-json", error=str(error))) from None
    said: dict[str, tuple[int, str]] = {}
    device = ""
    queue: list[Any] = [told]
    while queue:
        part = queue.pop()
        for key, value in part.items() if isinstance(part, dict) else ():
            if isinstance(value, dict) and "values" not in value:
                queue.append(value)
            elif key.lower() == "device" and isinstance(value, str):
                device = value
            else:
                values = value["values"] if isinstance(value, dict) else value
                shown = ",".join(map(str, values)) if isinstance(values, list) else str(values)
                said.setdefault(str(key), (1, shown))
    yield from _tell(name, "", device, "1", said)


def _rate(text: str) -> float | None:
    """Return a bit error rate; one too small to be written as a number is none."""
    match = _RATE.match(text)
    if match is None:
        return None
    return 0.0 if int(match[2][:9]) < -60 else float(match[0])


def _judge_speed(
    observe: Callable[[str, str, str, Mapping[str, str]], Observation],
    text_of: Callable[[str], str],
    details: Mapping[str, str],
    rate: str,
) -> Iterator[Record]:
    """Yield `link-below` for an active link slower than the port may run, and where the cable sets the limit."""
    field_of = {
        name: f"{name} (Ext.)" if text_of(f"{name} (Ext.)") else name
        for name in ("Enabled Link Speed", "Supported Cable Speed")
    }
    enabled, cable = (_fastest(text_of(field)) for field in field_of.values())
    now = float(rate or 0)
    if not now or not enabled:
        return
    numbers = {**details, "gbps": f"{now:g}", "enabled_gbps": f"{enabled:g}"}
    if now < enabled:
        yield observe("link-below", "speed", "Speed", numbers)
    if cable and cable < enabled and now <= cable:
        yield observe("link-below", "cable", field_of["Supported Cable Speed"], {**numbers, "cable_gbps": f"{cable:g}"})


def _fastest(text: str) -> float:
    """Return the fastest of `0x0000007f (HDR,EDR,FDR,...)` or `0x... (200G_4X,100G_4X,...)` in Gb/s."""
    named = text.partition("(")[2].rstrip(")").split(",")
    speeds = [_SPEED.search(one) for one in named]
    return max(
        [float(_RATES.get(one.strip(), 0)) for one in named] + [float(found["gbps"]) for found in speeds if found],
        default=0.0,
    )


def _tell(name: str, node: str, device: str, port: str, said: Mapping[str, tuple[int, str]]) -> Iterator[Record]:
    nic = device.rpartition("/")[2] if device else ""
    entity = f"link:{nic}:{port}" if nic else ""
    common = {"nic": nic, "port": port} if nic else {}

    def observe(kind: str, code: str, field: str, attributes: Mapping[str, str]) -> Observation:
        number, value = said[field]
        kept = {key: one for key, one in {**common, **attributes}.items() if one}
        return Observation(
            SOURCE,
            kind,
            name,
            number,
            number,
            f"{field}: {value}",
            code=code,
            node=node,
            entity=entity,
            attributes=kept,
        )

    def text_of(field: str) -> str:
        return said[field][1] if field in said else ""

    if "State" in said:
        state, speed = text_of("State").lower(), text_of("Speed")
        gbps = _SPEED.search(speed)
        rate = gbps["gbps"] if gbps else str(_RATES.get(speed.removeprefix("IB-"), ""))
        details = {
            "physical": text_of("Physical state"),
            "width": text_of("Width"),
            "fec": text_of("FEC"),
            "speed": speed,
        }
        code = "active" if state.startswith("active") else "down"
        if code == "down":
            details["physical"] = text_of("State")
        yield observe("port", code, "State", details | ({"gbps": rate} if rate and code == "active" else {}))
        yield from _judge_speed(observe, text_of, details, rate if code == "active" else "")
    if "Recommendation" in said:
        yield observe(
            "link-diagnosis",
            diagnosis_of(text_of("Recommendation")),
            "Recommendation",
            {"opcode": text_of("Status Opcode")},
        )
    real = next((field for field in ("Symbol BER", "Effective Physical BER") if _rate(text_of(field)) is not None), "")
    if real:
        rates = {
            field.lower().replace(" ", "_"): text_of(field)
            for field in ("Raw Physical BER", "Effective Physical BER", "Symbol BER")
        }
        yield observe("ber", "", real, rates | {"rate": f"{_rate(text_of(real)):g}"})
    for field, metric in (
        ("Link Down Counter", "link_downed"), ("Link Error Recovery Counter", "link_error_recovery"),
        ("Symbol Errors", "symbol_error"), ("Effective Physical Errors", "effective_physical_errors"),
    ):  # fmt: skip
        if text_of(field).isdecimal():
            yield Sample(
                SOURCE, metric, float(text_of(field)), name, said[field][0], node=node, entity=entity, labels=common
            )
    for field, what in _METERS.items():
        meter = _RANGE.match(text_of(field))
        values = [float(one) for one in meter["values"].split(",")] if meter else []
        if meter and values and float(meter["low"]) < float(meter["high"]):
            low, high = min(values) < float(meter["low"]), max(values) > float(meter["high"])
            code = f"{what}-low-alarm" if low else f"{what}-high-alarm" if high else "ok"
            if code != "ok" or what == "rx-power":
                yield observe("optics", code, field, {"value": f"{min(values) if not high else max(values):g}"})
    for field, code in _FLAGS.items():
        if any(one.strip() in ("1", "Yes", "True", "true") for one in text_of(field).split(",")):
            yield observe("optics", code, field, {})
