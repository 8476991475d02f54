"""What `faultwalk explain` says of a code: the tables, the registers of a pasted line, and the rules that read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from rich.text import Text

from api.code_words import say
from api.wording import word
from collectors import nvrm
from collectors.observation import Observation
from collectors.prefix import peel
from diagnosis.model import Action, Language
from diagnosis.rulebook import CauseRule, Rule, Rulebook, When
from diagnosis.rulebook.schema import Evidence
from diagnosis.tables import Code, NvlinkReading, StatedAction, Tables, read_registers

_KINDS = {
    "xid": frozenset({"xid", "xid_recurrence", "xid_spread"}),
    "sxid": frozenset({"sxid"}),
    "dcgm": frozenset({"dcgm_code"}),
}
_NAMES = {"xid": "Xid", "sxid": "SXid", "dcgm": "DCGM", "cuda": "CUDA", "nvml": "NVML"}
_METRIC = "DCGM_FI_DEV_XID_ERRORS"
_DRIVER = re.compile(
    r"(?:[Dd]river(?: [Vv]ersion)?|Kernel Module(?: for \w+)?|NVRM version)\W{1,4}(?:NVIDIA\W)?(\d{3}\.\d{2,3}(?:\.\d{2})?)\b"
)
_NVLINK_5 = range(144, 151)
_RECOVERY: tuple[tuple[str, Action], ...] = (
    ("Drain", "drain"), ("GPU Reset", "reset-gpu"), ("Node Reboot", "reboot"), ("IMEX", "reconfigure"), ("None", "ignore"),
)  # fmt: skip


def split_name(name: str) -> tuple[str, str]:
    """Return kind and code of `xid:79`, `DCGM_FR_NVLINK_DOWN`, `NVML_ERROR_TIMEOUT`, `cudaErrorAssert`; empty when it is none."""
    if name.startswith("DCGM_FR_"):
        return "dcgm", name
    if name.startswith("NVML_"):
        return "nvml", name
    if name.startswith(("CUDA_ERROR_", "cudaError")):
        return "cuda", name
    kind, _, code = name.partition(":")
    kind, code = kind.strip().lower(), code.strip()
    if kind not in _NAMES or not code:
        return "", ""
    if kind in ("xid", "sxid") and code.isdecimal():
        code = code.lstrip("0") or code
    return kind, code.upper() if kind == "dcgm" else code


def explain_code(name: str, pasted: str, rulebook: Rulebook, tables: Tables, language: Language) -> list[Text]:
    """Return the lines that explain a code, as far as it is known; none when nothing here knows it."""
    kind, wanted = split_name(name)
    lines = read_pasted(pasted)
    if not kind and "Xid (" in name:  # the line itself in the place of a name
        lines = read_pasted(name) + lines
        pasted = f"{name}\n{pasted}"
        if lines:
            kind, wanted = lines[0].kind, lines[0].code
    if not kind:
        return []
    code = tables.find(kind, wanted)
    number = code.code if code else wanted
    readers = list(find_readers(rulebook, kind, number, code))
    if code is None and not readers and not any((one.kind, one.code) == (kind, wanted) for one in lines):
        return []
    found = list(_head(kind, number, code, language))
    for line in lines:
        found += _line(line, kind, number, pasted, tables, language)
    if pasted and not lines:
        found.append(Text(say("no-code-in-line", language)))
    if code is not None:
        found += _body(code, rulebook, language)
    found += _rules(readers, code, language)
    if code is not None:
        found.append(Text(f"{word('references', language)}: {code.source}", style="dim"))
    return found


def read_pasted(text: str) -> list[Observation]:
    """Return the Xids and SXids in a pasted text."""
    found: list[Observation] = []
    for number, line in enumerate(text.splitlines(), 1):
        if "Xid (" in line:
            read = nvrm.parse_line(peel("pasted", number, line[:4000]))
            found += [one for one in read if isinstance(one, Observation) and one.kind in ("xid", "sxid")]
    return found


def read_driver(text: str) -> str | None:
    """Return the driver version that a text names, if it names one."""
    match = _DRIVER.search(text)
    return match[1] if match else None


def find_readers(
    rulebook: Rulebook, kind: str, number: str, code: Code | None = None
) -> Iterator[tuple[Rule, Evidence]]:
    """Yield each evidence of a rule that reads a code: as a typed fact, as a metric's value, or by one of its names."""
    for rule in rulebook.rules():
        for evidence in rule.evidence:
            if any(_reads(leaf, kind, number, code) for leaf in evidence.when.leaves()):
                yield rule, evidence


