"""How a distributed training job fails: PyTorch's watchdog, rendezvous, exceptions, torchrun's verdict on its workers.

Programs: PyTorch 1.9 to 2.9 (`ProcessGroupNCCL.cpp`, `socket.cpp`, `TCPStore.cpp`, torchrun / torchelastic), launchers
(srun, mpirun, Ray) around it. Formats: the sources named, and docs.pytorch.org "torchrun (Elastic Launch)", "Error
propagation". The start of a line may belong to another writer (a progress bar), so all is searched inside the line. Samples::

    [rank0]:[E1026 04:01:29.500801336 ProcessGroupNCCL.cpp:683] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(
    SeqNum=55485, OpType=ALLREDUCE, NumelIn=2560, NumelOut=160, Timeout(ms)=600000) ran for 600077 milliseconds before timing out.
    ... PG status: last enqueued work: 55487, last completed work: 55484
    [rank11]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.35 GiB.
    E1026 03:51:33.102000 2521679 .../api.py:882] failed (exitcode: 1) local_rank: 3 (pid: 2521736) of binary: /usr/bin/python
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.clock import parse_iso
from collectors.identity import normalise_node
from collectors.observation import Observation, Record, Relation
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "training"
LAYERS = ("application", "framework")
SIGNATURES = (
    r"ProcessGroupNCCL\.cpp", r"torch[/.]distributed", r"\[c10d\]", r"^\[rank ?\d+\]:", r"^ *File \"[^\"]+\", line \d+", r"^Traceback ",
)  # fmt: skip
ANCHORS = (
    r"Watchdog caught collective operation timeout",
    r"[Ll]ast enqueued (?:NCCL )?work: ",
    r"\bfailed \(exitcode: ",
    r"(?:^|[\] :])[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)(?::|$)",
    r"waiting for clients\. \d+/\d+ clients joined",
    r"client socket has (?:timed out|failed)",
    r"connect\(\) timed out\. Original timeout was|in store based barrier on rank",
    r"RuntimeError: Socket Timeout|wait timeout after \d+ms, keys: |got error: Socket Timeout|Timeout waiting for key: ",
    r"(?:error: \S+: tasks? .*|srun: error.*)(?:Exited with exit code|Killed|Aborted|Segmentation fault|Bus error)",
    r"exits with return code = -?\d",
    r"terminated with signal SIG",
    r"exited on signal \d+ \(",
    r"died with <Signals\.SIG",
)
HEADS = (r"Root Cause \(first observed failure\):",)

_EMBEDDED = compile_later(r"(?:\[rank ?\d+\]:)?\[[EWI]\d{3,4} \d\d:\d\d:\d\d")
_TIMEOUT = compile_later(
    r"Watchdog caught collective operation timeout: Work\w*\((?:SeqNum=(?P<sequence>\d+), )?OpType=(?P<operation>\w+)"
    r"(?:, NumelIn=(?P<numel_in>\d+), NumelOut=(?P<numel_out>\d+))?, Timeout\(ms\)=(?P<timeout_ms>\d+)\) ran for (?P<ran_ms>\d+)"
)
_PROGRESS = compile_later(
    r"[Ll]ast enqueued (?:NCCL )?work: (?P<enqueued>-?\d+), last completed (?:NCCL )?work: (?P<completed>-?\d+)"
)
_GROUP = compile_later(
    r"\[PG (?:ID )?(?P<group>\d+)(?: PG GUID (?P<guid>\d+))?(?: ?\((?P<name>\w+)\))? Rank (?P<group_rank>\d+)\]"
)
_RANK = compile_later(r"\[Rank (\d+)\]")
_AT_WORK = compile_later(r"(?:at work sequence id: |at NCCL work: |by watchdog at work: )(\d+)")
_EXIT = compile_later(r"\bfailed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<local_rank>\d+) \(pid: (?P<pid>\d+)\)")
_EXCEPTION = compile_later(
    r"(?:^|[\] :])(?P<code>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt))(?:: (?P<message>.*))?$"
)
_JOINED = compile_later(
    r"after (?P<seconds>\d+) seconds waiting for clients\. (?P<joined>\d+)/(?P<expected>\d+) clients joined"
)
_CLIENT = compile_later(
    r"client socket has (?P<code>timed out|failed)\b(?: to connect to any (?:network )?address of |.*? connect to )"
    r"[(\[](?P<peer>[\w.:-]+?)(?:\]:|, )(?P<port>\d+)"
)
_LAUNCHED = compile_later(  # DeepSpeed | torch.multiprocessing.spawn | Open MPI | accelerate and other users of subprocess
    r"exits with return code = (?P<code>-?\d+)|process (?P<local_rank>\d+) terminated with signal (?P<spawn>SIG[A-Z]+)|"
    r"process rank (?P<rank>\d+) with PID \d+ on node (?P<host>[\w.-]+) exited on signal (?P<number>\d+) \(|"
    r"died with <Signals\.(?P<signal>SIG[A-Z]+)"
)
_NUMBERS = {
    "SIGHUP": 1,
    "SIGINT": 2,
    "SIGILL": 4,
    "SIGABRT": 6,
    "SIGBUS": 7,
    "SIGFPE": 8,
    "SIGKILL": 9,
    "SIGSEGV": 11,
    "SIGTERM": 15,
}
_STORE = compile_later(  # torch 1.5 to 1.10 | 1.8 to 2.0 | up to 1.12, and 2.0 to 2.2 | 1.12, 1.13 | 2.3 on
    r"(?P<timed_out>connect\(\) timed out\. Original timeout was (?P<milliseconds>\d+) ms)|"
    r"in store based barrier on rank: (?P<rank>\d+).*?world_size=(?P<expected>\d+), worker_count=(?P<joined>\d+)|"
    r"(?P<waited>RuntimeError: Socket Timeout|got error: Socket Timeout|Timeout waiting for key: (?P<old_key>\S+) after (?P<old_ms>\d+) ms|"
    r"wait timeout after (?P<waited_ms>\d+)ms, keys: (?P<key>\S+))"
)
_AWAITED = compile_later(r"retr(?:ie|ei)ving ncclUniqueId from \[(\d{1,6})\]")
_TASK = compile_later(
    r"error: (?P<host>[\w.-]+): tasks? (?P<tasks>[\d,-]+): "
    r"(?P<what>Exited with exit code (?P<status>\d+)|Killed|Aborted|Segmentation fault|Bus error)"
)
_SIGNALS = {"Killed": "-9", "Aborted": "-6", "Segmentation fault": "-11", "Bus error": "-7"}
_FIELD = compile_later(r"(?P<name>time|host|rank|exitcode|error_file|traceback) *: (?P<value>.*)$")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `watchdog-timeout`, `progress`, `exit`, `exception` and `rendezvous` observations."""
    embedded = _EMBEDDED.search(line.text)
    if embedded and embedded.start() > 0 and line.time is None:
        inner = peel(line.input, line.number, line.text[embedded.start() :])
        line.text, line.time, line.rank, line.level = inner.text, inner.time, inner.rank or line.rank, inner.level
    yield from _read_watchdog(line)
    exit_ = _EXIT.search(line.text)
    if exit_:
        yield _observe(line, "exit", exit_["code"], {"local_rank": exit_["local_rank"], "pid": exit_["pid"]})
        return
    launched = _LAUNCHED.search(line.text)
    if launched:
        number = launched["number"] or str(_NUMBERS.get(launched["spawn"] or launched["signal"] or "", ""))
        line.host = line.host or (normalise_node(launched["host"]) if launched["host"] else "")
        code = launched["code"] or (f"-{number}" if number else "")
        yield _observe(line, "exit", code, {"local_rank": launched["local_rank"] or ""}, launched["rank"] or "")
        return
    task = _TASK.search(line.text)
    if task:
        line.host = line.host or normalise_node(task["host"])
        yield _observe(line, "exit", task["status"] or _SIGNALS.get(task["what"], ""), {"tasks": task["tasks"]})
        return
    joined = _JOINED.search(line.text)
    if joined:
        yield _observe(line, "rendezvous", "clients-missing", joined.groupdict())
    client = _CLIENT.search(line.text)
    if client and (
        client["code"] == "timed out" or "any " in client[0]
    ):  # one address of several refused is no failure
        attributes = {"peer": client["peer"], "peer_host": normalise_node(client["peer"]), "port": client["port"]}
        yield _observe(line, "rendezvous", client["code"].replace(" ", "-"), attributes)
    store = _STORE.search(line.text)
    if store:
        code = "timed-out" if store["timed_out"] else "store-timeout" if store["waited"] else "clients-missing"
        attributes = {name: store[name] or "" for name in ("milliseconds", "expected", "joined", "key")}
        attributes["milliseconds"] = store["milliseconds"] or store["waited_ms"] or store["old_ms"] or ""
        awaited = _AWAITED.search(line.text)
        attributes["awaited"] = awaited[1] if awaited else ""
        attributes["key"] = store["key"] or store["old_key"] or ""
        yield _observe(line, "rendezvous", code, attributes, store["rank"] or "")
    exception = _EXCEPTION.search(line.text)
    if exception:
        whole = exception["code"]
        attributes = {"class": whole, "message": (exception["message"] or "")[:500]}
        yield _observe(line, "exception", whole.rpartition(".")[2], attributes)


