"""Ordinary logs of a GPU cluster, mixed as an archive holds them: the same arguments give the same bytes.

Blocks of dmesg, journal, NCCL INFO of many ranks, kubelet, training log and `kubectl get events`, about 130 bytes a line;
a chosen share of the lines is taken from the rules' own positive examples. Ordinary lines share words with the patterns
(`NVRM:`, `mlx5_core`, `NCCL INFO`, `timeout`), and three in a thousand look like errors that no rule knows.

    python tests/benchmarks/generate.py --megabytes 100 --share 0.01 OUT
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import BinaryIO

_MODULES = ("mlx5_core", "nvme", "pcieport", "ixgbe", "megaraid_sas", "nvidia")
_UNITS = ("systemd", "containerd", "kubelet", "sshd", "CRON", "nvidia-persistenced", "chronyd", "dockerd")
_STEPS = ("forward-compute", "backward-compute", "optimizer", "batch-generator", "all-grads-sync")
_PODS = ("llama-worker", "vllm-decode", "dcgm-exporter", "coredns", "calico-node", "trainer-launcher", "kube-proxy")


def _clock(rng: Random) -> str:
    return f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"


def _pci(rng: Random) -> str:
    return f"0000:{rng.randrange(256):02x}:{rng.randrange(32):02x}.{rng.randrange(8)}"


def _dmesg(rng: Random) -> Callable[[], str]:
    at = rng.randrange(10, 4_000_000)

    def line() -> str:
        nonlocal at
        at += rng.randrange(3)
        head = f"[{at:>7d}.{rng.randrange(10**6):06d}] "
        kind = rng.choice((1, 2, 3, 4, 5) * 10 + (0,))
        if kind == 0:
            return f"{head}mlx5_core {_pci(rng)}: firmware version: 28.{rng.randrange(40)}.{rng.randrange(9000)}, {rng.randrange(63, 253)}.{rng.randrange(1000):03d} Gb/s port, E-Switch: total vports {rng.randrange(2, 66)}, per vport: max uc(128) max mc(2048)"
        if kind == 1:
            return f"{head}pci {_pci(rng)}: BAR {rng.randrange(6)} [mem 0x{rng.getrandbits(44):012x}-0x{rng.getrandbits(44):012x} 64bit pref]: assigned to bridge window of bus {rng.randrange(256):02x}"
        if kind == 2:
            return f"{head}NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.{rng.randrange(200)}.{rng.randrange(20):02d}  release build of the data center branch, registered device {_pci(rng)} as minor {rng.randrange(8)}"
        if kind == 3:
            return f"{head}EXT4-fs (nvme{rng.randrange(8)}n1p{rng.randrange(1, 5)}): mounted filesystem {rng.getrandbits(32):08x}-{rng.getrandbits(16):04x} r/w with ordered data mode. Quota mode: none."
        if kind == 4:
            return f"{head}{rng.choice(_MODULES)} {_pci(rng)}: irq {rng.randrange(24, 900)} for MSI/MSI-X vector {rng.randrange(128)} bound to cpu {rng.randrange(192)}, node {rng.randrange(2)}, coalescing rx-usecs {rng.randrange(64)}"
        return f'{head}audit: type=1400 audit({rng.getrandbits(31)}.{rng.randrange(1000):03d}:{rng.randrange(99999)}): apparmor="STATUS" operation="profile_load" profile="unconfined" name="cri-containerd" pid={rng.randrange(99999)}'

    return line


def _journal(rng: Random) -> Callable[[], str]:
    day = f"{rng.choice(('Jan', 'Mar', 'Aug', 'Nov'))} {rng.randrange(1, 29):2d}"
    host = f"gpu-node-{rng.randrange(64)}"

    def line() -> str:
        unit = rng.choice(_UNITS)
        head = f"{day} {_clock(rng)} {host} {unit}[{rng.randrange(99999)}]: "
        kind = rng.randrange(5)
        if kind == 0:
            return f"{head}Started Session {rng.randrange(99999)} of User svc-train, slice user-{rng.randrange(1000, 9999)}.slice, scope session-{rng.randrange(99999)}.scope."
        if kind == 1:
            return f'{head}time="2026-01-{rng.randrange(1, 29):02d}T{_clock(rng)}Z" level=info msg="StartContainer for \\"{rng.getrandbits(64):016x}\\" returns successfully" runtime=io.containerd.runc.v2'
        if kind == 2:
            return f"{head}Selected source 10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)} (ntp-{rng.randrange(9)}.example.com), offset {rng.randrange(999)} us, stratum {rng.randrange(1, 5)}, delay 0.{rng.randrange(10**6):06d}"
        if kind == 3:
            return f"{head}device {_pci(rng)} - registered, persistence mode enabled, numa node {rng.randrange(2)}, memory onlined after {rng.randrange(900)} ms; listening on /run/socket-{rng.randrange(99)}"
        return f"{head}(root) CMD (/usr/lib/sysstat/sa1 {rng.randrange(1, 9)} {rng.randrange(1, 9)} -o /var/log/sysstat/sa{rng.randrange(31):02d} && nice -n {rng.randrange(19)} /usr/local/bin/node-probe --quiet)"

    return line


def _nccl(rng: Random) -> Callable[[], str]:
    first = 32 * rng.randrange(32)  # of the 32 ranks whose lines are mixed in this block

    def line() -> str:
        rank = first + rng.randrange(32)
        gpu, peer, other = rank % 8, (rank + 8) % 1024, (rank + 1) % 1024
        head = f"gpu-node-{rank // 8}:{9000 + rank}:{9100 + rank} [{gpu}] NCCL INFO "
        kind = rng.choice((0, 0, 0, 1, 1, 1, 1, 3, 3, 3) * 6 + (2, 4, 5))
        if kind == 0:
            return f"{head}Channel {rng.randrange(24):02d}/{rng.randrange(2)} : {rank}[{gpu}] -> {peer}[{gpu}] [send] via NET/IB/{rng.randrange(8)}/GDRDMA/Shared"
        if kind == 1:
            return f"{head}Channel {rng.randrange(24):02d}/0 : {rank}[{gpu}] -> {other}[{other % 8}] via P2P/CUMEM/read, {rng.randrange(2, 99)} steps, buffer 0x{rng.getrandbits(48):012x}"
        if kind == 2:
            return f"{head}NCCL_IB_TIMEOUT set by environment to 22; NCCL_IB_RETRY_CNT set by environment to 7; NCCL_SOCKET_IFNAME set by environment to bond0"
        if kind == 3:
            return f"{head}Trees [0] {rank}/{other}/-1->{peer}->{rng.randrange(1024)} [1] {rank}/-1/-1->{other}->{rng.randrange(1024)} [2] -1/-1/-1->{peer}->{rng.randrange(1024)}"
        if kind == 4:
            return f"{head}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; OOB bond0:10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}<0>"
        return f"{head}comm 0x{rng.getrandbits(48):012x} rank {rank} nranks 1024 cudaDev {gpu} nvmlDev {gpu} busId {16 + 16 * gpu:x}000 commId 0x{rng.getrandbits(63):016x} - Init COMPLETE"

    return line


def _kubelet(rng: Random) -> Callable[[], str]:
    month, day = rng.randrange(1, 13), rng.randrange(1, 29)

    def line() -> str:
        head = f"I{month:02d}{day:02d} {_clock(rng)}.{rng.randrange(10**6):06d} {rng.randrange(999, 9999):>7d} "
        pod = f"train/{rng.choice(_PODS)}-{rng.getrandbits(20):05x}"
        kind = rng.randrange(4)
        if kind == 0:
            return f'{head}kubelet.go:{rng.randrange(900, 2500)}] "SyncLoop (PLEG): event for pod" pod="{pod}" event={{"ID":"{rng.getrandbits(64):016x}","Type":"ContainerStarted","Data":"{rng.getrandbits(64):016x}"}}'
        if kind == 1:
            return f'{head}reconciler_common.go:{rng.randrange(100, 400)}] "operationExecutor.VerifyControllerAttachedVolume started for volume \\"kube-api-access-{rng.getrandbits(24):06x}\\"" pod="{pod}"'
        if kind == 2:
            return f'{head}scope.go:117] "RemoveContainer" containerID="{rng.getrandbits(64):016x}{rng.getrandbits(64):016x}" pod="{pod}" node="gpu-node-{rng.randrange(64)}"'
        return f'{head}prober.go:{rng.randrange(90, 140)}] "Probe succeeded" probeType="Readiness" pod="{pod}" containerName="worker" duration="{rng.randrange(900)}.{rng.randrange(1000):03d}ms"'

    return line


def _training(rng: Random) -> Callable[[], str]:
    step = rng.randrange(200_000)

    def line() -> str:
        nonlocal step
        step += 1
        head = f"2026-01-{rng.randrange(1, 29):02d} {_clock(rng)},{rng.randrange(1000):03d} "
        kind = rng.choice((0, 1, 2) * 10 + (3,))
        if kind == 0:
            return f" iteration {step:>8d}/  500000 | consumed samples: {step * 512:>12d} | elapsed time per iteration (ms): {rng.randrange(5000, 6000)}.{rng.randrange(10)} | learning rate: 2.{rng.randrange(10**6):06d}E-05 | lm loss: 1.{rng.randrange(10**6):06d}E+00 | grad norm: 0.{rng.randrange(1000):03d}"
        if kind == 1:
            return f"{head}- INFO - trainer.py:{rng.randrange(100, 900)} - step {step} {rng.choice(_STEPS)} {rng.randrange(9000)}.{rng.randrange(100):02d} ms, memory allocated {rng.randrange(20, 78)}.{rng.randrange(100):02d} GB of 79.15 GB"
        if kind == 2:
            return f"[rank{rng.randrange(1024)}]: {head}data shard {rng.randrange(4096)} of 4096 opened, {rng.randrange(99999)} samples, tokens/s/gpu {rng.randrange(2000, 9000)}, prefetch depth {rng.randrange(2, 64)}"
        return f"{head}- INFO - saved checkpoint iter_{step:07d} mp_rank_{rng.randrange(64):02d} to /mnt/ckpt/run-{rng.randrange(99)}/global_step{step}, {rng.randrange(9, 99)}.{rng.randrange(10)} s"

    return line


def _events(rng: Random) -> Callable[[], str]:
    def line() -> str:
        pod = f"{rng.choice(_PODS)}-{rng.getrandbits(20):05x}"
        age = f"{rng.randrange(1, 59)}m"
        kind = rng.randrange(3)
        if kind == 0:
            return f"train   {age:<10} Normal   Scheduled   pod/{pod:<28} default-scheduler   Successfully assigned train/{pod} to gpu-node-{rng.randrange(64)}"
        if kind == 1:
            return f'train   {age:<10} Normal   Pulled      pod/{pod:<28} kubelet   Container image "registry.example.com/train:{rng.randrange(900)}" already present on machine'
        return f"train   {age:<10} Normal   Created     pod/{pod:<28} kubelet   Created container: worker with {rng.randrange(1, 9)} devices of nvidia.com/gpu"

    return line


# How often each source's blocks come: a table of events is short, the logs of many ranks are long.
_SOURCES = (*(_dmesg, _journal, _nccl, _nccl, _kubelet, _training) * 8, _events)
_UNKNOWN = (
    "time=\"2026-01-09T{clock}Z\" level=error msg=\"agent: push of {n} series to gateway-{n} was refused, will try again\"",
    "W0109 {clock}.{n:06d}    4711 controller.go:{n}] lease renewal of zone-{n} took longer than usual: context canceled, error ignored",
    "gpu-node-{n} exporter[{n}]: cannot read sensor {n} of chassis: not found in table, skipped",
)  # fmt: skip


class Log:
    """A log of about `size` bytes, `share` of whose lines come from `examples`; read it in chunks of whole lines."""

    def __init__(self, size: int, share: float, examples: Sequence[str], *, seed: int = 1) -> None:
        self.size, self.share, self.seed = size, share if examples else 0.0, seed
        self.examples = [text.rstrip("\n").split("\n") for text in examples]
        self.lines = self.interesting = 0

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes; afterwards `lines` and `interesting` say how many lines there were."""
        rng = Random(self.seed)
        self.lines = self.interesting = written = 0
        while written < self.size:
            line = rng.choice(_SOURCES)(rng)
            block: list[str] = []
            for _ in range(rng.randrange(20, 200)):
                if self.interesting < self.share * (self.lines + len(block)):
                    example = self._place(rng.choice(self.examples), rng)
                    block.extend(example)
                    self.interesting += len(example)
                elif rng.random() < 0.003:
                    block.append(rng.choice(_UNKNOWN).format(clock=_clock(rng), n=rng.randrange(1000)))
                else:
                    block.append(line())
            self.lines += len(block)
            data = ("\n".join(block) + "\n").encode()
            written += len(data)
            yield data

    def write(self, stream: BinaryIO) -> None:
        """Write the log."""
        stream.writelines(self.chunks())

    @staticmethod
    def _place(example: list[str], rng: Random) -> list[str]:
        """Put every second single line behind the prefix of one of 64 hosts, as a collected log does."""
        if len(example) > 1 or rng.getrandbits(1):
            return example
        text = example[0]
        if text[:1].isdigit() or text[:1] in "[{<I" or ":" not in text[:40]:
            return example
        program = "kernel" if "NVRM" in text or "mlx5_core" in text else f"python3[{rng.randrange(9999)}]"
        return [f"Jan {rng.randrange(1, 29):2d} {_clock(rng)} gpu-node-{rng.randrange(64)} {program}: {text}"]


def collect_examples() -> list[str]:
    """Return the texts of every positive example of the shipped rules, in order, each once."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from diagnosis.rulebook import load_rulebook

    found: dict[str, None] = {}
    for rule in load_rulebook().rules():
        for part, number, _ in rule.conditions():
            examples = getattr(rule, part)[number].examples
            for example in examples.match if examples else ():
                if example.text is not None:
                    found.setdefault(example.text)
    return list(found)


def main() -> None:
    """Write a log to a file."""
    arguments = argparse.ArgumentParser(description="Write an ordinary mixed log.")
    arguments.add_argument("--megabytes", type=float, default=10.0)
    arguments.add_argument("--share", type=float, default=0.01, help="share of lines from the rules' examples")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("out", type=Path)
    chosen = arguments.parse_args()
    log = Log(int(chosen.megabytes * 1e6), chosen.share, collect_examples(), seed=chosen.seed)
    with chosen.out.open("wb") as stream:
        log.write(stream)
    print(f"{log.lines} lines, {log.interesting} from examples, {chosen.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