def _reads(leaf: When, kind: str, number: str, code: Code | None) -> bool:
    if leaf.kind in _KINDS.get(kind, ()):
        if leaf.code is None:  # every code, or every code of a class
            return (
                kind == "sxid" and code is not None and leaf.where.get("severity") == code.group.removeprefix("always-")
            )
        return number in {str(one) for one in (leaf.code if isinstance(leaf.code, list) else [leaf.code])}
    if leaf.metric is not None:
        names = leaf.metric if isinstance(leaf.metric, list) else [leaf.metric]
        low, high = leaf.at_least, leaf.at_most
        return (
            kind == "xid" and _METRIC in names and low is not None and high is not None and low <= int(number) <= high
        )
    if leaf.pattern is not None and code is not None and kind not in ("xid", "sxid"):
        regex = _compile(leaf.pattern)
        return any(regex.search(spelling) for spelling in _spell(code))
    return False


def _spell(code: Code) -> Iterator[str]:
    """Yield the texts under which a code stands in logs; short messages only with the words that always go before them."""
    yield from code.name.split(" ")
    if code.kind == "cuda":
        yield f"CUDA error: {code.prints}"
    elif code.kind == "nvml" and code.prints:
        yield f"Failed to initialize NVML: {code.prints}"
        yield f"nvml error: {code.prints.lower()}"


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _head(kind: str, number: str, code: Code | None, language: Language) -> Iterator[Text]:
    title = number if kind == "dcgm" else f"{_NAMES[kind]} {number}"
    if code is None:
        yield Text(title, style="bold")
        yield Text(say("not-in-table", language, kind=_NAMES[kind]))
        return
    names = "" if kind == "dcgm" else f"  {code.name.replace(' ', ' · ')}"
    yield Text.assemble((title, "bold"), (names, "dim"))
    yield Text(code.meaning.in_language(language))
    if code.prints:
        yield Text(f"{say('prints', language)}: {code.prints}", style="dim")
    if code.group:
        yield Text(f"{say('class', language)}: {say(f'class.{code.group}', language)}")
    if not code.in_use:
        yield Text(say("unused", language))
    elif code.products:
        yield Text(f"{say('products', language)}: {' '.join(code.products)}")


def _body(code: Code, rulebook: Rulebook, language: Language) -> Iterator[Text]:
    if code.harmless:
        yield Text(say(code.harmless, language))
    if code.note:
        yield Text(code.note.in_language(language))
    now = word(f"action.{code.action}", language)
    yield Text.assemble((f"{say('now', language)}: ", "bold"), now + _stated(code.immediate, language))
    if code.action_reason:
        yield Text(f"  {say('because', language)}: {code.action_reason}")
    if code.investigatory:
        yield Text.assemble(
            (f"{say('then', language)}: ", "bold"), _stated(code.investigatory, language).lstrip(" (").rstrip("）)")
        )
    if code.xid154:
        since = say("since", language, release=code.xid154) if code.xid154.startswith("R") else ""
        yield Text(say("xid154", language) + since)
    if code.follows:
        yield Text(f"{say('follows', language)}: {_list(code, code.follows, language)}")
    if code.brings:
        yield Text(f"{say('brings', language)}: {_list(code, code.brings, language)}")
    if code.cause:
        yield Text(f"{say('cause', language)}: {rulebook.title(code.cause, language)}  {code.cause}")
    if code.others:
        yield Text(f"{say('others', language)}: {code.others.in_language(language)}")


def _stated(action: StatedAction | None, language: Language) -> str:
    if action is None:
        return ""
    return say("stated", language, meaning=action.meaning.in_language(language), name=action.name)


def _list(code: Code, names: tuple[str, ...], language: Language) -> str:
    if names == ("*",):
        return say("any", language)
    parts = [name.partition(":") for name in names]
    own = [(kind if number else code.kind, number or kind) for kind, _, number in parts]
    return "; ".join(
        f"{_NAMES[kind]} {', '.join(number for _, number in group)}"
        for kind, group in groupby(own, key=lambda one: one[0])
    )


