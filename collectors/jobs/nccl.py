"""NCCL's debug log (NCCL_DEBUG=VERSION, WARN, INFO) and RCCL's, which has the same form.

Program: libnccl 2.2 to 2.30, network plug-ins (aws-ofi-nccl, rdma-sharp). Documented in NCCL's user guide, "Environment
variables, NCCL_DEBUG"; the texts stand in the sources `src/debug.cc`, `src/init.cc`, `src/misc/socket.cc`,
`src/transport/net_ib*`. What the lines say is in `nccl_messages`. Samples::

    node-a:2211:2317 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.11<0>
    [2026-08-08 14:02:11] node-a:402:519 [0] misc/socket.cc:612 NCCL WARN socketProgress: Connection closed by ...
    node-a:1042:1088 [1] INFO NET/IB : Using interface ib0 for sideband communication          (2.2, 2.3)
    node-b: ii  libnccl2        2.20.5-1+cuda12.4                                               (dpkg, rpm)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.identity import normalise_node, normalise_pci
from collectors.jobs.nccl_messages import WAKERS, messages_of
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "nccl"
LAYERS = ("framework", "fabric")
SIGNATURES = (
    r"NCCL (?:INFO|WARN|TRACE) ",
    r"^\S+:\d+:\d+ \[\d+\] (?:INFO|WARN) ",
    r"^NCCL version \d",
)
ANCHORS = (r"NCCL WARN ", r":\d+ \[\d+\] WARN ", *WAKERS)
ROUTINE = (r"\] via NET/", r" via P2P/")  # a line for each channel of each pair of ranks
CONTEXT = (
    r" via P2P/",
    r"INFO NCCL_[A-Z0-9_]+ set ",
    r"NET(?:/g?IB)? ?: Using ",
    r"Bootstrap ?: Using ",
    r"NET/OFI Running on ",
    r"NET/OFI Selected [Pp]rovider is ",
)  # a line for each rank
_CHANNEL_OF = r"(\S+:\d+):\d+ \[\d+\] (?:NCCL )?INFO (?:Channel|Ring) \d+(?:/\d+)?(?: :|:)? (\d+\[?.* -> .*"
GISTS = {  # but for the channel's number they repeat themselves, thousands of times between two ranks
    r"\] via NET/": _CHANNEL_OF + r" via NET/.*)",
    r" via P2P/": _CHANNEL_OF + r" via P2P/[\w ]+)",
}

_HEAD = compile_later(
    r"(?:(?P<host>[A-Za-z0-9][\w.-]*):(?P<pid>\d+):\d+ \[(?P<device>-?\d+)\] )?(?:[\w/.-]+:\d+ )?"
    r"(?P<word>NCCL )?(?P<level>INFO|WARN|TRACE|VERSION) (?P<text>.*)$"
)
_SITE = compile_later(r"\[(?P<host>[A-Za-z0-9][\w.-]*):pid=(?P<pid>\d+)\] NCCL (?P<level>INFO|WARN) (?P<text>.*)$")
_INIT = compile_later(
    r"(?P<call>nccl\w+ )?comm 0x[0-9a-f]+ rank (?P<rank>\d+) n[rR]anks (?P<ranks>\d+)(?: cudaDev (?P<device>\d+))?(?: nvmlDev \d+)?"
    r"(?: busId (?P<bus>[0-9a-f]+))?.* - (?P<code>(?:Init )?(?:START|COMPLETE))"
)
_COMMUNICATOR = compile_later(r" commId (0x[0-9a-f]+)")
_ADDRESS = compile_later(
    r"(?:\[\d+\])?(?P<interface>[A-Za-z][\w.-]*):(?P<address>[0-9a-fA-F][0-9a-fA-F.:]+(?:%\w+)?)<\d+>"
)
_DEVICE = compile_later(
    r"\[(?P<index>\d+)\] ?(?:\{?\[\d+\] ?)?(?P<nic>[A-Za-z][\w-]*):(?P<port>\d+)/(?P<layer>IB|RoCE)"
)
_CHANNEL = compile_later(
    r"(?:Channel|Ring) \d+(?:/\d+)? ?:? (?P<left>\d+)(?:\[\w+\])? -> (?P<right>\d+)(?:\[\w+\])? \[(?P<way>send|receive)\] "
    r"via NET/(?P<code>[\w ]+)/(?P<index>\d+)(?:\((?P<proxy>\d+)\))?(?P<direct>/GDRDMA)?"
)
_PEER_CHANNEL = compile_later(
    r"(?:Channel|Ring) \d+(?:/\d+)? ?:? (?P<left>\d+)(?:\[(?:(?P<left_device>\d{1,2})|\w+)\])? -> (?P<right>\d+)"
    r"(?:\[(?:(?P<right_device>\d{1,2})|\w+)\])? via (?P<code>P2P)/(?P<how>[\w ]+)"
)
_PACKAGE = compile_later(
    r"^(?:(?P<host>[A-Za-z][\w.-]*): +)?(?:ii +)?(?:libnccl2?[ -]|nvidia-nccl-cu\d+(?:==| +))(?P<text> *(?P<code>\d+\.\d+\.\d+)\S*)"
)
_VERSION = compile_later(r"NCCL version (?P<code>\d+\.\d+\.\d+)(?P<build>\S*)")
_SOCKET = compile_later(r"NET/Socket|NET ?: Using")  # the second up to 2.4, one line for each interface
_LOCAL = compile_later(r"^(?:127\.|169\.254\.|172\.(?:1[7-9]|2\d|3[01])\.0\.1$|192\.168\.\d+\.1$|::1|fe80:|0\.0\.0\.0)")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield the facts of one line; sets the line's host."""
    package = _PACKAGE.match(line.text) if "nccl" in line.text else None
    if package:
        line.host = line.host or (normalise_node(package["host"]) if package["host"] else "")
        yield _observe(line, "nccl-version", package["code"], {"from": "package"})
        return
    head = (_SITE.search(line.text) if ":pid=" in line.text else None) or _HEAD.search(line.text)
    if head is None:
        version = _VERSION.search(line.text)
        if version:
            yield _observe(line, "nccl-version", version["code"], {"from": "log"})
        return
    groups = head.groupdict()
    if not groups.get("word", "x") and not groups["host"]:
        return  # some other program's INFO or WARN
    process = {"pid": groups["pid"], "device": groups.get("device") or ""} if groups["host"] else {}
    if groups["host"]:
        line.host = normalise_node(groups["host"])
    yield from _read(line, groups["level"], head["text"], {name: value for name, value in process.items() if value})


