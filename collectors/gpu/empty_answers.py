"""Answers that are empty: `lsmod | grep nvidia` and `lspci | grep -i nvidia` with the next prompt right below them.

Printing nothing, or 0 where lines are counted, they say that no such module is loaded and no such device is on the bus. The end
of the paste right below the command says nothing. Programs: kmod, pciutils, grep; any version. Samples::

    root@node-a:~# lsmod | grep nvidia
    root@node-a:~# lspci | grep -i nvidia | wc -l
    0
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors import shell
from collectors.block import Reader
from collectors.filtered import read_filter
from collectors.observation import Observation, Record
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "driver"
LAYERS: tuple[str, ...] = ()
HEADS = (
    r"\blsmod\b.{0,20}\|.{0,40}[Nn](?:vidia|VIDIA)",
    r"/proc/modules\b.{0,60}nvidia|nvidia.{0,20} /proc/modules",
    r"\blspci\b.{0,40}(?:[Nn]vidia|NVIDIA|10[Dd][Ee])",
)
_WHOLE = ("nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm")  # modules without which no GPU works
_PROMPT = compile_later(r"^\[?(?:[\w.-]+@)?[A-Za-z][\w.-]*[: ~/][^#$%>]{0,80}[#$]\s*$|^[#$]\s*$")
_COUNT = compile_later(r"\|\s*wc -l|\bgrep\s+(?:-\S+\s+)*-[a-z]*c")
_BY_ID = compile_later(r"\blspci\b[^|]*\s-d\s*(?P<id>10[Dd][Ee]:\w*)")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `kernel_modules` or `pci_listing`; nothing when something else is printed below the command.

    `kernel_modules` has code absent, or part where only others than the driver's own modules were asked for, and the attribute
    asked; `pci_listing` has code absent, or a number where lines are counted.
    """
    first, head = reader.number, (reader.next() or "")[:1000]
    below = reader.place()
    command = next(iter(shell.parse_line(peel(reader.input, first, head))), None)
    answer = reader.next()
    counted = answer.strip() if answer is not None and _COUNT.search(head) and answer.strip().isdigit() else ""
    at_prompt = answer is not None and (
        _PROMPT.match(answer[:200])
        or next(iter(shell.parse_line(peel(reader.input, 0, answer[:1000]))), None) is not None
    )
    reader.back(below)
    if command is None or not (at_prompt or counted):
        return
    words = read_filter(command.text.replace("grep -c", "grep").replace("grep -ic", "grep -i")).lower()
    by_id = _BY_ID.search(command.text)
    if "nvidia" not in words and "10de" not in words and not by_id:
        return
    node = command.node or reader.node
    if "lspci" in command.text:
        code = "absent" if counted in ("", "0") else counted
        yield Observation(SOURCE, "pci_listing", reader.input, first, first, head.strip(), code=code, node=node)
    elif counted in ("", "0"):
        # `grep nvidia` finds every module of the driver; a longer name is found by none but itself
        asked = [name for name in re.findall(r"\w+", words) if name.startswith(("nvidia", "nv_"))]
        whole = not asked or any(name in _WHOLE for name in asked)
        yield Observation(
            SOURCE, "kernel_modules", reader.input, first, first, head.strip(), code="absent" if whole else "part", node=node,
            attributes={**({"nvidia": "no"} if whole else dict.fromkeys(asked, "no")), "asked": "yes"},
        )  # fmt: skip
