"""The kernel's out-of-memory killer: whom it killed, and whether the host or a memory cgroup was full.

Printed by mm/oom_kill.c and mm/memcontrol.c of Linux 3.x to 6.x: one `oom-kill:` summary since 4.19, `Kill process ... or
sacrifice child` before 5.0, `Task in ... killed as a result of limit of ...` before 4.19. Sample::

    python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=984
    memory: usage 67108864kB, limit 67108864kB, failcnt 1184021
    oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/kubepods/podX,task_memcg=/kubepods/podX/c1,task=python,pid=417,uid=0
    Memory cgroup out of memory: Killed process 417 (python) total-vm:41194556kB, anon-rss:6538204kB, file-rss:80652kB
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "kernel"
LAYERS = ("node", "runtime")
SIGNATURES = (r"invoked oom-killer: ", r"oom-kill:constraint=", r"[Oo]ut of memory: Kill(?:ed)? process \d+")
ANCHORS = (
    r"oom-kill:constraint=", r"[Oo]ut of memory(?: \([\w_ ]+\))?: Kill", r"\bKilled process \d+", r" invoked oom-killer: ",
    r"killed as a result of limit of ", r"memory: usage \d+kB, limit \d+kB", r"^\s*oom_reaper: reaped process",
)  # fmt: skip

_SUMMARY = compile_later(r"oom-kill:constraint=(?P<constraint>CONSTRAINT_\w+),(?P<rest>.*)")
_FIELD = compile_later(r"(\w+)=([^,]*)")
_KILLED = compile_later(
    r"(?:(?P<scope>Memory cgroup out of memory|Out of memory(?: \([^)]*\))?): )?Kill(?:ed)? process (?P<pid>\d+),? "
    r"\((?P<process>[^)]*)\)"
)
_SIZE = compile_later(r"\b(total-vm|anon-rss|file-rss|shmem-rss):(\d+)kB")
_INVOKED = compile_later(r"(?P<process>\S.*?) invoked oom-killer: .*?order=(?P<order>-?\d+)")
_TASK_IN = compile_later(r"Task in (?P<task_memcg>\S+) killed as a result of limit of (?P<memcg>\S+)")
_USAGE = compile_later(
    r"^(?P<what>memory|memory\+swap|swap|kmem): usage (?P<usage>\d+)kB, limit (?P<limit>\d+)kB, failcnt (?P<failures>\d+)"
)
_POD = compile_later(r"pod([0-9a-f]{8}[_-][0-9a-f]{4}[_-][0-9a-f]{4}[_-][0-9a-f]{4}[_-][0-9a-f]{12})")


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str], entity: str = "") -> Observation:
    if line.uptime is not None:
        attributes["uptime"] = f"{line.uptime:.6f}"
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        entity=entity, attributes=attributes,
    )  # fmt: skip


def _name_pod(path: str) -> dict[str, str]:
    match = _POD.search(path)
    return {"pod_uid": match[1].replace("_", "-")} if match else {}


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `oom-kill` (code host, cgroup, or unknown on old kernels), `oom-invoked` and `memcg-usage` observations."""
    text = line.text
    match = _SUMMARY.search(text)
    if match:
        fields = dict(_FIELD.findall(match["rest"]))
        limited = match["constraint"] == "CONSTRAINT_MEMCG"
        attributes = {
            "constraint": match["constraint"],
            "process": fields.get("task", ""),
            "pid": fields.get("pid", ""),
        }
        if limited:
            attributes["memcg"] = fields.get("oom_memcg", "")
            attributes |= _name_pod(fields.get("oom_memcg", "") + fields.get("task_memcg", ""))
        attributes["task_memcg"] = fields.get("task_memcg", "")
        yield _observe(line, "oom-kill", "cgroup" if limited else "host", attributes, _process(attributes))
        return
    match = _INVOKED.search(text)
    if match:
        yield _observe(line, "oom-invoked", "", {"process": match["process"], "order": match["order"]})
        return
    match = _TASK_IN.search(text)
    if match:
        yield _observe(line, "oom-kill", "cgroup", {"memcg": match["memcg"], **_name_pod(match["task_memcg"])})
        return
    match = _USAGE.search(text)
    if match:
        full = int(match["usage"][:18]) >= int(match["limit"][:18]) > 0
        yield _observe(line, "memcg-usage", match["what"], {**match.groupdict(), "full": str(full).lower()})
        return
    match = None if "oom_reaper" in text else _KILLED.search(text)
    if match:
        scope = match["scope"] or ""
        code = "cgroup" if scope.startswith("Memory cgroup") else "host" if scope else "unknown"
        attributes = {"process": match["process"], "pid": match["pid"]}
        attributes |= {name.replace("-", "_"): size for name, size in _SIZE.findall(text)}
        yield _observe(line, "oom-kill", code, attributes, _process(attributes))


def _process(attributes: dict[str, str]) -> str:
    return f"process:{attributes['pid']}" if attributes.get("pid") else ""
