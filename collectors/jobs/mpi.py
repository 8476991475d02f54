"""Which MPI rank ended first and how: the verdicts of Open MPI's and MPICH's launchers.

Programs: Open MPI 3 to 5 (orterun, PRRTE; texts of `help-orterun.txt`, `help-mpi-api.txt`), MPICH and Intel MPI (Hydra; text of
`pm/hydra/ui/mpich/utils.c`). What `mpirun noticed` says in one line is read by `collectors.jobs.training`. Samples::

    mpirun detected that one or more processes exited with non-zero status, thus causing
    the job to be terminated. The first process to do so was:

      Process name: [[51230,1],3]
      Exit code:    1

    MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD

    =   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
    =   RANK 3 PID 41822 RUNNING AT node-b
    =   KILLED BY SIGNAL: 9 (Killed)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_node
from collectors.observation import Observation, Record, Relation
from collectors.prefix import peel
from collectors.regex import compile_later

SOURCE = "training"
LAYERS = ("application", "framework")
SIGNATURES = (
    r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", r"^=   (?:RANK \d+ )?PID \d+ RUNNING AT ",
    r"^MPI_ABORT was invoked on rank \d+",
    r"^(?:mpirun|prterun|mpiexec) (?:noticed|detected) that ", r"^ +Process name: \[\[",
)  # fmt: skip
HEADS = (
    r"The first process to do so was:", r"MPI_ABORT was invoked on rank \d+", r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
)  # fmt: skip

_RANK = compile_later(
    r"Process name: \[\[\d+,\d+\],(?P<process>\d+)\]|invoked on rank (?P<aborted>\d+)|RANK (?P<rank>\d+) PID (?P<pid>\d+) RUNNING AT "
    r"(?P<host>[\w.-]+)|PID (?P<pid_alone>\d+) RUNNING AT (?P<host_alone>[\w.-]+)"
)
_CODE = compile_later(
    r"Exit code: +(?P<code>\d+)|EXIT CODE: (?P<hydra>\d+)|KILLED BY SIGNAL: (?P<signal>\d+)|EXIT STRING: .*\(signal (?P<string>\d+)\)|"
    r"[Ee]rrorcode (?P<error>-?\d+)"
)
_LINES = 14


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield an `exit` observation (attribute first: yes) of the rank that the launcher names, with its host where it is told."""
    first, last = reader.number, reader.number
    text: list[str] = []
    rank, pid, host, code, killed = "", "", "", "", ""
    for place in range(_LINES):
        raw = reader.peek()
        if raw is None:
            break
        line = peel(reader.input, reader.number, raw)
        closed = line.text.startswith("====")
        if place and (line.text.startswith("----") or "noticed that" in line.text):
            break
        named, ended = _RANK.search(line.text), _CODE.search(line.text)
        if named:
            rank = named["process"] or named["aborted"] or named["rank"] or rank
            pid = named["pid"] or named["pid_alone"] or pid
            host = named["host"] or named["host_alone"] or host
        if ended:
            killed = ended["signal"] or ended["string"] or killed
            code = ended["code"] or ended["hydra"] or ended["error"] or code
        if named or ended or not place:
            text.append(line.text)
            last = reader.number
        reader.next()
        if closed and "EXIT STRING" not in (reader.peek() or ""):
            break
    if not (rank or host) or not (code or killed):
        return
    host = normalise_node(host) if host else ""
    attributes = {"first": "yes", "rank": rank, "pid": pid}
    yield Observation(
        SOURCE, "exit", reader.input, first, last, " ".join(text)[:1000], code=f"-{killed}" if killed else code, node=host,
        entity=f"rank:{rank}" if rank else "", attributes={name: value for name, value in attributes.items() if value},
    )  # fmt: skip
    if rank and host:
        yield Relation(f"rank:{rank}", f"node:{host}", "on", reader.input, first, host)
