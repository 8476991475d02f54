"""What single NCCL messages say: (kind, level it must have, regex). The first that matches names the fact.

Wordings changed from version to version; each entry holds all that are known, so that rules need only the kind and code.
File and line numbers in front of a message move with every release and are never looked at.
"""

from __future__ import annotations

import re
from functools import cache

_TABLE: tuple[tuple[str, str, str], ...] = (
    # --- InfiniBand and RoCE: a work completion in error (up to 2.19 `error N,`, 2.20 on `status=N`, 2.28 on `status=NAME(N)`)
    (
        "completion", "WARN",
        (r"Got completion(?: from peer (?P<peer>\S+))? with (?:error |status=)(?:\w+\()?(?P<code>\d+)\)?,? opcode.*?"
        r"vendor[ _]err[= ](?P<vendor>\d+)(?: \((?P<way>Send|Recv)\))?(?:.*localGid (?P<local>\S+))?"
        r"(?: remoteGids? ?(?P<remote>[0-9a-fA-F:.]+))?(?:.* hca (?P<nic>[\w.-]+))?$"),
    ),
    # --- events of the adapter (no device up to 2.19)
    (
        "async-event", "WARN",
        (r"NET/\w+ ?: (?:(?P<nic>[\w.-]+?):(?P<port>\d+) )?(?:Got (?:non-fatal )?async (?:\w+ )?event ?: |"
        r"async fatal event(?: on \w+[^:]*)?: |"
        r"Got async fatal event: )(?P<code>[^(]+)"),
    ),
    # --- TCP between peers
    (
        "connect", "",
        r"[Cc]onnect(?:ing)? to (?P<peer>\S+<\d+>) (?:failed(?: after \d+ attempts)? ?: |returned )(?:\d+\()?(?P<code>[A-Z][A-Za-z ]+)",
    ),
    ("connect", "", r"(?:Call to connect|connect) returned (?P<code>[A-Z][A-Za-z ]+?),"),
    ("connect", "WARN", r"Call to connect (?:failed|timeout) ?: (?P<code>[A-Z][A-Za-z ]+)"),
    ("connect", "WARN", r"ocketPollConnect to (?P<peer>\S+<\d+>) failed with error (?P<code>[A-Z][A-Za-z ]+)"),
    ("connect", "WARN", r"socket(?:Poll|Start)Connect: (?P<code>exceeded (?:retries|timeouts))"),
    ("connect", "WARN", r"(?P<code>connecting to address +)with family (?P<family>\d+) is neither"),
    ("connect", "WARN", r"socketPollConnect.*(?P<code>no POLLOUT events)"),
    ("closed-by-peer", "", r"Connection closed by (?:remote peer(?: (?P<peer>\S+))?|localRank (?P<local_rank>\d+))"),
    (
        "closed-by-peer", "WARN",
        (r"Call to (?:recv|send|read|write)(?: (?:from|to) (?P<peer>\S+<\d+>))? failed ?: "
        r"(?P<code>Connection reset by peer|Broken pipe|Connection timed out|No route to host)"),
    ),
    # --- what the process was told, and what it found
    ("env", "INFO", r"^(?P<code>NCCL_[A-Z0-9_]+) set (?:by environment )?to ?(?P<value>.*?)\.?$"),
    ("network", "INFO", r"Using network (?P<code>\S.*)"),
    # what the plug-in of a cloud found (aws-ofi-nccl 1.0 to 1.17: platform-aws.c, nccl_ofi_net.c)
    ("instance", "INFO", r"NET/OFI Running on (?P<code>\w[\w.-]*) platform\b"),
    ("provider", "INFO", r"NET/OFI Selected [Pp]rovider is (?P<code>[\w-]+).*\(found (?P<nics>\d{1,4}) nics\)"),
    ("no-rdma-device", "", r"NET/IB ?: (?P<code>No device found)"),
    ("verbs-library", "", r"(?P<code>Failed to open libibverbs)\.so"),
    ("no-interface", "WARN", r"(?P<code>[Nn]o (?:(?:socket|valid|IP|usable(?: listening)?) )?interfaces? found)"),
    ("no-interface", "WARN", r"(?P<code>Could not find any .*interface)"),
    ("no-interface", "WARN", r"(?P<code>no device found (?:matching|after excluding))"),
    ("gpudirect", "INFO", r"GPU Direct RDMA (?P<code>Disabled|Enabled|\(\S+\) enabled) for (?:HCA|GPU) \d+ (?:'|/)(?P<nic>[A-Za-z]\w+)?"),
    # --- what NCCL knows of the machine (subsystems NET and GRAPH): rates in Mb/s, bandwidths in GB/s
    (
        "adapter", "INFO",
        r"NET/IB ?: \[\d+\] (?P<nic>[A-Za-z][\w.-]*):\w+:(?P<port>\d+)/(?P<code>IB|RoCE|\w+) .*\bspeed=(?P<mbps>\d+)",
    ),
    ("topology", "INFO", r"=== System ?: max(?:Bw|Width) (?P<most>[\d.]+) total(?:Bw|Width) (?P<total>[\d.]+)"),
    ("topology-flat", "INFO", r"^\+ PCI\[(?P<gbytes>[\d.]+)\] - (?P<code>GPU|NIC)/"),  # right below a processor, no switch between
    (
        "graph", "INFO",
        (r"Pattern (?P<code>\d+), crossNic \d+, nChannels (?P<channels>\d+), (?:bw|speed) (?P<intra>[\d.]+)/(?P<inter>[\d.]+), "
        r"type (?P<type_intra>\w+)/(?P<type_inter>\w+)"),
    ),
    # --- set-up that fails
    (
        "duplicate-gpu", "WARN",
        r"(?P<code>Duplicate GPU) detected : rank (?P<rank>\d+) and rank (?P<other>\d+) both on CUDA device (?P<bus>[0-9a-f]+)",
    ),
    ("truncated", "WARN", r"(?P<code>Message truncated) : receiv(?:ed|ing) (?P<received>[\d,]+) bytes instead of (?P<expected>[\d,]+)"),
    (
        "version-mismatch", "WARN",
        r"(?P<code>Mismatched NCCL version) detected : rank \d+ version (?P<first>\d+) rank \d+ version (?P<second>\d+)",
    ),
    ("collective-mismatch", "WARN", r"(?P<code>collective mismatch) error,? local size (?P<local>\d+) remote(?: size)? (?P<remote>\d+)"),
    (
        "verbs-call", "WARN",
        (r"Call to (?P<code>ibv_\w+|mlx5dv_\w+) failed(?: with (?:error )?(?:(?P<errno>\d+) )?(?P<error>[A-Z][A-Za-z ]+?))?(?: errno \d+)?"
        r"(?:$|[,(.;])(?:.*dev (?P<nic>[\w.-]+):(?P<port>\d+))?"
        r"(?:.*local GID (?:::ffff:)?(?P<local>[0-9a-fA-F:.]+), remote GID (?:::ffff:)?(?P<remote>[0-9a-fA-F:.]+))?"),
    ),
    ("open-device", "WARN", r"Unable to open device (?P<nic>[\w.-]+)"),
    ("verbs-call", "WARN", r"NET/IB.*?(?P<code>ibv_\w+)\(?\)? failed(?: with error (?P<error>[A-Z][A-Za-z ]+))?"),
    # --- echoes of something that was printed before
    (
        "echo", "WARN",
        (r"\[(?:Service thread|Proxy Service)|Socket recv failed while polling|Failed to execute operation \w+ from rank|"
        r"(?P<code>socketProgress(?:Opt)?: abort called)"),
    ),
)  # fmt: skip


