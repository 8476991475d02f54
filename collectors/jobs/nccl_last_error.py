"""NCCL's last warning as programs repeat it in their own errors: the line after `Last error:`.

Programs: PyTorch 1.13 on (`getNcclErrorDetailStr`, from `ncclGetLastError`), CuPy, JAX; NCCL 2.13 on. The text is that of NCCL's
WARN line without host, process and file, and often all that is left where NCCL_DEBUG was not set. Samples::

    ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
    Last error:
    NET/IB : Got completion from peer 10.0.0.12<41822> with status=12 opcode=0 len=0 vendor err 129 (Recv)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.jobs import nccl
from collectors.observation import Record
from collectors.prefix import peel

SOURCE = "nccl"
LAYERS = ("framework", "fabric")
SIGNATURES = (r"\bncclGetLastError\b|^(?:\S+ )?nccl(?:Unhandled|System|Internal|Invalid|Remote)\w*: ",)
HEADS = (r"Last error: *$", r"Last error: *\r$")


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
