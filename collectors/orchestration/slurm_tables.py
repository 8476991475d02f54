"""What Slurm's commands print: sinfo, sinfo -R, scontrol show node and show job, squeue, sacct.

Versions 18 to 25. Tables are cut by their header's columns; `sinfo -R` cuts REASON at 20 characters. Samples::

    REASON               USER      TIMESTAMP           NODELIST
    gres/gpu count repor slurm     2023-05-10T11:32:40 gpu-st-1

    PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
    gpu*         up   infinite      1  down* gpu-st-1

    NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON
    cpu-12         1      cpu*       inval   64   2:32:1 512000        0      1   (null) Low RealMemory (repo

    NodeName=gpu-01 Arch=x86_64 CoresPerSocket=32
       State=IDLE+DRAIN ThreadsPerCore=2 TmpDisk=0 Weight=1
       Reason=gres/gpu count reported lower than configured (7 < 8) [slurm@2024-05-01T10:00:00]

    JobId=1234 JobName=train
       JobState=PENDING Reason=ReqNodeNotAvail,_UnavailableNodes:gpu-01 Dependency=(null)

    JobID|JobName|State|ExitCode|Elapsed|Timelimit
    1234|train|TIMEOUT|0:0|2-00:00:22|2-00:00:00
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Observation
from collectors.orchestration.slurm_sinfo import read_long_listing, read_partitions, read_reasons, read_table
from collectors.regex import compile_later

SOURCE = "slurm"
LAYERS = ("scheduler",)
SIGNATURES = (
    r"^REASON +USER +TIMESTAMP +(?:STATE +)?NODELIST",
    r"^ *JOBID(?: +[A-Z:()_%]+)+",
    r"^(?:JobID(?:Raw)?|JOBID)\|[A-Za-z]",
    r"^PARTITION +AVAIL",
    r"^NODELIST +NODES +PARTITION +STATE",
    r"^NodeName=\S+ (?:Arch|State|CPUAlloc|CoresPerSocket)",
    r"^JobI[dD]=\d+ (?:ArrayJobId=\d+ )?\S*JobName=",
)
HEADS = (
    r"^REASON +USER +TIMESTAMP +(?:STATE +)?NODELIST",
    r"^PARTITION +AVAIL +TIMELIMIT +(?:JOB_SIZE +[A-Z: ]+)?NODES +STATE +(?:[A-Z]+ +)?NODELIST",
    r"^NODELIST +NODES +PARTITION +STATE",
    r"^NodeName=\S+ (?:Arch|State|CPUAlloc|CoresPerSocket)",
    r"^JobI[dD]=\d+ (?:ArrayJobId=\d+ )?\S*JobName=",
    r"^ *JOBID +PARTITION +NAME ",
    r"^ *JobID(?:Raw)? +(?:JobName|State|Partition|User|Elapsed|Start|NodeList|Node|Account|ExitCode|AllocCPUS|Timelimit)",
    r"^(?:JobID(?:Raw)?|JOBID)\|[A-Za-z]",
)
_PAIR = compile_later(r"(?:^|\s)([A-Z][\w:/]*)=(\S*)")
_REASON = compile_later(r"^\s+Reason=(.*?)(?: \[\S+@\S+\])?$")
_JOB = compile_later(r"\d+(?:[_+.]\S*)?$")  # 1234, 1234_5, 1234_[1-9%2], 1234+0, 1234.batch


def parse_block(reader: Reader) -> Iterator[Observation]:
    """Yield `slurm-node` (code state or reason) and `slurm-job` (code = the state) observations."""
    head = reader.peek() or ""
    if head.startswith("NodeName="):
        yield from _record(reader, "slurm-node")
    elif head.startswith(("JobId=", "JobID=")):
        yield from _record(reader, "slurm-job")
    elif head.startswith("REASON"):
        yield from read_reasons(reader)
    elif head.startswith("PARTITION") and len(head.split()) == 6:
        yield from read_partitions(reader)
    elif head.startswith(("PARTITION", "NODELIST")):
        yield from read_long_listing(reader)
    elif head.startswith(("JobID|", "JobIDRaw|", "JOBID|")):
        yield from _parsable(reader)
    else:
        yield from _jobs(reader)


def _record(reader: Reader, kind: str) -> Iterator[Observation]:
    """Read one `scontrol show` record: pairs over indented lines until a blank or unindented one."""
    first = reader.number
    attributes: dict[str, str] = {}
    lines: list[str] = []
    for _ in range(80):
        text = reader.peek()
        if text is None or not text.strip() or (lines and not text.startswith(" ")):
            break
        reader.next()
        lines.append(text.strip())
        reason = _REASON.match(text) if kind == "slurm-node" else None
        if reason:
            attributes["reason"] = reason[1]
            continue
        attributes.update({name.lower(): value for name, value in _PAIR.findall(text)})
    joined = " ".join(lines)[:4000]
    if kind == "slurm-node":
        host = normalise_node(attributes.get("nodename", ""))
        yield Observation(
            SOURCE, kind, reader.input, first, reader.number - 1, joined, code="state", node=host, entity=f"node:{host}",
            attributes=attributes,
        )  # fmt: skip
    else:
        yield Observation(
            SOURCE, kind, reader.input, first, reader.number - 1, joined, code=attributes.get("jobstate", ""),
            entity=f"job:{attributes.get('jobid', '')}", attributes=attributes,
        )  # fmt: skip


def _jobs(reader: Reader) -> Iterator[Observation]:
    """Read squeue or sacct by the columns of the header: right-aligned names for squeue, dashes below them for sacct."""
    head = reader.next() or ""
    spans = _spans(head)
    rule = reader.peek()
    if rule is not None and rule.strip() and set(rule.strip()) <= {"-", " "}:
        spans = [(match.start(), match.end()) for match in re.finditer(r"-+", rule)]
        names = [head[start:end].strip().lower() for start, end in spans]
        reader.next()
    else:
        names = [head[start:end].strip().lower() for start, end in spans]
    if not names:
        return

    def cut(text: str) -> dict[str, str]:
        fields = text.split()
        if len(fields) == len(names):
            return dict(zip(names, fields, strict=True))
        return {name: text[start:end].strip() for name, (start, end) in zip(names, spans, strict=True)}

    for number, text in read_table(reader, lambda text: _JOB.match(cut(text).get(names[0], "")) is not None):
        cells = cut(text)
        job = cells.get(names[0], "")
        if not _JOB.match(job):
            continue
        reason = re.search(r"\((?P<reason>[^)]*)\)?\s*$", text)
        if reason:
            cells["reason"] = reason["reason"]
        yield _job(reader.input, number, text, job, cells)


def _parsable(reader: Reader) -> Iterator[Observation]:
    """Read `sacct --parsable`, `sacct -P` or `squeue -o '%i|%T|...'`: fields between bars."""
    names = [name.partition("%")[0].strip().lower() for name in (reader.next() or "").rstrip("|").split("|")]
    for number, text in read_table(reader, lambda text: _JOB.match(text.partition("|")[0].strip()) is not None):
        cells = dict(zip(names, (field.strip() for field in text.split("|")), strict=False))
        job = cells.get(names[0], "")
        if not _JOB.match(job):
            continue
        if "reason" in cells:
            cells["reason"] = cells["reason"].strip("()")
        yield _job(reader.input, number, text, job, cells)


def _job(input_name: str, number: int, text: str, job: str, cells: dict[str, str]) -> Observation:
    state = cells.get("st") or cells.get("state") or ""
    return Observation(
        SOURCE, "slurm-job", input_name, number, number, text, code=state.partition(" ")[0], entity=f"job:{job}",
        attributes={name: value for name, value in cells.items() if value},
    )  # fmt: skip


def _spans(head: str) -> list[tuple[int, int]]:
    """Return the column of each header word: it ends where the next one begins."""
    starts = [match.start() for match in re.finditer(r"\S+", head)]
    return [(start, following) for start, following in zip(starts, [*starts[1:], 10_000], strict=False)]