@cache
def messages_of(level: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return (kind, regex) of the messages that may stand at a level (`INFO`, `WARN`, ...), in order."""
    return tuple((kind, re.compile(regex)) for kind, only, regex in _TABLE if only in ("", level))


# INFO lines that carry facts: all others are left alone, for there are very many. (WARN lines always wake the collector.)
WAKERS = (
    r"nranks \d+ .*(?:START|COMPLETE)",
    r"Bootstrap ?: Using ",
    r"NET(?:/g?IB)? ?: Using ",
    r"NET/IB ?: No device found",
    r"NET/Socket ?: Using ",
    r"NET/OFI Running on ",
    r"NET/OFI Selected [Pp]rovider is ",
    r"INFO Using network ",
    r"INFO NCCL_[A-Z0-9_]+ set ",
    r"\] via NET/",
    r" via P2P/",
    r"NCCL version \d",
    r"libnccl2? +\d|libnccl2?-\d|nvidia-nccl-cu\d+(?:==| +)\d",
    r"Failed to open libibverbs",
    r"returned [A-Z][A-Za-z ]+, retrying",
    r"GPU Direct RDMA Disabled",
    r"NET/IB ?: \[\d+\] .* speed=\d+ context=",
    r"=== System ?: max",
    r"NCCL INFO \+ PCI\[",
    r"Pattern \d+, crossNic \d",
)