def _rules(readers: list[tuple[Rule, Evidence]], code: Code | None, language: Language) -> Iterator[Text]:
    if not readers:
        yield Text(say("no-rule-harmless" if code and code.harmless else "no-rule", language))
        return
    yield Text(say("rules", language), style="bold")
    for rule, group in groupby(readers, key=lambda one: one[0]):
        for _, evidence in group:
            why = (evidence.why or rule.title).in_language(language)
            yield Text(f"  {rule.id} [{evidence.strength}]: {why}")
        if isinstance(rule, CauseRule):
            yield from (Text(f"    - {step.in_language(language)}") for step in rule.fix)


def _line(line: Observation, kind: str, number: str, pasted: str, tables: Tables, language: Language) -> Iterator[Text]:
    """Explain a pasted line: where it stands, what its text says, and what its registers decode to."""
    yield Text(say("line", language), style="bold")
    if (line.kind, line.code) != (kind, number):
        other = tables.find(line.kind, line.code)
        means = other.meaning.in_language(language) if other else ""
        yield Text(f"  {say('other-code', language, code=f'{_NAMES[line.kind]} {line.code}')} {means}".rstrip())
    shown = [
        f"{say(f'field.{name}', language)} {line.attributes[name]}"
        for name in (
            "pci",
            "nvswitch",
            "mig",
            "pid",
            "process",
            "link",
            "unit",
            "severity",
            "place",
            "fault",
            "function",
            "previous",
        )
        if line.attributes.get(name)
    ]
    yield Text(f"  {say('comma', language).join(shown)}")
    if line.kind != "xid":
        return
    if line.code == "154":
        yield from _recovery(line, language)
    elif int(line.code) in _NVLINK_5:
        yield from _nvlink(line, read_driver(pasted), tables, language)
    if line.code in ("119", "120", "154") and line.attributes.get("process"):
        yield Text(f"  {say('bystander', language)}")


def _recovery(line: Observation, language: Language) -> Iterator[Text]:
    words = line.attributes.get("action", "")
    action = next((action for start, action in _RECOVERY if start in words), None)
    if action:
        yield Text.assemble((f"  {say('says', language)}: ", "bold"), f"{word(f'action.{action}', language)} ({words})")


def _nvlink(line: Observation, driver: str | None, tables: Tables, language: Language) -> Iterator[Text]:
    text = line.attributes.get("text", "")
    registers = read_registers(text)
    if len(registers) < 2:
        yield Text(f"  {say('no-registers', language)}")
        return
    unit = "MSE Degraded" if text.startswith("MSE Degraded") else text.split(" ", 1)[0]
    readings = tables.decode_nvlink5(int(line.code), registers[0], registers[1], driver, unit=unit)
    told = f" ({say('driver', language)} {driver})" if driver else ""
    if not readings:
        yield Text(
            f"  {say('no-decode', language, intrinfo=f'0x{registers[0]:08x}', status=f'0x{registers[1]:08x}')}{told}"
        )
    for reading in readings:
        yield from _reading(reading, told, registers, language)


def _reading(reading: NvlinkReading, told: str, registers: tuple[int, ...], language: Language) -> Iterator[Text]:
    family = say(f"family.{reading.family}", language)
    yield Text.assemble(("  " + say("decoded", language, family=family), "bold"), told)
    yield Text(f"    {say('field.unit', language)} {reading.unit}, {say('subcode', language)} {reading.subcode}")
    if not reading.codes:
        yield Text(f"    {say('half-decoded', language, status=f'0x{registers[1]:08x}')}")
        return
    for code in reading.codes:
        yield Text(f"    {code.meaning.in_language(language)}")
        severity = say(f"severity.{reading.severity if reading.promoted else code.severity}", language)
        yield Text(f"    {say('field.severity', language)}: {severity}; {say(f'side.{code.hw_or_sw}', language)}")
        yield Text(
            f"    {say('local', language)}: {code.local.in_language(language)}; {say('remote', language)}: {code.remote.in_language(language)}"
        )
        yield Text.assemble(
            (f"    {say('then', language)}: ", "bold"),
            f"{code.investigatory.meaning.in_language(language)} ({code.investigatory.name})",
        )
    if reading.promoted:
        yield Text(f"    {say('promoted', language)}")
    if reading.recovery:
        yield Text.assemble(
            (f"    {say('now', language)}: ", "bold"),
            f"{reading.recovery.meaning.in_language(language)} ({reading.recovery.name})",
        )
