"""Slurm's `sinfo` in its forms: the summary of partitions, `-l`, `-N`, `-N -l` and the reasons (`-R`); and how its tables end.

Versions 18 to 25 (src/sinfo/opts.c). Only nodes in a state that keeps jobs away are told. Samples::

    PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
    gpu*         up   infinite      1  down* gpu-st-1

    NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON
    cpu-12         1      cpu*       inval   64   2:32:1 512000        0      1   (null) Low RealMemory (repo

    REASON               USER      TIMESTAMP           NODELIST
    gres/gpu count repor slurm     2023-05-10T11:32:40 gpu-st-1
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
_REASON_ROW = compile_later(
    r"^(?P<reason>\S.*?) +(?P<user>\S+) +(?P<time>\d{4}-\d\d-\d\dT[\d:]+|Unknown|N/A|None) +(?:[a-z]+\S* +)?(?P<nodes>\S+)\s*$"
)
_END = compile_later(
    r"^(?:REASON +USER|PARTITION +AVAIL|NODELIST +NODES|NodeName=|JobI[dD]=| *JOBID +|[$#] |\[?[\w.-]+[@:~][^#$]*[#$] )"
)
_BAD_STATES = compile_later(r"down|drain|drng|fail|inval|boot|maint|unk|\*", re.I)


def read_reasons(reader: Reader) -> Iterator[Observation]:
    """Read `sinfo -R`, long or short: why nodes are kept from jobs."""
    reader.next()
    for number, text in read_table(reader, lambda text: _REASON_ROW.match(text) is not None):
        match = _REASON_ROW.match(text)
        if not match:
            continue
        attributes = {"reason": match["reason"].strip(), "user": match["user"]}
        yield from _nodes(reader.input, number, text, "reason", match["nodes"], attributes, parse_iso(match["time"]))


def read_partitions(reader: Reader) -> Iterator[Observation]:
    """Read plain `sinfo`: a row for each state in a partition."""
    reader.next()
    for number, text in read_table(reader, lambda text: len(text.split()) == 6):
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


def read_long_listing(reader: Reader) -> Iterator[Observation]:
    """Read `sinfo -l` (a reservation's cell may be empty) and `sinfo -N [-l]` (whose reason, cut at 20 characters, may have blanks)."""
    names = (reader.next() or "").split()
    if "STATE" not in names or "PARTITION" not in names:
        return
    at = names.index("STATE")

    def cut(text: str) -> list[str]:
        fields = text.split(None, len(names) - 1)
        return fields if len(fields) >= len(names) - 1 and len(fields) > at else []

    for number, text in read_table(reader, lambda text: bool(cut(text))):
        fields = cut(text)
        if not fields or not _BAD_STATES.search(fields[at]):
            continue
        attributes = {"state": fields[at].lower(), "partition": fields[names.index("PARTITION")].rstrip("*")}
        if names[-1] == "REASON" and len(fields) == len(names) and fields[-1].strip() != "none":
            attributes["reason"] = fields[-1].strip()
        yield from _nodes(
            reader.input, number, text, "state", fields[0] if names[0] == "NODELIST" else fields[-1], attributes
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


def read_table(reader: Reader, is_row: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
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
