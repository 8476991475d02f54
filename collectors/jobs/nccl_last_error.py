"""NCCL's last warning as programs repeat it in their own errors: the line after `Last error:`.

Programs: PyTorch 1.13 on (`getNcclErrorDetailStr`, from `ncclGetLastError`), CuPy, JAX and TensorFlow (XLA, in one line and in
quotes); NCCL 2.13 on. The text is that of NCCL's WARN line without host, process and file, and often all that is left where
NCCL_DEBUG was not set. Samples::

    ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
    Last error:
    NET/IB : Got completion from peer 10.0.0.12<41822> with status=12 opcode=0 len=0 vendor err 129 (Recv)
    ... failed: invalid usage. Last NCCL warning(error) log entry (may be unrelated) 'Bootstrap : no socket interface found'.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.jobs import nccl
from collectors.observation import Record
from collectors.prefix import Line, peel
from collectors.regex import compile_later

SOURCE = "nccl"
LAYERS = ("framework", "fabric")
SIGNATURES = (r"\bncclGetLastError\b|^(?:\S+ )?nccl(?:Unhandled|System|Internal|Invalid|Remote)\w*: ",)
HEADS = (r"Last error: *$", r"Last error: *\r$")
ANCHORS = (r"Last NCCL (?:warning|error)[()\w]* log entry",)
_QUOTED = compile_later(
    r"Last NCCL (?:warning|error)[()\w]* log entry(?: \(may be unrelated\))?:? ['\"](?P<text>.*)['\"]\.?(?:[;)\s]|$)"
)


def parse_line(line: Line) -> Iterator[Record]:
    """Yield what an error of XLA quotes."""
    match = _QUOTED.search(line.text)
    if match:
        yield from nccl.read_warning(line, match["text"])


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield what the line after the head says; that line is left to others."""
    node = reader.node
    reader.next()
    raw = reader.peek()
    if raw is None:
        return
    line = peel(reader.input, reader.number, raw)
    line.host = line.host or node
    yield from nccl.read_warning(line)
