"""Runs that somebody repeats with one thing changed: a variable of NCCL, another NCCL library, an option of a module.

What a paste of a shell shows below such a command tells whether the change helps, which is often the only proof of a cause that
prints no message. Bourne-like prompts (`$`, `host#`); NCCL 2.x variables as its user guide names them, also given to `mpirun -x`;
pip and Debian packages of NCCL; options of nvidia_uvm. Samples::

    $ NCCL_CROSS_NIC=0 mpirun -np 16 ./gather_perf | tail -1
    # Avg bus bandwidth    : 43.0184
    $ pip install -q nvidia-nccl-cu12==2.21.5
    $ srun python train.py 2>&1 | tail -1
    step 20 loss 8.377 | 41.3 TFLOP/s
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.observation import Observation, Record
from collectors.regex import compile_later

SOURCE = "trial"
LAYERS: tuple[str, ...] = ()
SIGNATURES: tuple[str, ...] = ()
HEADS = (
    r"^\S{0,60}[$#] [^#\n]{0,200}\bNCCL_[A-Z0-9_]+=[^\s;]+ ",
    r"^\S{0,60}[$#] [^#\n]{0,200}\bGLOO_SOCKET_IFNAME=[^\s;]+ ",
    r"^\S{0,60}[$#] [^#\n]{0,200}\bLD_PRELOAD=\S*libnccl",
    r"^\S{0,60}[$#] [^#\n]{0,80}\binstall [^\n]{0,80}(?:nvidia-nccl-cu\d+|libnccl2)=",
    r"^\S{0,60}[$#] [^\n]{0,120}modprobe nvidia[-_]uvm [^\n]{0,60}uvm_disable_hmm=1",
)
_PROMPT = compile_later(r"^(?:[\w@.:~/\[\]-]{0,60}\$|[\w.-]+@[\w.-]+[^#$]{0,60}#) \S")
_VARIABLE = compile_later(r"\b(?P<name>(?:NCCL|GLOO)_[A-Z0-9_]+)=(?P<quote>[\"']?)(?P<value>[^\s\"';]*)(?P=quote)(?= )")
_LIBRARY = compile_later(r"\bLD_PRELOAD=(?P<value>\S*libnccl[\w.-]*)")
_PACKAGE = compile_later(r"\binstall .*?\b(?:nvidia-nccl-cu\d+|libnccl2)==?(?P<value>[\w.+-]+)")
_OPTION = compile_later(r"modprobe nvidia[-_]uvm .*?(?P<name>uvm_disable_hmm)=(?P<value>1)")
_GOOD = compile_later(
    r"\b(?:step|iter(?:ation)?|epoch)s?[ :=\[]+\d+|\bloss\b[^\w\n]{0,3}\d|avg bus bandwidth *: *[1-9]|\b(?:it|tokens|samples|img|steps)/s\b"
    r"|\bTFLOP|\bframe= *\d|\btests? passed|\bPASSED\b|^(?:ok|done|success|true)\b|\bok\b *$|\btraining (?:done|finished|complete)",
    re.I | re.M,
)
_BAD = compile_later(
    r"\berror\b|fail(?:ed|ure)|exception|traceback|abort|NCCL WARN|timed? ?out|\bhang|\bhung\b|\bstall|killed|core dumped|\bnan\b"
    r"|unhandled|not (?:found|initialized)|cannot ",
    re.I,
)
_HARMLESS = compile_later(r"Out of bounds values|[\w./-]+\.(?:py|sh)\b|errors?: 0\b")
_QUIET = ("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE")
_MOST_CHANGES = 3
_MOST_LINES = 60
_MOST_WIDTH = 500  # characters of a line that are looked at
_MOST_COMMANDS = 3  # between a change that lasts and the run that shows what it did


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield a `trial` for each thing that the command changes (code: variable, `nccl-library` or option); `outcome` is works or
    fails. Output that tells neither yields nothing, and only the command's own line is taken."""
    first, head = reader.number, reader.next() or ""
    changes = [(one["name"], one["value"]) for one in _VARIABLE.finditer(head[:2000]) if one["name"] not in _QUIET]
    library = _LIBRARY.search(head[:2000]) or _PACKAGE.search(head[:2000])
    option = _OPTION.search(head[:2000])
    if library:
        changes.append(("nccl-library", library["value"]))
    if option:
        changes.append((option["name"], option["value"]))
    lasting = bool(option) or bool(library and "install" in head)
    if not changes or len(changes) > _MOST_CHANGES or "export " in head:
        return
    place = reader.place()
    outcome, last = _judge(reader, _MOST_COMMANDS if lasting else 0)
    reader.back(place)
    if not outcome:
        return
    for name, value in changes:
        yield Observation(
            SOURCE, "trial", reader.input, first, last, head.strip(), code=name, node=reader.node,
            attributes={"value": value, "outcome": outcome, "changes": str(len(changes))},
        )  # fmt: skip


def _judge(reader: Reader, commands: int) -> tuple[str, int]:
    """Return how the run went, and the line that tells; output of further commands counts while `commands` of them may pass."""
    for first, output in _read_runs(reader, commands + 1):
        text = "\n".join(_HARMLESS.sub("", one[:_MOST_WIDTH]) for one in output)
        bad = _BAD.search(text)
        if bad:
            return "fails", first + text.count("\n", 0, bad.start())
        good = [one.start() for one in _GOOD.finditer(text)]
        if good:
            return "works", first + text.count("\n", 0, good[-1])
    return "", 0


def _read_runs(reader: Reader, most: int) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the first line, lines) of what up to `most` commands printed."""
    first, output = reader.number, list[str]()
    for number, text in reader.lines(_MOST_LINES):
        if _PROMPT.match(text[:200]):
            yield first, output
            most -= 1
            if not most:
                return
            first, output = number + 1, []
        else:
            output.append(text)
    yield first, output