def read_warning(line: Line, text: str = "") -> Iterator[Record]:
    """Yield the facts of a warning that stands by itself, without NCCL's head, as programs repeat it; `text` is part of the line."""
    yield from _read(line, "WARN", text or line.text, {})


def _read(line: Line, level: str, text: str, process: dict[str, str]) -> Iterator[Record]:
    init = _INIT.search(text) if " rank " in text else None
    if init:
        yield from _read_init(line, init, process)
        return
    channel = _CHANNEL.search(text) if " via NET/" in text else None
    if channel:
        yield from _read_channel(line, channel, process)
        return
    direct = _PEER_CHANNEL.search(text) if " via P2P/" in text else None
    if direct:
        named = {name: value.strip() for name, value in direct.groupdict().items() if value}
        yield _observe(line, "channel", named.pop("code"), process | named)
        return
    if level == "INFO" and ("Using" in text or "OOB" in text):
        yield from _read_interfaces(line, text, process)
    version = _VERSION.match(text)
    if version:
        yield _observe(line, "nccl-version", version["code"], process | {"from": "log"})
        return
    for kind, regex in messages_of(level):
        match = regex.search(text)
        if match:
            named = {name: value for name, value in match.groupdict().items() if value}
            yield _observe(line, kind, named.pop("code", ""), process | named, text)
            return


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str], text: str = "") -> Observation:
    if attributes.get("peer"):
        attributes["peer_host"] = _host_of(attributes["peer"])
    entity = ""
    if "bus" in attributes:
        attributes["pci"] = normalise_pci(attributes.pop("bus")) or ""
    if attributes.get("pci"):
        entity = f"gpu:{attributes['pci']}"
    elif attributes.get("nic"):
        entity = f"link:{attributes['nic']}:{attributes.get('port', '1')}"
    elif attributes.get("rank"):
        entity = f"rank:{attributes['rank']}"
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, text or line.text, code=code.strip().rstrip("."), time=line.time,
        node=line.host, entity=entity, attributes=attributes,
    )  # fmt: skip


