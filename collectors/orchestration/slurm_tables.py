"""What Slurm's commands print: sinfo, sinfo -R, scontrol show node and show job, squeue, sacct.

Versions 18 to 25. Tables are cut by their header's columns; `sinfo -R` cuts REASON at 20 characters. Samples::

    REASON               USER      TIMESTAMP           NODELIST
    gres/gpu count repor slurm     2023-05-10T11:32:40 gpu-st-1

    PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
    gpu*         up   infinite      1  down* gpu-st-1

    NodeName=gpu-01 Arch=x86_64 CoresPerSocket=32
       State=IDLE+DRAIN ThreadsPerCore=2 TmpDisk=0 Weight=1
       Reason=gres/gpu count reported lower than configured (7 < 8) [slurm@2024-05-01T10:00:00]

    JobId=1234 JobName=train
       JobState=PENDING Reason=ReqNodeNotAvail,_UnavailableNodes:gpu-01 Dependency=(null)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from collectors.block import Reader
from collectors.clock import parse_iso
from collectors.identity import normalise_node
from collectors.observation import Observation
from collectors.orchestration.slurm_names import expand_nodes
from collectors.regex import compile_later

SOURCE = "slurm"
LAYERS = ("scheduler",)
SIGNATURES = (
    r"^REASON +USER +TIMESTAMP +NODELIST",
    r"^ *JOBID(?: +[A-Z:()_%]+)+",
    r"^PARTITION +AVAIL",
    r"^NodeName=\S+ (?:Arch|State|CPUAlloc|CoresPerSocket)",
    r"^JobI[dD]=\d+ (?:ArrayJobId=\d+ )?\S*JobName=",
)
HEADS = (
    r"^REASON +USER +TIMESTAMP +NODELIST",
    r"^PARTITION +AVAIL +TIMELIMIT +NODES +STATE +NODELIST",
    r"^NodeName=\S+ (?:Arch|State|CPUAlloc|CoresPerSocket)",
    r"^JobI[dD]=\d+ (?:ArrayJobId=\d+ )?\S*JobName=",
    r"^ *JOBID +PARTITION +NAME ",
    r"^ *JobID +(?:JobName|State|Partition|User)",
)
_PAIR = compile_later(r"(?:^|\s)([A-Z][\w:/]*)=(\S*)")
_REASON = compile_later(r"^\s+Reason=(.*?)(?: \[\S+@\S+\])?$")
_REASON_ROW = compile_later(
    r"^(?P<reason>\S.*?) +(?P<user>\S+) +(?P<time>\d{4}-\d\d-\d\dT[\d:]+|Unknown|N/A|None) +(?P<nodes>\S+)\s*$"
)
_END = compile_later(
    r"^(?:REASON +USER|PARTITION +AVAIL|NodeName=|JobI[dD]=| *JOBID +|[$#] |\[?[\w.-]+[@:~][^#$]*[#$] )"
)
_JOB = compile_later(r"\d+(?:[_+.]\S*)?$")  # 1234, 1234_5, 1234_[1-9%2], 1234+0, 1234.batch
_BAD_STATES = compile_later(r"down|drain|drng|fail|inval|boot|maint|unk|\*", re.I)


def parse_block(reader: Reader) -> Iterator[Observation]:
    """Yield `slurm-node` (code state or reason) and `slurm-job` (code = the state) observations."""
    head = reader.peek() or ""
    if head.startswith("NodeName="):
        yield from _record(reader, "slurm-node")
    elif head.startswith(("JobId=", "JobID=")):
        yield from _record(reader, "slurm-job")
    elif head.startswith("REASON"):
        yield from _reasons(reader)
    elif head.startswith("PARTITION"):
        yield from _partitions(reader)
    else:
        yield from _jobs(reader)


def _reasons(reader: Reader) -> Iterator[Observation]:
    reader.next()
    for number, text in _table(reader, lambda text: _REASON_ROW.match(text) is not None):
        match = _REASON_ROW.match(text)
        if not match:
            continue
        attributes = {"reason": match["reason"].strip(), "user": match["user"]}
        yield from _nodes(reader.input, number, text, "reason", match["nodes"], attributes, parse_iso(match["time"]))


def _partitions(reader: Reader) -> Iterator[Observation]:
    reader.next()
    for number, text in _table(reader, lambda text: len(text.split()) == 6):
        fields = text.split()
        if len(fields) != 6 or not _BAD_STATES.search(fields[4]):
            continue
        yield from _nodes(
            reader.input,
            number,
            text,
            "state",
            fields[5],
            {"state": fields[4].lower(), "partition": fields[0].rstrip("*")},
        )


def _nodes(
    input_name: str, number: int, text: str, code: str, names: str, attributes: dict[str, str], time: float | None = None
) -> Iterator[Observation]:  # fmt: skip
    for name in expand_nodes(names):
        host = normalise_node(name)
        yield Observation(
            SOURCE, "slurm-node", input_name, number, number, text, code=code, time=time, node=host, entity=f"node:{host}",
            attributes=attributes,
        )  # fmt: skip


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

    def cut(text: str) -> dict[str, str]:
        fields = text.split()
        if len(fields) == len(names):
            return dict(zip(names, fields, strict=True))
        return {name: text[start:end].strip() for name, (start, end) in zip(names, spans, strict=True)}

    for number, text in _table(reader, lambda text: _JOB.match(cut(text).get("jobid", "")) is not None):
        cells = cut(text)
        job = cells.get("jobid", "")
        if not _JOB.match(job):
            continue
        state = cells.get("st") or cells.get("state") or ""
        reason = re.search(r"\((?P<reason>[^)]*)\)?\s*$", text)
        attributes = {name: value for name, value in cells.items() if value}
        if reason:
            attributes["reason"] = reason["reason"]
        yield Observation(
            SOURCE,
            "slurm-job",
            reader.input,
            number,
            number,
            text,
            code=state,
            entity=f"job:{job}",
            attributes=attributes,
        )


def _spans(head: str) -> list[tuple[int, int]]:
    """Return the column of each header word: it ends where the next one begins."""
    starts = [match.start() for match in re.finditer(r"\S+", head)]
    return [(start, following) for start, following in zip(starts, [*starts[1:], 10_000], strict=False)]


def _table(reader: Reader, is_row: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Yield the rows below a head; a second line in a row that is none (one may be the rest of a wrapped one) ends the table."""
    misfit: tuple[int, int] | None = None
    for _ in range(20000):
        text = reader.peek()
        if text is None or not text.strip() or _END.match(text):
            break
        place, number = reader.place(), reader.number
        if is_row(text):
            misfit = None
        elif misfit is None:
            misfit = place
        else:
            break
        reader.next()
        yield number, text
    if misfit is not None:
        reader.back(misfit)
