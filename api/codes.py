"""What `faultwalk explain` says of a code: the tables, the registers of a pasted line, and the rules that read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from rich.text import Text

from api.code_words import say
from api.wording import word
from collectors.gpu import nvrm
from collectors.observation import Observation
from collectors.prefix import peel
from diagnosis.model import Language
from diagnosis.rulebook import CauseRule, Rule, Rulebook, When, find_rules_folder
from diagnosis.rulebook.schema import Evidence
from diagnosis.tables import Code, NvlinkReading, StatedAction, Tables, read_registers
from diagnosis.tables.link_registers import decode_link, load_link_bits, read_link

_KINDS = {
    "xid": frozenset({"xid", "xid_recurrence", "xid_spread", "last_xid"}),
    "sxid": frozenset({"sxid"}),
    "dcgm": frozenset({"dcgm_code"}),
}
_NAMES = {"xid": "Xid", "sxid": "SXid", "dcgm": "DCGM", "cuda": "CUDA", "nvml": "NVML"}
_METRIC = "DCGM_FI_DEV_XID_ERRORS"
_DRIVER = re.compile(
    r"(?:[Dd]river(?: [Vv]ersion)?|Kernel Module(?: for \w+)?|NVRM version)\W{1,4}(?:NVIDIA\W)?(\d{3}\.\d{2,3}(?:\.\d{2})?)\b"
)
_NVLINK_5 = range(144, 151)
_RECOVERY = (
    ("Drain P2P", "drain-p2p"),
    ("Drain", "drain-reset"),
    ("GPU Reset", "reset"),
    ("Node Reboot", "reboot"),
    ("IMEX", "imex"),
    ("None", "none"),
)


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
    decided = False
    for line in lines:
        told = list(_instruct(line, read_driver(pasted), tables, language))
        decided = decided or (bool(told) and (line.kind, line.code) == (kind, number))
        found += [*_line(line, kind, number, tables, language), *told]
    if pasted and not lines:
        found.append(Text(say("no-code-in-line", language)))
    if code is not None:
        found += _body(code, rulebook, language, decided=decided)
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
            if any(_reads(leaf, kind, number, code) for leaf in _leaves(evidence.when)):
                yield rule, evidence


def _leaves(when: When) -> Iterator[When]:
    """Yield the conditions that must hold, without those that must not."""
    parts = [part for part in when.parts() if part.form != "none"]
    if not when.parts():
        yield when
    for part in parts:
        yield from _leaves(part)


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
    yield from code.name.split(" / ")
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
    yield Text.assemble((title, "bold"), ("" if kind == "dcgm" else f"  {code.name}", "dim"))
    yield Text(code.meaning.in_language(language))
    if code.prints:
        yield _labelled("prints", code.prints, language)
    if code.group:
        yield _labelled("class", say(f"class.{code.group}", language), language)
    if not code.in_use:
        yield Text(say("unused", language))
    elif code.products:
        yield _labelled("products", " ".join(code.products), language)


def _body(code: Code, rulebook: Rulebook, language: Language, *, decided: bool) -> Iterator[Text]:
    """Tell what the table says; what to do only when the pasted line has not said it."""
    if code.harmless:
        yield Text(say(code.harmless, language))
    if code.note:
        yield Text(code.note.in_language(language))
    if not decided:
        stated = say("stated", language, text=_state(code.immediate, language)) if code.immediate else ""
        yield _labelled("now", word(f"action.{code.action}", language) + stated, language, style="bold")
        if code.action_reason:
            yield _labelled("because", code.action_reason, language)
        if code.investigatory and code.investigatory != code.immediate:
            yield _labelled("then", _state(code.investigatory, language), language, style="bold")
    if code.xid154:
        since = say("since", language, release=code.xid154) if code.xid154.startswith("R") else ""
        yield Text(say("xid154", language) + since)
    if code.follows:
        yield _labelled("follows", _list(code, code.follows, language), language)
    if code.brings:
        yield _labelled("brings", _list(code, code.brings, language), language)
    if code.cause:
        yield _labelled("cause", f"{rulebook.title(code.cause, language)}  {code.cause}", language)
    if code.others:
        yield _labelled("others", code.others.in_language(language), language)


def _labelled(key: str, text: str, language: Language, *, style: str = "", indent: str = "") -> Text:
    return Text.assemble((f"{indent}{say(key, language)}{say('colon', language)}", style), text)


def _state(action: StatedAction, language: Language) -> str:
    """Write a vendor's action: what it means, and the word that the vendor has for it."""
    name = re.sub(r"^(?:DCGM|SXID|CUDA)_", "", action.name)
    return f"{name}{say('colon', language)}{action.meaning.in_language(language)}"


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


