"""Where threads stand: stacks of py-spy, faulthandler and gdb, and the kernel's own for tasks that hang.

Formats: py-spy dump (0.3, 0.4), CPython faulthandler, gdb `thread apply all bt`, Linux kernel/hung_task.c (3.x to 6.x, with and
without the `state:D` header) and the tasks that SysRq-w lists as blocked (5.10 and later). One observation for each thread;
`frames` lists the functions, innermost first. Samples::

    Thread 12044 (idle): "MainThread"
        wait (threading.py:359)
    INFO: task python:22444 blocked for more than 120 seconds.
    Call Trace:
     nfs_wb_all+0x27/0x110 [nfs]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.prefix import peel

SOURCE = "stack"
LAYERS = ("application", "node")
SIGNATURES = (
    r"^Thread \S+ \((?:idle|active|active\+gil)\)",
    r"^(?:Current t|T)hread 0x[0-9a-f]+ .*\(most recent call first\)",
    r"^#\d+ +0x[0-9a-f]+ in ",
)
HEADS = (
    r"^(?:Process \d+: \S|Thread \S+ \((?:idle|active|active\+gil)\))",
    r"^(?:Current thread|Thread) 0x[0-9a-f]+ .*\(most recent call first\):",
    r"^Thread \d+ \(.*LWP \d+.*\):", r"INFO: task .{1,60}:\d+ blocked (?:in I/O wait )?for more than \d+ seconds",
    r"^(?:\[ *\d+\.\d+\] |.{0,80}kernel: (?:\[ *\d+\.\d+\] )?)?task:\S.{0,60} state:D\b.* pid: ?\d+",
)  # fmt: skip
MOST_FRAMES = 80

_HEAD = re.compile("|".join(HEADS))
_PROCESS = re.compile(r"^Process (?P<pid>\d+): (?P<command>.*)")
_PY_SPY = re.compile(r"^Thread (?P<thread>\S+) \((?P<state>[\w+]+)\)(?:: \"(?P<name>.*)\")?")
_FAULT = re.compile(
    r"^(?:Current thread|Thread) (?P<thread>0x[0-9a-f]+)(?: \[(?P<name>[^\]]*)\])? \(most recent call first\):"
)
_GDB = re.compile(r"^Thread (?P<thread>\d+) \(.*LWP (?P<pid>\d+).*\):")
_FRAMES = (
    re.compile(r"^\s+(?P<function>\S.*?) \((?P<file>[^()]*?)(?::\d+)?\)\s*$"),  # py-spy
    re.compile(r'^\s+File "(?P<file>[^"]*)", line \d+ in (?P<function>\S+)'),  # faulthandler
    re.compile(
        r"^#\d+ +(?:0x[0-9a-f]+ in )?(?P<function>[\w:~<>.@*]+) ?\(.*?(?:(?: from | at )(?P<file>\S+))?$"
    ),  # gdb
)
_LOCALS = re.compile(r"^\s+(?:Arguments|Locals):|^\s{8,}\w+: ")
_HUNG = re.compile(
    r"INFO: task (?P<process>.{1,60}):(?P<pid>\d+) blocked (?:in I/O wait )?for more than (?P<seconds>\d+) seconds"
)
_BLOCKED = re.compile(r"task:(?P<process>\S.{0,60}?) +state:D\b.* pid: ?(?P<pid>\d+)")
_SYMBOL = re.compile(
    r"^(?:\[<[0-9a-f]+>\] ?)?(?P<unsure>\? )?(?P<function>[\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(?P<module>[\w-]+)(?: [0-9a-f]+)?\])?"
)
_BETWEEN = re.compile(
    r"^(?:\"echo 0 >|(?:Not t|T)ainted|Workqueue:|task:|Call Trace|</?(?:TASK|IRQ|NMI)>|"
    r"RIP:|R[A-Z0-9]{2}:|ORIG_RAX|Code:|Future hung task|[\w/:.-]+ +D )"
)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `stack` observations, code python, native or kernel."""
    if not _HEAD.search(reader.peek() or ""):
        return
    head = reader.peek() or ""
    if _HUNG.search(head) or _BLOCKED.search(head):
        yield from _read_hung_task(reader)
        return
    process = _PROCESS.match(head)
    pid = process["pid"] if process else ""
    if process:
        reader.next()
        while (text := reader.peek()) is not None and (not text.strip() or text.startswith("Python v")):
            reader.next()
    while (text := reader.peek()) is not None:
        match = _PY_SPY.match(text) or _FAULT.match(text) or _GDB.match(text)
        if match is None:
            return
        yield from _read_thread(reader, match, pid)
        while (text := reader.peek()) is not None and not text.strip():
            reader.next()


def _read_thread(reader: Reader, match: re.Match[str], pid: str) -> Iterator[Record]:
    number, head = reader.number, reader.next() or ""
    frames: list[str] = []
    while len(frames) < MOST_FRAMES and (text := reader.peek()) is not None:
        frame = next((found for one in _FRAMES if (found := one.match(text))), None)
        if frame is None:
            if not _LOCALS.match(text):
                break
        else:
            frames.append(f"{frame['function']} ({frame['file']})" if frame["file"] else frame["function"])
        reader.next()
    if not frames:
        return
    groups = match.groupdict()
    pid = groups.get("pid") or pid
    attributes = {name: value for name in ("thread", "state", "name") if (value := groups.get(name))}
    attributes |= {"top": frames[0], "frames": " < ".join(frames)[:4000]}
    if pid:
        attributes["pid"] = pid
    code = "native" if match.re is _GDB else "python"
    yield Observation(
        SOURCE, "stack", reader.input, number, reader.number - 1, f"{head.strip()} {' < '.join(frames)}"[:4000], code=code,
        node=reader.node, entity=f"process:{pid}" if pid else "", attributes=attributes,
    )  # fmt: skip


def _read_hung_task(reader: Reader) -> Iterator[Record]:
    head = peel(reader.input, reader.number, reader.next() or "")
    found = _HUNG.search(head.text) or _BLOCKED.search(head.text)
    if found is None:
        return
    listed = found.re is _BLOCKED
    frames: list[str] = []
    modules: dict[str, None] = {}
    for _ in range(MOST_FRAMES):
        raw = reader.peek()
        line = peel(reader.input, reader.number, raw) if raw is not None else None
        if line is None or _HUNG.search(line.text) or (listed and _BLOCKED.search(line.text)):
            break
        symbol = _SYMBOL.match(line.text)
        if symbol and not symbol["unsure"]:
            frames.append(symbol["function"])
            if symbol["module"]:
                modules[symbol["module"]] = None
        elif symbol is None and not _BETWEEN.match(line.text):
            break
        reader.next()
    attributes = {"process": found["process"], "pid": found["pid"]}
    if not listed:  # SysRq-w shows who sleeps now, not for how long
        attributes["seconds"] = found["seconds"]
    if frames:
        attributes |= {"top": frames[0], "frames": " < ".join(frames), "modules": " ".join(modules)}
    if head.uptime is not None:
        attributes["uptime"] = f"{head.uptime:.6f}"
    yield Observation(
        SOURCE, "stack", reader.input, head.number, reader.number - 1, f"{head.text} {' < '.join(frames)}".strip(), code="kernel",
        time=head.time, node=head.host, entity=f"process:{found['pid']}", attributes=attributes,
    )  # fmt: skip
