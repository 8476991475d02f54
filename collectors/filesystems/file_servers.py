"""A network file system's server falls silent and answers again, as the kernel's clients print it: NFS, Lustre, CephFS, SMB.

Formats: Linux net/sunrpc/clnt.c (2.6 to 6.x), Lustre ptlrpc/import.c (2.10 to 2.16), Linux fs/ceph/mds_client.c and fs/smb/client.
Samples::

    nfs: server filer-2.example.com not responding, still trying
    nfs: server filer-2.example.com OK
    Lustre: lfs01-OST0004-osc-ff4a2b1c: Connection to lfs01-OST0004 (at 10.0.7.31@tcp) was lost; in progress operations ...
    Lustre: lfs01-OST0004-osc-ff4a2b1c: Connection restored to 10.0.7.31@tcp (at 10.0.7.31@tcp)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "storage"
LAYERS = ("storage",)
SIGNATURES = (r"nfs: server \S+ (?:not responding|OK)", r"Lustre: \S+: Connection (?:to|restored to) ")
ANCHORS = (
    r"nfs: server \S+ (?:not responding|OK)", r"-(?:osc|mdc)-\S+: Connection (?:to \S+ \(at \S+\) was lost|restored to )",
    r"ceph: .*mds\d+ (?:hung|came back)", r"CIFS: VFS: .* has not responded in \d+ seconds",
)  # fmt: skip

_TARGET = r"(?P<target>(?P<filesystem>[\w-]+?)-(?:OST|MDT)[0-9a-f]{4})-(?:osc|mdc)-\S+: Connection"
_FORMS = (
    ("nfs", "silent", compile_later(r"nfs: server (?P<filesystem>[\w.:%-]+) not responding, (?:still trying|timed out)")),
    ("nfs", "back", compile_later(r"nfs: server (?P<filesystem>[\w.:%-]+) OK\b")),
    ("lustre", "silent", compile_later(_TARGET + r" to \S+ \(at \S+\) was lost")),
    ("lustre", "back", compile_later(_TARGET + r" restored to ")),
    ("ceph", "silent", compile_later(r"ceph: .*?(?P<target>mds\d+) hung")),
    ("ceph", "back", compile_later(r"ceph: .*?(?P<target>mds\d+) came back")),
    ("smb", "silent", compile_later(r"CIFS: VFS: (?:\\+)?(?P<filesystem>[\w.-]+) has not responded in \d+ seconds")),
)  # fmt: skip


def parse_line(line: Line) -> Iterator[Record]:
    """Yield a `file-server` observation, code silent or back; `system` is nfs, lustre, ceph or smb."""
    for system, code, regex in _FORMS:
        match = regex.search(line.text)
        if match is None:
            continue
        attributes = {"system": system, **{name: value for name, value in match.groupdict().items() if value}}
        if line.uptime is not None:
            attributes["uptime"] = f"{line.uptime:.6f}"
        name = attributes.get("filesystem", "")
        yield Observation(
            SOURCE, "file-server", line.input, line.number, line.number, line.text, code=code, time=line.time, node=line.host,
            entity=f"filesystem:{name}" if name else "", attributes=attributes,
        )  # fmt: skip
        return