def _host_of(peer: str) -> str:
    """Return the host in `10.0.0.12<41822>`, `host.domain<41822>` or `fe80::1%eth0<4000>`."""
    return normalise_node(peer.partition("<")[0])


def _read_init(line: Line, match: re.Match[str], process: dict[str, str]) -> Iterator[Record]:
    code = match["code"].replace("Init ", "")
    whole = "Split" not in (match["call"] or "")
    attributes = process | {"ranks": match["ranks"], "communicator_rank": match["rank"], "bus_id": match["bus"] or ""}
    if whole:
        attributes["rank"] = match["rank"]
    identity = _COMMUNICATOR.search(match[0])
    if identity:
        attributes["communicator_id"] = identity[1]
    yield _observe(line, "init", code, attributes)
    if not whole or not line.host:
        return
    rank = f"rank:{match['rank']}"
    yield Relation(rank, f"node:{line.host}", "on", line.input, line.number, line.host)
    pci = normalise_pci(match["bus"]) if match["bus"] else None
    if pci:
        yield Relation(rank, f"gpu:{pci}", "on", line.input, line.number, line.host)


def _read_channel(line: Line, match: re.Match[str], process: dict[str, str]) -> Iterator[Record]:
    rank = match["proxy"] or (match["left"] if match["way"] == "send" else match["right"])
    attributes = process | {"direct": "yes" if match["direct"] else "no", "way": match["way"], "index": match["index"]}
    yield _observe(line, "channel", match["code"], attributes)
    if line.host and "pid" in process and match["code"].startswith(("IB", "gIB")) and not match["proxy"]:
        yield Relation(
            f"rank:{rank}", f"nic:ib-{process['pid']}-{match['index']}", "on", line.input, line.number, line.host
        )


def _read_interfaces(line: Line, text: str, process: dict[str, str]) -> Iterator[Record]:
    """Host names and addresses of Bootstrap and OOB, adapters and their numbers of NET/IB."""
    addresses = list(_ADDRESS.finditer(text))
    if addresses:
        code = "socket" if _SOCKET.search(text) else "bootstrap" if "Bootstrap" in text else "rdma"
        listed = {
            "interfaces": " ".join(one["interface"] for one in addresses),
            "addresses": " ".join(one["address"] for one in addresses),
            "count": str(len(addresses)),
        }
        yield _observe(line, "interfaces", code, process | listed, text)
        for one in addresses[:1] if line.host else ():
            if not _LOCAL.match(one["address"]):
                yield Relation(f"node:{one['address']}", f"node:{line.host}", "same", line.input, line.number)
    devices = list(_DEVICE.finditer(text)) if "NET/IB" in text or "NET/gIB" in text else []
    if devices:
        names = dict.fromkeys(f"{one['nic']}:{one['port']}" for one in devices)
        listed = {
            "nics": " ".join(dict.fromkeys(one["nic"] for one in devices)),
            "ports": " ".join(names),
            "layers": " ".join(sorted({one["layer"] for one in devices})),
            "count": str(len(names)),
        }
        yield _observe(line, "adapters", "", process | listed, text)
    for device in devices if line.host else ():
        nic, port = device["nic"], device["port"]
        yield Relation(f"nic:{nic}", f"link:{nic}:{port}", "on", line.input, line.number, line.host)
        if "pid" in process:
            alias = f"nic:ib-{process['pid']}-{device['index']}"
            yield Relation(alias, f"nic:{nic}", "same", line.input, line.number, line.host)