def _line(line: Observation, kind: str, number: str, tables: Tables, language: Language) -> Iterator[Text]:
    """Tell where a pasted line stands and what its text says."""
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
    if line.attributes.get("text"):
        yield Text(f"  {line.attributes['text']}", style="dim")
    if line.code in ("119", "120", "154") and line.attributes.get("process"):
        yield Text(f"  {say('bystander', language)}")


def _instruct(line: Observation, driver: str | None, tables: Tables, language: Language) -> Iterator[Text]:
    """Tell what the line itself asks for: the action that Xid 154 names, or what the registers of 144 to 150 decode to."""
    if line.kind != "xid":
        return
    if line.code == "154":
        words = line.attributes.get("action", "")
        name = next((name for start, name in _RECOVERY if start in words), "")
        if name:
            yield _labelled("says", say(f"recovery.{name}", language), language, style="bold", indent="  ")
    elif line.code == "74":
        yield from _link(line, language)
    elif int(line.code) in _NVLINK_5:
        yield from _nvlink(line, driver, tables, language)


def _link(line: Observation, language: Language) -> Iterator[Text]:
    """Tell what the registers of an Xid 74 say, gravest first."""
    found = read_link(line.attributes.get("text", ""))
    if found is None:
        return
    readings, unknown = decode_link(found[1], load_link_bits(find_rules_folder()))
    yield Text(f"  {say('link-registers', language, link=found[0])}", style="bold")
    for one in readings:
        bits = ", ".join(map(str, one.bits))
        yield Text(
            f"    {say('link-bits', language, register=one.row.register, bits=bits)} {one.row.meaning.in_language(language)}"
        )
        yield Text(f"      {one.row.advice.in_language(language)}")
    if unknown:
        shown = ", ".join(f"{register}:{bit}" for register, bit in unknown)
        yield Text(f"    {say('link-unknown', language, bits=shown)}")
    if not readings and not unknown:
        yield Text(f"    {say('link-empty', language)}")


def _nvlink(line: Observation, driver: str | None, tables: Tables, language: Language) -> Iterator[Text]:
    text = line.attributes.get("text", "")
    registers = read_registers(text)
    if len(registers) < 2:
        return
    unit = "MSE Degraded" if text.startswith("MSE Degraded") else text.split(" ", 1)[0]
    readings = tables.decode_nvlink5(int(line.code), registers[0], registers[1], driver, unit=unit)
    if not readings:
        shown = (f"0x{one:08x}" for one in registers[:2])
        yield Text(f"  {say('no-decode', language, registers=', '.join(shown))}")
    for reading in readings:
        told = say("by-driver", language, driver=driver) if driver else ""
        yield Text(f"  {say(f'family.{reading.family}', language)}{told}", style="bold")
        yield from _reading(reading, registers[1], language)


def _reading(reading: NvlinkReading, status: int, language: Language) -> Iterator[Text]:
    indent = " " * 4
    yield Text(
        f"{indent}{say('field.unit', language)} {reading.unit}{say('comma', language)}{say('subcode', language)} {reading.subcode}"
    )
    if not reading.codes:
        yield Text(indent + say("half-decoded", language, status=f"0x{status:08x}"))
        return
    for code in reading.codes:
        yield Text(indent + code.meaning.in_language(language))
        severity = say(f"severity.{reading.severity if reading.promoted else code.severity}", language)
        yield _labelled(
            "field.severity",
            severity + say("comma", language) + say(f"side.{code.hw_or_sw}", language),
            language,
            indent=indent,
        )
        yield _labelled("local", code.local.in_language(language), language, indent=indent)
        yield _labelled("remote", code.remote.in_language(language), language, indent=indent)
    if reading.promoted:
        yield Text(indent + say("promoted", language))
    if reading.recovery:
        yield _labelled("now", _state(reading.recovery, language), language, style="bold", indent=indent)
    for stated in dict.fromkeys(code.investigatory for code in reading.codes):
        yield _labelled("then", _state(stated, language), language, style="bold", indent=indent)
