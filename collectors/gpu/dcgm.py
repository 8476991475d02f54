"""DCGM: `dcgmi diag`, `dcgmi health --check`, `dcgmi nvlink`, nv-hostengine's log and dcgm-exporter's own log.

DCGM 2.x to 4.x (`dcgmi` boxes of NVIDIA/DCGM; error codes `DCGM_FR_*` of its `dcgm_errors.h`). A box cuts its texts at the
cell's width in mid-word, so cells of one row are joined without a blank. Samples::

    | GPU Memory                | Fail - GPU: 0                                  |
    | Warning                   | GPU 0 Thermal violations totaling 13.3 second  |
    |                           | s started at 10.4 seconds into the test        |
        gpuId 0:
            U U U U U D
    2025-12-22 03:10:40.011 ERROR [1514002:1514004] [[Health]] Detected a WARNING in health system Thermal: '...'
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.gpu.dcgm_messages import find_codes
from collectors.observation import Observation, Record
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "dcgm"
LAYERS = ("hardware",)
SIGNATURES = (
    r"^\| (?:Diagnostic|DCGM Version|Health Monitor Report)\b", r"^Successfully ran diagnostic for group", r"NvLink Link Status",
    r"(?:ERROR|WARN|INFO|DEBUG|FATAL) +\[\d+:\d+\] ", r"^\| NVLINK Error Counts",
    (
        r"msg=\"?(?:Starting dcgm-exporter|DCGM successfully initialized|(?:Not c|C)ollecting DCP|Falling back to metric file|Initializing "
        r"system entities|Not collecting \w+ metrics|Kubernetes metrics collection|Pipeline starting|Skipping line \d+ \('DCGM_)"
    ),
)  # fmt: skip
ANCHORS = (r"(?:ERROR|FATAL|WARN|WARNING|CRITICAL) +\[\d+:\d+\] ", r"DCGM_FR_[A-Z]")
HEADS = (
    r"^\+?[-=+| ]*\| Diagnostic +\| Result",
    r"^\| (?:Health Monitor Report|Overall Health) ",
    r"\|  ?NvLink Link Status",
    r"^\| NVLINK Error Counts",
)

_ENGINE = compile_later(
    r"(?P<level>ERROR|FATAL|WARN|WARNING|CRITICAL) +\[\d+:\d+\] (?:\[\[(?P<module>\w+)\]\] )?(?P<text>.*?)"
    r"(?: \[/[^\]]*:\d+\](?: \[[^\]]*\])?)?$"
)
_HEALTH = compile_later(r"Detected an? (?P<level>\w+) in health system (?P<system>[\w /]+): '(?P<text>.*?)'")
_CODE = compile_later(r"DCGM_FR_[A-Z_0-9]{3,}")
_ROW = compile_later(r"^\| (?P<name>.{2,40}?) *\| (?P<value>.*?) *\|\s*$")
_NEXT = compile_later(r"^\| +\| (?P<value>.*?) *\|\s*$")
_RESULT = compile_later(r"(?P<result>Pass|Fail|Warn|Skip)\b(?: - (?P<who>.*))?")
_GPU = compile_later(r"\bGPUs?:? ?(?P<gpus>\d+(?:, ?\d+)*)", re.I)
_EACH = compile_later(r"GPU ?(?P<gpu>\d+): (?P<result>Pass|Fail|Warn|Skip)\b")
_COUNT = compile_later(
    r"^\| *(?:GPU (?P<gpu>\d+)|NvSwitch \d+|Link (?P<link>\d+)|-> (?P<counter>[A-Za-z ]+?) Errors? *\| (?P<value>\d+))[ |]*$"
)
_LETTERS = compile_later(r"^\s+(?P<letters>[UDX_](?: [UDX_])*)\s*$")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `dcgm_log` (code = module), `dcgm_health` (code = system) and `dcgm_code` (code = DCGM_FR_...) observations."""
    code = _CODE.search(line.text)
    if code:
        found = _gpu_attributes(line.text)
        yield _observe(line.input, line.number, line.text, "dcgm_code", code[0], found, time=line.time, host=line.host)
    match = _ENGINE.search(line.text[:4000])
    if not match:
        return
    health = _HEALTH.search(match["text"])
    if health:
        found = {"level": health["level"], "message": health["text"], **_gpu_attributes(health["text"])}
        yield _observe(
            line.input, line.number, line.text, "dcgm_health", health["system"], found, time=line.time, host=line.host
        )
    found = {"level": match["level"], "message": match["text"][:400]}
    yield _observe(
        line.input, line.number, line.text, "dcgm_log", match["module"] or "", found, time=line.time, host=line.host
    )


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read a result box, a health report or the link letters."""
    head = peel(reader.input, reader.number, reader.next() or "").text
    if "NVLINK" in head:
        yield from _read_counts(reader)
    elif "NvLink" in head:
        yield from _read_links(reader)
    else:
        yield from _read_box(reader)


def _observe(
    name: str, number: int, text: str, kind: str, code: str, attributes: dict[str, str], *, last: int = 0,
    time: float | None = None, host: str = "", entity: str = "",
) -> Observation:  # fmt: skip
    entity = entity or (f"gpu:dcgm-{attributes['gpu']}" if "gpu" in attributes else "")
    return Observation(
        SOURCE,
        kind,
        name,
        number,
        last or number,
        text,
        code=code,
        time=time,
        node=host,
        entity=entity,
        attributes=attributes,
    )


def _gpu_attributes(text: str) -> dict[str, str]:
    match = _GPU.search(text)
    return {"gpu": match["gpus"].partition(",")[0]} if match else {}


def _read_box(reader: Reader) -> Iterator[Record]:
    """Yield `dcgm_test` (code = the test's name in lower case, attribute `result`) and `dcgm_warning` observations."""
    name, value, first, last, test = "", "", 0, 0, ""
    failed: dict[str, str] = {}  # DCGM 4: the GPUs that failed the test, with the result of each

    def close() -> Iterator[Record]:
        nonlocal test
        if not name:
            return
        plain = name.strip().lower().replace(" ", "_")
        yield from find_codes(value, reader.input, first, last=last)
        match = _RESULT.match(value)
        if match:
            test = plain
            found = {"result": match["result"].lower(), "message": value, "test": test}
            if match["result"] in ("Fail", "Warn") and not failed:
                found.update(_gpu_attributes(match["who"] or value))
            if not failed:
                yield _observe(reader.input, first, f"{name}: {value}", "dcgm_test", plain, found, last=last)
            for gpu, result in failed.items():
                each = {**found, "gpu": gpu, "result": result.lower()}
                yield _observe(reader.input, first, f"{name}: GPU{gpu}: {result}", "dcgm_test", plain, each, last=last)
            failed.clear()
        elif plain.startswith(("warning", "error", "info")) or plain == "eud_test":
            found = {"message": value, "test": test, **_gpu_attributes(value)}
            yield _observe(reader.input, first, f"{name}: {value}", "dcgm_warning", test, found, last=last)

    for number, text in reader.lines(4000):
        if not text.startswith(("|", "+")):
            break
        more = _NEXT.match(text)
        row = _ROW.match(text)
        if more and name:
            each = _EACH.match(more["value"])
            if each is None:
                value, last = value + more["value"], number
            elif each["result"] in ("Fail", "Warn"):
                failed[each["gpu"]], last = each["result"], number
        elif row and not text.startswith(("|--", "|==")):
            yield from close()
            name, value, first, last = row["name"].strip(), row["value"], number, number
            if name.lower() == "gpu" or re.match(r"GPU\d+$", row["value"]):  # DCGM 4: one row a GPU below its test
                continue
        else:
            yield from close()
            name = ""
    yield from close()


def _read_counts(reader: Reader) -> Iterator[Record]:
    """Yield an `nvlink_counter` (code crc, replay or recovery) for each count of `dcgmi nvlink -e`."""
    gpu = link = ""
    for number, text in reader.lines(4000):
        if text.startswith("+"):
            continue
        match = _COUNT.match(text[:200])
        if not match:
            return
        gpu, link = match["gpu"] or gpu, match["link"] or link
        if match["counter"] and link:
            found = {"link": link, "value": match["value"], **({"gpu": gpu} if gpu else {})}
            code = match["counter"].split()[0].lower()
            yield _observe(reader.input, number, text.strip(), "nvlink_counter", code, found)


def _read_links(reader: Reader) -> Iterator[Record]:
    """Yield an `nvlink` observation for each GPU or switch: how many links are up, down, disabled."""
    owner, who = "", ""
    for number, text in reader.lines(4000):
        match = re.match(r"^\s+(gpuId|physicalId|nvSwitchId|Switch) ?(\d+):", text)
        if match:
            owner, who = ("gpu" if match[1] == "gpuId" else "nvswitch"), match[2]
            continue
        letters = _LETTERS.match(text)
        if letters and owner:
            counts = {
                name: letters["letters"].count(letter)
                for letter, name in (("U", "up"), ("D", "down"), ("X", "disabled"))
            }
            found = {owner: who, **{name: str(count) for name, count in counts.items()}}
            state = "down" if counts["down"] else "up"
            entity = f"gpu:dcgm-{who}" if owner == "gpu" else f"{owner}:{who}"
            yield _observe(reader.input, number, text.strip(), "nvlink_status", state, found, entity=entity)
        elif text.startswith("Key:") or (
            text and not text.startswith((" ", "\t", "+", "|")) and not text.rstrip().endswith(":")
        ):
            return