def _observe(line: Line, kind: str, code: str, attributes: dict[str, str], rank: str = "") -> Observation:
    rank = rank or line.rank
    kept = {name: value for name, value in attributes.items() if value}
    if rank:
        kept["rank"] = rank
    return Observation(
        SOURCE, kind, line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
        entity=f"rank:{rank}" if rank else "", attributes={**line.labels, **kept},
    )  # fmt: skip


def _read_watchdog(line: Line) -> Iterator[Record]:
    group = _GROUP.search(line.text)
    named = {name: value for name, value in (group.groupdict() if group else {}).items() if value}
    local = named.get("group_rank", "")
    if not local:
        found = _RANK.search(line.text)
        local = found[1] if found else ""
        if local:
            named["group_rank"] = local
    # the rank in the whole job stands in front of the line; before torch 2.2 only the rank in the group is printed
    rank = line.rank or local
    timeout = _TIMEOUT.search(line.text)
    if timeout:
        attributes = named | {name: value for name, value in timeout.groupdict().items() if value}
        yield _observe(line, "watchdog-timeout", timeout["operation"], attributes, rank)
        return
    progress = _PROGRESS.search(line.text)
    if progress:
        work = _AT_WORK.search(line.text)
        attributes = named | progress.groupdict() | {"sequence": work[1] if work else ""}
        yield _observe(line, "progress", "waiting" if work else "seen", attributes, rank)


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read torchrun's block on the first failure: host, rank, exit code."""
    first = reader.number
    head = reader.next() or ""
    fields: dict[str, str] = {}
    line = peel(reader.input, first, head)
    text, last = [line.text], first
    for _ in range(12):
        raw = reader.peek()
        if raw is None:
            break
        inner = peel(reader.input, reader.number, raw)
        match = _FIELD.search(inner.text)
        if not match and not re.search(r"\[\d+\]:\s*$", raw):
            break
        reader.next()
        text.append(inner.text)
        last = reader.number - 1
        if match:
            fields[match["name"]] = match["value"].strip()
    if "exitcode" not in fields:
        return
    rank = re.match(r"(\d+) \(local_rank: (\d+)\)", fields.get("rank", ""))
    code = re.match(r"(-?\d+) +\(pid: (\d+)\)", fields["exitcode"])
    host = normalise_node(fields["host"]) if fields.get("host") else ""
    reader.node = host
    time = parse_iso(fields.get("time", "").replace("_", " "))
    attributes = {"first": "yes", "traceback": fields.get("traceback", "")[:200]}
    if rank:
        attributes |= {"rank": rank[1], "local_rank": rank[2]}
    if code:
        attributes["pid"] = code[2]
    yield Observation(
        SOURCE, "exit", reader.input, first, last, " ".join(text), code=code[1] if code else "", time=time, node=host,
        entity=f"rank:{rank[1]}" if rank else "", attributes={name: value for name, value in attributes.items() if value},
    )  # fmt: skip
    if rank and host:
        yield Relation(f"rank:{rank[1]}", f"node:{host}", "on", reader.input, first, host)
