"""State of network file systems as their own tools and clients print it: Lustre imports, JuiceFS requests, Ceph health.

Formats: `lctl get_param osc.*.state mdc.*.state` (Lustre 2.10 to 2.16), JuiceFS client log 0.x to 1.3, `ceph health detail`,
`ceph -s` and ceph.log (10 to 19). Samples::

    osc.lfs01-OST0000-osc-ff4a2b1c40d1e000.state=
    current_state: EVICTED
    2024/07/03 15:23:37.196589 juicefs[450342] <WARNING>: Upload chunks/8/8341/8341911_0_4194304: timeout after 1m0s (try 4)
    HEALTH_WARN 1 MDSs report slow metadata IOs; 256 slow ops, oldest one blocked for 3285 sec, osd.29 has slow ops
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "storage"
LAYERS = ("storage",)
SIGNATURES = (
    r"juicefs\[\d+\] <[A-Z]+>: ",
    r"^(?:osc|mdc|mgc)\.\S+\.(?:state|import)=", r"\bHEALTH_(?:OK|WARN|ERR)\b", r"cluster \[(?:INF|WRN|ERR)\]",
)  # fmt: skip
HEADS = (r"^(?:osc|mdc|mgc)\.\S+\.(?:state|import)=",)
ANCHORS = (
    r"juicefs\[\d+\] <(?:WARNING|ERROR|FATAL|INFO)>: ",
    r"\bHEALTH_(?:WARN|ERR)\b", r"\d slow (?:ops|requests)", r"requests are blocked > \d",
)  # fmt: skip

_HEAD = compile_later("|".join(HEADS))
_TARGET = compile_later(
    r"^(?:osc|mdc|mgc)\.(?P<target>(?P<filesystem>[\w-]+?)-(?:OST|MDT)[0-9a-f]{4}|MGC\S*?)(?:-(?:osc|mdc)-\S+?)?\.(?:state|import)="
)
_STATE = compile_later(r"^\s*(?:current_)?state: \"?(?P<state>[A-Z_]+)")
_HISTORY = compile_later(r"^\s*- \[ ?(?P<time>\d+), \"?(?P<state>[A-Z_]+)")
_JUICEFS = compile_later(r"juicefs\[(?P<pid>\d+)\] <(?P<level>[A-Z]+)>: (?P<message>.*)$")
_TRY = compile_later(r"\(try (?P<try>\d+)\)")
_SECONDS = compile_later(r"(?:OK|error|EIO|Input/output error)? ?<(?P<seconds>\d+\.\d+)>")
_METADATA = compile_later(r"^\s*mds\.[\w.-]+")
_REQUEST = compile_later(r"slow request: (?P<method>[A-Z]+) .*?, (?:err: )?(?P<seconds>\d+\.\d+)s\)")
_SLOW = compile_later(
    r"(?P<count>\d+) (?:slow (?:ops|requests)|requests are blocked)"
    r"(?:,? oldest(?: one)? blocked for (?:> )?(?P<seconds>\d+)|.*?> (?P<least>\d+) sec)?"
)


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `juicefs` (code slow-request, slow-operation, retry, ...) and `ceph-health` observations."""
    match = _JUICEFS.search(line.raw if "juicefs[" in line.raw else line.text)
    if match:
        found = _read_juicefs(match["message"])
        if found:
            code, attributes = found
            yield _observe(line, "juicefs", code, {**attributes, "level": match["level"], "pid": match["pid"]})
        return
    match = re.search(r"HEALTH_(WARN|ERR)", line.text)
    slow = _SLOW.search(line.text)
    if slow:
        seconds = slow["seconds"] or slow["least"] or ""
        attributes = {"count": slow["count"], **({"seconds": seconds} if seconds else {})}
        if _METADATA.match(line.text):
            attributes["daemon"] = "mds"  # the metadata server's own requests, not those of the storage daemons
        yield _observe(line, "ceph-slow", "", attributes)
    if match:
        yield _observe(line, "ceph-health", match[1], {})


def _read_juicefs(message: str) -> tuple[str, dict[str, str]] | None:
    match = _REQUEST.search(message)
    if match:
        return "slow-request", {name: value for name, value in match.groupdict().items() if value}
    if message.startswith("slow operation:"):
        match = _SECONDS.search(message)
        operation = next(iter(message.removeprefix("slow operation:").split()), "")
        return "slow-operation", {"operation": operation, **({"seconds": match["seconds"]} if match else {})}
    match = _TRY.search(message)
    if match:
        return "retry", {"try": match["try"], "request": message.split(None, 1)[0]}
    if re.search(r"^(?:flush|write) .* timeout after waited", message):
        return "flush-timeout", {}
    return None


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str]) -> Observation:
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        entity=f"filesystem:{kind.partition('-')[0]}", attributes=attributes,
    )  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `lustre-import` observation for each target, its code the state of the import."""
    if not _HEAD.search(reader.peek() or ""):
        return
    number, head = reader.number, reader.next() or ""
    target = _TARGET.match(head)
    state, at, states = "", reader.number, []
    for _ in range(200):
        text = reader.peek()
        if text is None or _TARGET.match(text) or re.match(r"^\S+[#$] |^[a-z]+\.\S+=", text):
            break
        match = _STATE.match(text)
        if match and not state:
            state, at = match["state"], reader.number
        history = _HISTORY.match(text)
        if history:
            states.append(history["state"])
        elif not match and not text.startswith((" ", "\t", "state_history", "import", "- ")) and text.strip():
            break
        reader.next()
    if target is None or not state:
        return
    attributes = {"target": target["target"], "state": state, "history": " ".join(states[-16:])}
    if target["filesystem"]:
        attributes["filesystem"] = target["filesystem"]
    entity = f"filesystem:{target['filesystem']}" if target["filesystem"] else ""
    yield Observation(
        SOURCE, "lustre-import", reader.input, number, at, f"{head} current_state: {state}", code=state, node=reader.node,
        entity=entity, attributes=attributes,
    )  # fmt: skip
