"""Texts made to be slow: twice as much of one may take at most 2.6 times as long.

    python -m tests.adversarial                     every family, through the intake and through the whole diagnosis
    python -m tests.adversarial prefixes digits     some of them
    python -m tests.adversarial --parsers           each parser alone: its samples repeated, joined and never ended

Times are of the processor, the least of several runs, at n and 2n in one process; n is chosen so that a run takes long enough
to be measured. `tests/test_adversarial.py` counts the lines of code that run instead, on less text.
"""

from __future__ import annotations

import argparse
import io
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence

MOST = 2.6  # times as long for twice the text
_BEGIN, _END = 1 << 17, 1 << 24  # bytes of a family at n
_LONG_ENOUGH = 0.12  # seconds that a run has to take to be measured


def _fill(piece: bytes) -> Callable[[int], bytes]:
    return lambda size: piece * max(1, size // len(piece))


def _numbered(make: Callable[[int], str], head: str = "") -> Callable[[int], bytes]:
    def form(size: int) -> bytes:
        lines, length = [head] if head else [], len(head)
        while length < size:
            lines.append(make(len(lines)))
            length += len(lines[-1]) + 1
        return ("\n".join(lines) + "\n").encode()

    return form


def _deep_yaml(size: int) -> bytes:
    return b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec: " + b"{a: " * (size // 4) + b"\n"


def _stairs_yaml(size: int) -> bytes:
    step = "".join(f"{' ' * deep}a{deep}:\n" for deep in range(1, 200))
    return (f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n{step}---\n" * (size // len(step) + 1)).encode()


def _deep_json(size: int) -> bytes:
    return b'{\n    "apiVersion": "v1",\n    "kind": "List",\n    "items": ' + b"[\n" * (size // 2)


def _deep_json_lines(size: int) -> bytes:
    line = b'{"log":"' + b"[{" * 2000 + b'","stream":"stderr","time":"2025-01-21T04:41:44.5Z"}\n'
    return line * (size // len(line) + 1)


def _deep_xml(size: int) -> bytes:
    head = b'<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n<nvidia_smi_log>\n'
    return head + b'\t<gpu id="00000000:3B:00.0">\n' * (size // 30)


def _nested_tar(size: int) -> bytes:
    data = b"[  1.000000] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n" * (size // 80)
    for depth in range(6):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            member = tarfile.TarInfo(f"{depth}/a")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        data = packed.getvalue()
    return data


_PROMPT = b"root@node-a:~# "
FAMILIES: dict[str, Callable[[int], bytes]] = {
    "one-long-line": _fill(b"NCCL WARN error failed Xid ECC timeout mlx5_0 GPU "),
    "long-lines": _fill(b"NVRM: Xid (PCI:0000:3b:00): 31, pid=1, Ch 00000008 " * 300 + b"\n"),
    "deep-json": _deep_json,
    "deep-json-in-lines": _deep_json_lines,
    "deep-yaml": _deep_yaml,
    "stairs-of-yaml": _stairs_yaml,
    "deep-xml": _deep_xml,
    "nested-tar": _nested_tar,
    "near-matches": _fill(
        b"NVRM: Xid (PCI:0000:3b:00): , pid=\nnode-a:1:1 [0] NCCL INFO Channel 00/0 : 9[1] ->\nmlx5_core 0000:0c:00.0: Port module event:\n"
        b"[rank0]:[E1026 04:01:29.5 ProcessGroupNCCL.cpp:683] [Rank ] Watchdog caught collective operation timeout: WorkNCCL(\n"
        b"Warning  FailedScheduling  2m  default-scheduler  0/ nodes are available: 1 Insufficient\n"
    ),
    "brackets": _fill(b"[" * 4000 + b" error\n" + b"(" * 4000 + b" error\n" + b"<" * 4000 + b" error\n" + b"{" * 4000 + b" error\n"),
    "digits": _fill(b"1234567890" * 800 + b" error\n"),
    "digits-with-dots": _fill(b"1.2.3.4.5:6-7/8 " * 500 + b"error\n"),
    "prefixes": _fill(b"[rank3]:" * 500 + b"error\n" + b"3: " * 2000 + b"error\n" + b"[1,3]<stdout>:" * 300 + b"error\n" + b"a.b-c.d " * 800 + b"| 2025 error\n" + b"a1" * 4000 + b" error\n"),
    "prompts": _fill(_PROMPT + b"nvidia-smi\n" + b"$ \n# cat /var/log/syslog\n==> a.log <==\n"),
    "half-prompts": _fill(b"root@" * 2000 + b" error\n" + b"[root@node-a " * 700 + b"\n" + b"(base) " * 1200 + b"$\n"),
    "table-heads": _fill(
        b"NAME   READY   STATUS   RESTARTS   AGE\nJOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n"
        b"+-----------------------------------------------------------------------------------------+\n"
        b"Filesystem Size Used Avail Use% Mounted on\n#  Rank  0 Group  0 Pid  30211 on     node-a device  0 [0x1b] NVIDIA H100\n"
    ),
    "one-table-without-end": _numbered(lambda n: f"worker-{n}   0/1     CrashLoopBackOff   {n}          3d", "NAME   READY   STATUS   RESTARTS   AGE"),
    "ansi": _fill(b"\x1b[31m" * 1000 + b"error\n" + b"\x1b]0;" * 1500 + b"\n" + b"\x1b[" + b"0;" * 3000 + b"\n"),
    "timestamps": _fill(b"2025-01-21 04:41:44,283 " * 300 + b"error\n" + b"Jan 21 04:41:44 " * 400 + b"\n" + b"[2025-01-21T04:41:44] " * 300 + b"\n"),
    "carriage-returns": _fill(b"Epoch 1:  10%|#   | 10/100 [00:01<00:09, 9.9it/s]\r" * 100 + b"\n"),
    "lone-carriage-returns": _fill(b"NVRM: Xid (PCI:0000:3b:00): 79, error\r"),
    "tracebacks": _fill(b"Traceback (most recent call last):\n"),
    "traceback-without-end": _numbered(lambda n: f'  File "/opt/a.py", line {n}, in forward\n    return self.layer_{n}(x)', "Traceback (most recent call last):"),
    "stacks-without-end": _numbered(lambda n: f"[ {n}.000000]  ? schedule_timeout+0x{n:x}/0x150", "[  1.000000] INFO: task python:1 blocked for more than 120 seconds."),
    "open-csv": _fill(b"@timestamp,message\n" + b'2025-01-21T04:41:44Z,"error ""a"" and, more\n' * 400),
    "cri-parts": _fill(b"2025-11-26T01:00:00.000000000Z stderr P CUDA error: out of memory " + b"x" * 60 + b"\n"),
    "journal-export": _fill(b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1737434504000000\n_HOSTNAME=a\nMESSAGE=NVRM: Xid (PCI:0000:3b:00): 79\n"),
    "wrapped": _numbered(lambda n: f"node-a:{n:07}:1 [0] NCCL INFO ".ljust(80, "x") + "\n" + "y" * 80 + "\n" + "z" * (n % 40), "node-a:1:1 [0] NCCL INFO start"),
    "blanks": _fill(b" " * 8000 + b"error\n" + b"a" + b"\t" * 8000 + b"\n"),
    "equal-signs": _fill(b'level=error msg="' + b"a=b " * 2000 + b"\n" + b'time="' * 1500 + b"\n"),
    "quotes": _fill(b"\\\"'" * 2500 + b"\n" + b"''" * 4000 + b"\n"),
    "describe-without-end": _numbered(lambda n: f"  Warning  BackOff  {n}m (x{n} over 1h)  kubelet  Back-off restarting failed container {n}", "Name:         worker-0\nNamespace:    ml\nStatus:       Running\nEvents:\n  Type     Reason   Age  From     Message\n  ----     ------   ---- ----     -------"),
    "metrics": _numbered(lambda n: f'DCGM_FI_DEV_XID_ERRORS{{gpu="{n % 8}",UUID="GPU-{n}",a="{"," * 50}"}} {n}'),
    "hosts": _numbered(lambda n: f"Jan 21 04:41:44 node-{n} kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus."),
    "ranks": _numbered(lambda n: f"[rank{n}]:[E1026 04:01:29.500801336 ProcessGroupNCCL.cpp:683] [Rank {n}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={n}, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out."),
    "unknown-errors": _numbered(lambda n: f"error {n}: {'abcdefghij'[n % 10] * (n % 50 + 1)} cannot {hex(n * 7919)} failed to {n * 31 % 977}"),
    "pods": _numbered(lambda n: f"{n}m  Warning  FailedScheduling  pod/a-{n}  0/{n} nodes are available: {n} Insufficient nvidia.com/gpu.", "LAST SEEN   TYPE      REASON             OBJECT      MESSAGE"),
}  # fmt: skip


def measure(
    run: Callable[[bytes], object], make: Callable[[int], bytes], *, begin: int = _BEGIN, end: int = _END
) -> tuple[int, float, float]:
    """Return the bytes at n, and the processor's seconds at n and at 2n."""
    size = begin
    while True:
        data = make(size)
        took = _time(run, data)
        if took >= _LONG_ENOUGH or size * 2 > end:
            break
        size *= 2
    double = make(2 * size)
    once, twice = [took], [_time(run, double)]
    for _ in range(2 if took < 5 else 1):
        once.append(_time(run, data))
        twice.append(_time(run, double))
    return len(data), min(once), min(twice)


def _time(run: Callable[[bytes], object], data: bytes) -> float:
    began = time.process_time()
    run(data)
    return time.process_time() - began


def run_intake(data: bytes) -> None:
    """Read a text as the command does, archives opened."""
    from collectors.archives import Limits, Opened, expand
    from collectors.ingest import Input, read_inputs
    from tests.fuzzing.targets import NOW, knowledge

    texts = (Input(name, stream) for name, stream in expand("a", io.BytesIO(data), Opened(), Limits()))
    read_inputs(texts, knowledge().scanner, knowledge().registry, now=NOW)


def run_triage(data: bytes) -> None:
    """Diagnose a text."""
    from collectors.archives import Limits, Opened, expand
    from collectors.ingest import Input
    from diagnosis.engine import triage
    from tests.fuzzing.targets import NOW, knowledge

    texts = (Input(name, stream) for name, stream in expand("a", io.BytesIO(data), Opened(), Limits()))
    triage(texts, knowledge(), now=NOW)


def parser_families(seeds: Sequence[bytes], most: int = 6) -> Iterator[tuple[str, Callable[[int], bytes]]]:
    """Yield texts made of the samples of one parser."""
    by_size = sorted(seeds, key=lambda one: (len(one), one))
    chosen = by_size[:: max(1, len(by_size) // most)][:most]
    for number, seed in enumerate(chosen):
        head = seed.split(b"\n")[0]
        rows = seed.split(b"\n")[1:] or [b""]
        yield f"{number} repeated", _fill(seed + b"\n")
        yield f"{number} head repeated", _fill(head + b"\n")
        yield f"{number} head in one line", _fill(head + b" ")
        yield f"{number} rows without end", _headed(head, b"\n".join(rows))
        if len(rows) > 1:
            yield f"{number} one row without end", _headed(head + b"\n" + rows[0], max(rows, key=len))


def _headed(head: bytes, row: bytes) -> Callable[[int], bytes]:
    fill = _fill(row + b"\n")
    return lambda size: head + b"\n" + fill(size)


def main() -> None:
    """Run the command."""
    from tests.fuzzing.targets import knowledge, targets

    parser = argparse.ArgumentParser(description="Measure how time grows on texts made to be slow.")
    parser.add_argument("names", nargs="*", help="families, or parsers with --parsers")
    parser.add_argument("--parsers", action="store_true")
    options = parser.parse_args()
    knowledge()
    worst, bad = 0.0, 0
    plans: list[tuple[str, Callable[[bytes], object], Callable[[int], bytes], int, int]] = []
    if options.parsers:
        for name, target in targets().items():
            if (not options.names or name in options.names) and name not in ("triage", "intake", "archives", "prefix"):
                for form, make in parser_families(target.seeds):
                    plans.append((f"{name} {form}", target.run, make, 1 << 14, 1 << 20))
    else:
        for name in options.names or FAMILIES:
            plans += [
                (f"{name} intake", run_intake, FAMILIES[name], _BEGIN, _END),
                (f"{name} triage", run_triage, FAMILIES[name], _BEGIN, _END),
            ]
    for label, run, make, begin, end in plans:
        size, once, twice = measure(run, make, begin=begin, end=end)
        ratio = twice / max(once, 1e-9)
        slow = ratio > MOST and twice > 0.05
        if slow:  # once more: another process may have been in the way
            size, once, twice = measure(run, make, begin=begin, end=end)
            ratio = twice / max(once, 1e-9)
            slow = ratio > MOST
        bad += slow
        worst = max(worst, ratio if twice > 0.05 else 0.0)
        if slow or not options.parsers:
            speed = size / max(once, 1e-9) / 1e6
            print(
                f"{label:48} {size / 1e6:7.2f} MB {once:7.2f} s {twice:7.2f} s  x{ratio:4.2f}  {speed:8.2f} MB/s{'  TOO SLOW' if slow else ''}",
                flush=True,
            )
    print(f"{len(plans)} measured, {bad} grow faster than allowed ({MOST}); the worst factor is {worst:.2f}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
