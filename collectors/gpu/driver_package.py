"""What NVIDIA driver is loaded, installed and built for which kernel, and whether the firmware demands signed modules.

`/proc/driver/nvidia/version` (drivers 310 to 595), `modinfo nvidia`, `dkms status` (2.x `nvidia, 460.56, KERNEL, ARCH: STATE`, 3.x
`nvidia/460.56, ...`), `mokutil --sb-state`, `uname -a` and `uname -r`; nvidia-bug-report.sh prints some of them. Samples::

    NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.172.08  Release Build  (dvs-builder@U16-I2)
    nvidia/535.230.02, 5.15.0-153-generic, x86_64: installed
    filename:       /lib/modules/5.15.0-153-generic/updates/dkms/nvidia.ko
    vermagic:       5.15.0-153-generic SMP mod_unload modversions
    SecureBoot enabled
    Linux node-1 5.15.0-153-generic #163-Ubuntu SMP Thu Aug 7 16:37:18 UTC 2025 x86_64 x86_64 x86_64 GNU/Linux
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "driver"
LAYERS = ("node",)
_RELEASE = r"\d{1,2}\.\d{1,3}\.\d{1,3}[-.+_~\w]*"
_FLAVOURS = r"generic|aws|azure|gcp|gke|oracle|lowlatency|nvidia|amd64|cloud-amd64|el\d|fc\d\d|default|server"
_BARE_RELEASE = rf"^{_RELEASE}[-.](?:{_FLAVOURS})[\w.-]*\s*$"
SIGNATURES = (
    r"^NVRM version: ", r"^nvidia[\w-]*(?:/|, )\d{3}\.[\d.]+[,:]", r"^SecureBoot (?:enabled|disabled)",
    r"^(?:filename:\s+/lib/modules/|vermagic:\s)",
)  # fmt: skip
ANCHORS = (
    r"NVRM version: NVIDIA UNIX ", r"^nvidia[\w-]*(?:/|, )\d{3}\.[\d.]+[,:]", r"^SecureBoot (?:enabled|disabled)",
    r"secureboot: Secure boot (?:enabled|disabled)", rf"(?:^|^uname: )Linux \S+ {_RELEASE} #\d", _BARE_RELEASE,
    r"EFI variables are not supported on this system", r"modinfo: ERROR: Module (?:alias )?nvidia not found",
)  # fmt: skip
HEADS = (r"^filename:\s+\S*/nvidia[\w-]*\.ko", r"(?:^|[#$] |/)modinfo nvidia[\w-]*(?: ?\| ?grep \S+)?\s*$")

_MODULE = compile_later(
    r"NVRM version: NVIDIA UNIX (?P<open>Open )?(?:\S+ )?Kernel Module(?: for \S+)?\s+(?P<driver>\d{3}\.[\d.]+)"
)
_DKMS = compile_later(
    rf"^(?P<module>nvidia[\w-]*)(?:/|, )(?P<driver>\d{{3}}\.[\d.]+)(?:, (?P<kernel>{_RELEASE}), (?P<machine>\w+))?"
    r": (?P<state>[\w-]+)(?P<remark>.*)$"
)
_BOOT = compile_later(r"(?:SecureBoot|secureboot: Secure boot) (?P<state>enabled|disabled)")
_UNAME = compile_later(rf"(?:^|^uname: )Linux (?P<host>\S+) (?P<kernel>{_RELEASE}) #\d")
_BARE = compile_later(rf"^({_RELEASE})\s*$")
_FIELD = compile_later(
    r"^(?P<name>filename|version|vermagic|signer|license|srcversion|sig_\w+|firmware|depends|parm|alias|author|name|retpoline|intree|"
    r"signature|description|import_ns|supported|rhelversion|suserelease|staging|softdep):\s*(?P<value>.*?)\s*$"
)
_MISSING = compile_later(r"modinfo: ERROR: Module (?:alias )?(nvidia[\w-]*) not found")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `driver_module` (code = the loaded version, attribute open), `dkms` (code = state), `secure_boot` (code = enabled,
    disabled or absent), `running_kernel` (code = release) and `modinfo` (code = absent) observations."""
    text = line.text
    match = _MODULE.search(text)
    if match:
        yield _observe(
            line,
            "driver_module",
            match["driver"],
            {"driver": match["driver"], "open": "yes" if match["open"] else "no"},
        )
        return
    match = _DKMS.match(line.raw.strip())
    if match:
        found = {name: value.strip() for name, value in match.groupdict().items() if value and value.strip()}
        yield _observe(line, "dkms", match["state"].lower(), found)
        return
    match = _BOOT.search(text)
    if match or "EFI variables are not supported" in text:
        yield _observe(line, "secure_boot", match["state"] if match else "absent", {})
        return
    match = _UNAME.search(text)
    if match:
        if match["host"] not in ("localhost", "(none)"):
            line.host = line.host or normalise_node(match["host"])
        yield _observe(line, "running_kernel", match["kernel"], {"kernel": match["kernel"]})
        return
    match = _BARE.match(line.raw)
    if match:
        yield _observe(line, "running_kernel", match[1], {"kernel": match[1]})
        return
    match = _MISSING.search(text)
    if match:
        yield _observe(line, "modinfo", "absent", {"module": match[1]})


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield one `modinfo` observation: code = version, unknown when it was filtered out, or absent when nothing was printed."""
    first, head = reader.number, reader.next() or ""
    titled = "modinfo nvidia" in head
    found: dict[str, str] = {}
    begin, last, place = first, first, reader.place()
    match = _FIELD.match(head[:2000]) if not titled else None
    if match:
        found[match["name"]] = match["value"]
    for number, text in reader.lines(600):
        match = _FIELD.match(text[:2000])
        if match:
            begin = number if not found else begin
            found.setdefault(match["name"], match["value"])
            last, place = number, reader.place()
        elif text.strip() or number > first + 3 or found:
            if _MISSING.search(text):
                found = {}
            break
    reader.back(place)
    module = re.search(r"(nvidia[\w-]*?)(?:\.ko|\s|$)", found.get("filename", "").rpartition("/")[2] or head)
    attributes = {name: found[name] for name in ("version", "license", "signer", "filename") if found.get(name)}
    attributes |= {"module": module[1].replace("-", "_") if module else "nvidia"}
    if found.get("vermagic"):
        attributes["kernel"] = found["vermagic"].split()[0]
    if "filename" in found:
        attributes["signed"] = "yes" if found.get("signer") or found.get("sig_key") else "no"
    if found or (titled and not head.lstrip().startswith(("#", "$"))):
        code = found.get("version") or ("unknown" if found else "absent")
        text = f"modinfo {attributes['module']}: " + ", ".join(
            f"{name}={value}" for name, value in sorted(attributes.items())
        )
        yield Observation(
            SOURCE, "modinfo", reader.input, begin, last, text, code=code, node=reader.node, attributes=attributes
        )


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE,
        kind,
        line.input,
        line.number,
        line.number,
        line.text,
        code=code,
        time=line.time,
        node=line.host,
        attributes=attributes,
    )
