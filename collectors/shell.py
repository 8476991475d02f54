"""Shell prompts, commands and headings inside a paste: they tell on which host the lines below were printed.

Samples::

    root@gpu-node-7:~# dmesg | tail
    [root@gpu-node-7 ~]$ nvidia-smi
    gpu-node-7:~$ nvidia-smi -q
    $ ssh gpu-node-7 ibstat
    $ kubectl describe node gpu-node-7
    ==> node-b/dmesg.log <==
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.identity import normalise_node
from collectors.observation import Observation
from collectors.prefix import Line

SOURCE = "shell"
LAYERS: tuple[str, ...] = ()
ANCHORS = (
    r"^\[?(?:[\w.-]+@)?[A-Za-z][\w.-]*[: ][~/][^#$%>]{0,80}(?:[#$]|[^0-9]%) +\S",
    r"^\[?[\w.-]+@[\w.-]+[: ][^#$%>]{0,80}(?:[#$]|[^0-9]%) +\S",
    r"^[\w.-]*\d[\w.-]*[#$] \w",
    r"^\+? ?[$#] (?:sudo )?[\w./~(]",
    r"^==> .* <==$",
    r"^[A-Za-z][\w.-]*[#>]show \w",  # switches put no blank between
)
_PROMPT = re.compile(
    r"^\[?(?:[\w.-]+@)?(?P<host>[A-Za-z0-9][\w.-]*)(?:[: ][^#$%>]{0,80}?)?\]?(?:[#$]|(?<!\d)%) (?P<command>\S.*)$"
)
_SWITCH = re.compile(r"^(?P<host>[A-Za-z][\w.-]*)[#>](?P<command>show \S.*)$")
_PLAIN = re.compile(r"^\+? ?(?P<prompt>[$#]) (?P<command>\S.*)$")
_SSH = re.compile(
    r"(?:^|\s)(?:ssh|pdsh -w|oc debug node/)\s*(?:-[bcDEeFIiJLlmOopQRSWw] ?[^\s-]\S* |-\S+ )*(?:[\w-]+@)?(?P<host>[A-Za-z][\w.-]*)\s+\S"
)
_NOT_HOSTS = frozenset({"root", "user", "bash", "sh", "localhost", "ubuntu", "master", "base"})


def parse_line(line: Line) -> Iterator[Observation]:
    """Yield a `command` observation; its node is the prompt's host ("" when the prompt has none).

    A lone `#` is kept as the attribute `prompt`: the line may be a comment in a file.
    """
    match = (_PROMPT.match(line.raw) or _SWITCH.match(line.raw)) if "==>" not in line.raw[:4] else None
    plain = _PLAIN.match(line.raw)
    if plain:
        match = None
    command = (match or plain)["command"] if (match or plain) else ""  # type: ignore[index]
    if not command:
        return
    host = normalise_node(match["host"]) if match else ""
    remote = _SSH.search(command)
    if remote:
        host = normalise_node(remote["host"])
    if host in _NOT_HOSTS:
        host = ""
    yield Observation(
        SOURCE,
        "command",
        line.input,
        line.number,
        line.number,
        command,
        code=command.split()[0].rpartition("/")[2],
        node=host,
        attributes={"command": command[:400], **({"prompt": "#"} if plain and plain["prompt"] == "#" else {})},
    )
