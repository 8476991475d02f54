"""Incidents of training jobs on many ranks, with a known culprit: the same seed gives the same bytes.

A job of 8 to 2,048 ranks runs until one of twelve faults strikes; what its hosts then leave behind is written in the real
formats: NCCL's log (2.20 to 2.27), PyTorch's watchdog (2.2 to 2.9), flight recorder dumps (pickle or JSON), torchrun's verdict,
kernel logs and port counters. Clocks of hosts differ by up to a minute and a half, the inputs come in random order, some
hosts' logs and some ranks' dumps are missing (now and then one of the culprit's host), and healthy hosts have their own
noise and old stories.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

TIMEOUT = 600
SIZES = (8, 16, 16, 32, 32, 64, 64, 128, 256)
LARGE = (512, 1024, 2048)
BUSES = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")
NICS = ("18", "40", "4f", "5e", "9a", "c0", "ce", "dc")
START = 1_764_115_200.0  # 2025-11-26 00:00 UTC


@dataclass(slots=True)
class Incident:
    """What is handed over, and what the answer is. `ranks` are those that may be named: all of a host that went as a whole."""

    seed: int
    fault: str
    size: int
    node: str
    ranks: tuple[int, ...]
    causes: tuple[str, ...]
    inputs: list[tuple[str, bytes]] = field(default_factory=list)


@dataclass(slots=True)
class _Style:
    """Which versions wrote the logs."""

    torch: str
    nccl: str
    dumps: str
    names: str


class _Job:
    """One job on its way to a fault."""

    def __init__(self, seed: int, size: int, fault: str, channels: int) -> None:
        self.rng = Random(f"{seed} {size} {fault}")
        rng = self.rng
        self.seed, self.size, self.fault, self.channels = seed, size, fault, channels
        prefix = rng.choice(("gpu-node-", "worker-", "dgx-", "n"))
        first = rng.randrange(1, 400)
        self.per_node = 8
        self.nodes = [f"{prefix}{first + number:03d}" for number in range(size // self.per_node)]
        self.skew = {node: rng.uniform(-90, 90) for node in self.nodes}
        self.culprit = rng.randrange(size)
        self.node = self.node_of(self.culprit)
        self.at = START + rng.uniform(7200, 70000)
        self.step = rng.randrange(400, 90_000)
        self.stuck = self.step * 2 + rng.randrange(40)
        self.split = size > self.per_node and rng.random() < 0.4  # the stuck operation is one of a smaller group
        self.style = _Style(rng.choice(("2.2", "2.5", "2.7", "2.7")), rng.choice(("2.20.5", "2.21.5", "2.26.2", "2.27.3")),
                            rng.choice(("pickle", "json")), rng.choice(("nccl_trace_rank_{}", "dumps/rank_{}.pkl", "fr-{}")))  # fmt: skip
        self.decoys = rng.choice((0, 1, 2))
        self.merged = rng.random() < 0.3  # one log of the whole job, as a launcher collects it
        self.pids = {rank: rng.randrange(2000, 90_000) for rank in range(size)}
        self.kernel: dict[str, list[tuple[float, str]]] = {node: [] for node in self.nodes}
        self.nccl: dict[str, list[tuple[float, str]]] = {node: [] for node in self.nodes}
        self.training: dict[str, list[tuple[float, str]]] = {node: [] for node in self.nodes}
        self.extra: list[tuple[str, str]] = []
        self.silent: set[int] = set()  # ranks that end before the watchdog speaks
        self.outside: set[int] = set()  # ranks that did not come to the operation in which the others wait
        self.odd_entry: dict[int, tuple[str, list[list[int]], str]] = {}  # what a rank issues in place of the usual

    def node_of(self, rank: int) -> str:
        return self.nodes[rank // self.per_node]

    def local(self, rank: int) -> int:
        return rank % self.per_node

    def ranks_of(self, node: str) -> range:
        number = self.nodes.index(node)
        return range(number * self.per_node, (number + 1) * self.per_node)

    def address(self, node: str) -> str:
        number = self.nodes.index(node)
        return f"10.{20 + number // 250}.{1 + self.nodes.index(node) // 250}.{number % 250 + 2}"

    # --- lines

    def say_kernel(self, node: str, at: float, text: str) -> None:
        stamp = datetime.fromtimestamp(at + self.skew[node], UTC)
        self.kernel[node].append((at, f"{stamp:%Y-%m-%dT%H:%M:%S.%f}+00:00 {node} kernel: {text}"))

    def say_nccl(self, rank: int, at: float, level: str, text: str, place: str = "") -> None:
        node = self.node_of(rank)
        head = f"{node}:{self.pids[rank]}:{self.pids[rank] + 311} [{self.local(rank)}] {place}{' ' if place else ''}NCCL {level} {text}"
        if level == "WARN" and self.style.nccl >= "2.26":
            head = f"[{datetime.fromtimestamp(at + self.skew[node], UTC):%Y-%m-%d %H:%M:%S}] {head}"
        self.nccl[node].append((at, head))

    def say_torch(self, rank: int, at: float, text: str, line: int = 632, level: str = "E") -> None:
        node = self.node_of(rank)
        if self.style.torch == "2.2":
            self.training[node].append((at, f"[{level} ProcessGroupNCCL.cpp:{line}] {text}"))
            return
        stamp = datetime.fromtimestamp(at + self.skew[node], UTC)
        clock = f"{stamp.month}{stamp:%d %H:%M:%S.%f}{self.rng.randrange(1000):03d}"
        self.training[node].append((at, f"[rank{rank}]:[{level}{clock} ProcessGroupNCCL.cpp:{line}] {text}"))

    def say_rank(self, rank: int, at: float, *lines: str) -> None:
        for number, text in enumerate(lines):
            self.training[self.node_of(rank)].append((at + number / 1e5, f"[rank{rank}]: {text}"))

    # --- what every job leaves behind

    def start(self) -> None:
        for node in self.nodes:
            boot = START - self.rng.uniform(50_000, 900_000)
            self.say_kernel(
                node,
                boot,
                "Linux version 6.8.0-60-generic (buildd@lcy02) (x86_64-linux-gnu-gcc-13) #63-Ubuntu SMP PREEMPT_DYNAMIC",
            )
            self.say_kernel(
                node,
                boot + 9,
                "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.133.20  Sun Mar 23 09:35:52 UTC 2025",
            )
            for local, bus in enumerate(NICS):
                self.say_kernel(node, boot + 20 + local, f"mlx5_core 0000:{bus}:00.0 mlx5_{local}: Port: 1 Link ACTIVE")
            if self.rng.random() < 0.3:
                self.say_kernel(
                    node,
                    self.at - self.rng.uniform(20_000, 60_000),
                    "perf: interrupt took too long (2506 > 2500), lowering kernel.perf_event_max_sample_rate to 79750",
                )
            if self.rng.random() < 0.15:
                self.say_kernel(
                    node,
                    self.at - self.rng.uniform(3000, 6000),
                    "mlx5_core 0000:18:00.0: mlx5_cmd_out_err:838:(pid 2211): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2), syndrome (0x305684), err(-22)",
                )
            self._start_nccl(node)
            if node != self.node and self.decoys > 0 and self.rng.random() < 0.5:
                self.decoys -= 1
                self._mislead(node)
            for number in range(4):
                self._say_step(node, self.at - 3 * (4 - number), self.step - 4 + number)

    def _mislead(self, node: str) -> None:
        """Give a healthy host an old story of its own, some hours before the fault."""
        rng = self.rng
        at = self.at - rng.uniform(3700, 7000)
        bus, local = BUSES[rng.randrange(8)], rng.randrange(8)
        kind = rng.randrange(5)
        if kind == 0:
            self.say_kernel(
                node,
                at,
                f"NVRM: Xid (PCI:0000:{bus}:00): 13, pid=4242, name=python3, Graphics SM Warp Exception on (GPC 3, TPC 1, SM 0): Out Of Range Address",
            )
            self.say_kernel(node, at + 0.2, f"NVRM: Xid (PCI:0000:{bus}:00): 43, pid=4242, name=python3, Ch 00000008")
        elif kind == 1:
            self.say_kernel(node, at, f"mlx5_core 0000:{NICS[local]}:00.0 mlx5_{local}: Port: 1 Link DOWN")
            self.say_kernel(node, at + 4, f"mlx5_core 0000:{NICS[local]}:00.0 mlx5_{local}: Port: 1 Link ACTIVE")
        elif kind == 2:
            self.say_kernel(
                node,
                at,
                "Memory cgroup out of memory: Killed process 77123 (jupyter-lab) total-vm:18345678kB, anon-rss:16345678kB, file-rss:70000kB, shmem-rss:128kB, UID:1000 pgtables:90000kB oom_score_adj:936",
            )
        elif kind == 3:
            self.say_kernel(
                node, at, f"pcieport 0000:{bus}:01.0: AER: Correctable error message received from 0000:{bus}:00.0"
            )
        else:
            stamp = datetime.fromtimestamp(self.at, UTC)
            self.extra.append(
                (
                    f"{node}-counters.txt",
                    f"root@{node}:~# cat counters.txt\n# {stamp:%Y-%m-%dT%H:%M:%SZ} mlx5_{local} port 1\nlink_downed 3\nlink_error_recovery 1\nport_rcv_errors 214\nport_xmit_wait 2310447906\nsymbol_error 8812\n",
                )
            )

    def _say_step(self, node: str, at: float, step: int) -> None:
        if node == self.nodes[0]:
            stamp = datetime.fromtimestamp(at + self.skew[node], UTC)
            self.training[node].append(
                (
                    at,
                    f"[{stamp:%Y-%m-%d %H:%M:%S}] step {step}/100000 loss {self.rng.uniform(2, 3):.4f} lr 2.71e-04 grad_norm 0.412 3.02 s/step",
                )
            )

    def _start_nccl(self, node: str) -> None:
        at, rng = START + 30, self.rng
        devices = " ".join(f"[{number}]mlx5_{number}:1/IB" for number in range(8))
        for rank in self.ranks_of(node):
            local = self.local(rank)
            self.say_nccl(rank, at, "INFO", f"Bootstrap : Using eth0:{self.address(node)}<0>")
            self.say_nccl(rank, at + 1, "INFO", f"NET/IB : Using {devices} [RO]; OOB eth0:{self.address(node)}<0>")
            self.say_nccl(rank, at + 1.1, "INFO", "Using network IB")
            comm = f"ncclCommInitRankConfig comm 0x{rng.getrandbits(32):x} rank {rank} nranks {self.size} cudaDev {local} nvmlDev {local} busId {BUSES[local]}000 commId 0x9c41f7d2b86e03a5"
            self.say_nccl(rank, at + 2, "INFO", f"{comm} - Init START")
            for channel in range(self.channels):
                peer = (rank + self.per_node) % self.size
                self.say_nccl(
                    rank,
                    at + 3,
                    "INFO",
                    f"Channel {channel:02d}/0 : {rank}[{local}] -> {peer}[{local}] [send] via NET/IB/{local}/GDRDMA",
                )
            self.say_nccl(rank, at + 4, "INFO", f"{comm} - Init COMPLETE")

    def time_out(self) -> None:
        """Let the watchdog of every rank that still runs end it, one timeout after the fault."""
        rng, group = self.rng, self.small_group()
        for rank in range(self.size):
            if rank in self.silent:
                continue
            at = self.at + TIMEOUT + rng.uniform(0.05, 4)
            if rank in self.outside:
                self._say_signal(rank, at + 5)
                continue
            small = rank in group
            number = self.stuck if small or not self.split else self.stuck - 7
            self._say_timeout(rank, at, number, small and self.split)
            if rng.random() < 0.5:
                self._say_exit(rank, at + 3, -6)

    def _pg(self, rank: int, small: bool) -> str:
        place = (rank // self.per_node) if small else rank
        ident, name = (2, "dp_group") if small else (0, "default_pg")
        if self.style.torch == "2.2":
            return f"[PG {ident} Rank {place}]"
        guid = f"{1000 + self.local(rank)}({name})" if small else "0(default_pg)"
        return f"[PG ID {ident} PG GUID {guid} Rank {place}]"

    def _say_timeout(self, rank: int, at: float, number: int, small: bool) -> None:
        place = (rank // self.per_node) if small else rank
        ran = TIMEOUT * 1000 + self.rng.randrange(5, 90)
        operation, size = self.usual()
        name, elements = operation.upper().replace("_", ""), size[0][0]
        work = f"WorkNCCL(SeqNum={number}, OpType={name}, NumelIn={elements}, NumelOut={elements}, Timeout(ms)={TIMEOUT * 1000})"
        self.say_torch(
            rank,
            at,
            f"[Rank {place}] Watchdog caught collective operation timeout: {work} ran for {ran} milliseconds before timing out.",
        )
        ahead = self.rng.randrange(1, 6)
        if self.style.torch == "2.2":
            self.say_torch(
                rank,
                at + 0.001,
                f"{self._pg(rank, small)} Timeout at NCCL work: {number}, last enqueued NCCL work: {number + ahead}, last completed NCCL work: {number - 1}.",
                1182,
            )
        elif self.style.torch == "2.5":
            self.say_torch(
                rank,
                at + 0.001,
                f"{self._pg(rank, small)} Exception (either an error or timeout) detected by watchdog at work: {number}, last enqueued NCCL work: {number + ahead}, last completed NCCL work: {number - 1}.",
                1785,
            )
        else:
            self.say_torch(
                rank,
                at + 0.001,
                f"{self._pg(rank, small)}  failure detected by watchdog at work sequence id: {number} PG status: last enqueued work: {number + ahead}, last completed work: {number - 1}",
                2271,
            )
        self.say_torch(
            rank, at + 0.9, f"[Rank {place}] To avoid data inconsistency, we are taking the entire process down.", 698
        )

    def _say_signal(self, rank: int, at: float) -> None:
        if self.style.torch in ("2.5", "2.7"):
            number = (self.stuck - 7 if self.split else self.stuck) - 1
            self.say_torch(
                rank,
                at,
                f"{self._pg(rank, False)} Received a dump signal due to a collective timeout from  rank {(rank + 1) % self.size} and we will try our best to dump the debug info. Last enqueued NCCL work: {number}, last completed NCCL work: {number}.This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the order of collectives is not same for all ranks or the scheduled collective, for some reason, didn't run.",
                1743,
            )

    def _say_exit(self, rank: int, at: float, code: int) -> None:
        node = self.node_of(rank)
        stamp = datetime.fromtimestamp(at + self.skew[node], UTC)
        self.training[node].append(
            (
                at,
                f"E{stamp:%m%d %H:%M:%S}.{stamp.microsecond // 1000:03d}000 2521679 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: {code}) local_rank: {self.local(rank)} (pid: {self.pids[rank]}) of binary: /usr/bin/python3",
            )
        )

    def end(self, rank: int, at: float, code: int) -> None:
        """Let a rank's process end with this code."""
        self.silent.add(rank)
        self.outside.add(rank)
        self._say_exit(rank, at, code)

    def lose_peer(self, ranks: Sequence[int], at: float) -> None:
        """Let neighbours say that the connection to these ranks is gone."""
        others = [rank for rank in range(self.size) if rank not in self.silent and self.node_of(rank) != self.node]
        for rank in self.rng.sample(others, min(3, len(others))):
            peer = f"{self.address(self.node)}<{self.rng.randrange(30000, 60000)}>"
            text = (
                f"socketProgress: Connection closed by remote peer {peer}"
                if self.style.nccl >= "2.26"
                else f"Net : Connection closed by remote peer {self.node}<{self.rng.randrange(30000, 60000)}>"
            )
            self.say_nccl(rank, at + self.rng.uniform(0.1, 2), "WARN", text, "misc/socket.cc:50")

    def complete_in_error(self, nic: int, at: float) -> None:
        """Let peers of the culprit's host report work requests that nobody answered."""
        others = [rank for rank in range(self.size) if self.local(rank) == nic and self.node_of(rank) != self.node]
        for rank in self.rng.sample(others, min(2, len(others))):
            peer = f"{self.address(self.node)}<{self.rng.randrange(30000, 60000)}>"
            if self.style.nccl >= "2.26":
                text = f"NET/IB: Got completion from peer {peer} with status=12 opcode=0 len=0 vendor err 129 (Send) hca mlx5_{nic}"
            else:
                text = f"NET/IB : Got completion from peer {peer} with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid fe80::e42:a103:0:b03 remoteGidsfe80::e42:a103:0:c03"
            self.say_nccl(rank, at, "WARN", text, "transport/net_ib.cc:2358")

    # --- flight recorder

    def small_group(self) -> list[int]:
        return (
            [rank for rank in range(self.size) if self.local(rank) == self.local(self.culprit)]
            if self.split
            else list(range(self.size))
        )

    def usual(self) -> tuple[str, list[list[int]]]:
        return ("reduce_scatter", [[6_553_600]]) if self.seed % 3 == 0 else ("allreduce", [[2_097_152]])

    def dump_of(self, rank: int) -> bytes:
        entries: list[dict[str, Any]] = []
        local, small_name = self.local(rank), str(1000 + self.local(rank))
        own = [one for one in range(self.size) if self.local(one) == local]
        config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(self.size)))}}
        if self.size > self.per_node:
            config[small_name] = {"name": small_name, "desc": "dp_group", "ranks": str(own)}
        operation = {"allreduce": "all_reduce", "reduce_scatter": "_reduce_scatter_base"}[self.usual()[0]]
        size = self.usual()[1]
        state = self.rng.choice(("scheduled", "scheduled", "started"))
        stuck_small = self.split and rank in self.small_group()
        whole = self.stuck - 7 if self.split else self.stuck
        clock = self.skew[self.node_of(rank)]

        def add(
            group: tuple[str, str],
            number: int,
            state: str,
            at: float,
            kind: str = operation,
            sizes: Any = size,
            dtype: str = "BFloat16",
        ) -> None:
            entries.append({
                "frames": [{"name": "forward", "filename": "/opt/train/model.py", "line": 211}, {"name": "all_reduce", "filename": "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py", "line": 2696}],
                "record_id": len(entries), "pg_id": 0 if group[0] == "0" else 2, "process_group": group, "collective_seq_id": number, "p2p_seq_id": 0,
                "op_id": number, "profiling_name": f"nccl:{kind}", "time_created_ns": int((at + clock) * 1e9), "input_sizes": sizes, "input_dtypes": [dtype],
                "output_sizes": sizes, "output_dtypes": [dtype], "state": state, "time_discovered_started_ns": None, "time_discovered_completed_ns": None,
                "retired": state == "completed", "timeout_ms": TIMEOUT * 1000, "is_p2p": False,
            })  # fmt: skip

        default, small = ("0", "default_pg"), (small_name, "dp_group")
        for back in range(6, 0, -1):
            if self.size > self.per_node:
                add(small, self.stuck - back, "completed", self.at - 3 * back)
            add(default, whole - back, "completed", self.at - 3 * back + 1)
        if rank not in self.outside:
            kind, sizes, dtype = self.odd_entry.get(rank, (operation, size, "BFloat16"))
            if stuck_small:
                add(small, self.stuck, state, self.at, kind, sizes, dtype)
            else:
                if self.split:
                    add(small, self.stuck, "completed", self.at)
                add(default, whole, state, self.at + 1, kind, sizes, dtype)
                add(default, whole + 1, "scheduled", self.at + 1.2)
        status: dict[str, Any] = {}
        for ident, name in (("0", "0"), ("2", small_name)):
            found = [one for one in entries if one["process_group"][0] == name]
            if found:
                done = [one["collective_seq_id"] for one in found if one["state"] == "completed"]
                status[ident] = {
                    "last_enqueued_collective": found[-1]["collective_seq_id"],
                    "last_started_collective": -1,
                    "last_completed_collective": max(done),
                }
        if self.style.dumps == "pickle":
            return pickle.dumps({"version": "2.9", "pg_config": config, "pg_status": status, "entries": entries}, 2)
        for one in entries:
            del one["frames"]
        texts = {ident: {name: str(value) for name, value in row.items()} for ident, row in status.items()}
        whole_dump = {
            "comm_lib_version": self.style.nccl,
            "entries": entries,
            "pg_config": config,
            "pg_status": texts,
            "version": "2.9",
        }
        return json.dumps(whole_dump, sort_keys=True, separators=(",", ":")).encode()

    # --- what is handed over

    def lost_log(self) -> str:
        """Draw which log of the culprit's host nobody kept, if any; what alone shows the fault is always there."""
        if self.rng.random() > 0.3:
            return ""
        alone = {"exception": "train", "gpu-out-of-memory": "train", "checkpoint-on-one-rank": "train"}.get(
            self.fault, ""
        )
        return self.rng.choice([kind for kind in ("kernel", "nccl", "train") if kind != alone])

    def hand_over(self) -> list[tuple[str, bytes]]:
        rng, inputs = self.rng, []
        if self.merged:
            lines = [(at + self.skew[node], text) for node in self.nodes for at, text in self.training[node]]
            inputs.append(("job.log", ("\n".join(text for _, text in sorted(lines)) + "\n").encode()))
            self.training = {node: [] for node in self.nodes}
        for node in self.nodes:
            keep = node == self.node or rng.random() > 0.1
            lost = self.lost_log() if node == self.node else ""
            for kind, lines in (
                ("kernel", self.kernel[node]),
                ("nccl", self.nccl[node]),
                ("train", self.training[node]),
            ):
                if lines and kind != lost and (keep or rng.random() > 0.5):
                    text = "\n".join(text for _, text in sorted(lines, key=lambda one: one[0])) + "\n"
                    inputs.append((f"{node}-{kind}.log", text.encode()))
        for name, text in self.extra:
            inputs.append((name, text.encode()))
        alone = self.fault in ("silent-rank", "mismatched-collective")  # then only the dumps tell
        if alone or rng.random() < 0.75:
            missing = set(rng.sample(range(self.size), self.size // 40)) - {self.culprit} if alone else set()
            kept = [rank for rank in range(self.size) if rank not in self.silent | missing]
            inputs.extend((self.style.names.format(rank), self.dump_of(rank)) for rank in kept)
        rng.shuffle(inputs)
        return inputs


Fault = Callable[[_Job], tuple[Sequence[int], Sequence[str]]]


def _cuda_error(job: _Job, text: str, at: float) -> None:
    job.say_rank(
        job.culprit, at, "Traceback (most recent call last):", '  File "/opt/train/run.py", line 310, in train_step', "    loss.backward()",
        f"{'torch.AcceleratorError' if job.style.torch == '2.7' else 'RuntimeError'}: CUDA error: {text}",
    )  # fmt: skip
    job.end(job.culprit, at + 2, 1)


def _fell_off_bus(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    bus = BUSES[job.local(job.culprit)]
    job.say_kernel(
        job.node,
        job.at,
        f"NVRM: Xid (PCI:0000:{bus}:00): 79, pid={job.pids[job.culprit]}, name=python3, GPU has fallen off the bus.",
    )
    job.say_kernel(job.node, job.at + 0.1, f"NVRM: GPU 0000:{bus}:00.0: GPU has fallen off the bus.")
    _cuda_error(job, "unspecified launch failure", job.at + 1)
    return (job.culprit,), ("gpu.fell-off-bus",)


def _uncorrectable(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    bus, pid = BUSES[job.local(job.culprit)], job.pids[job.culprit]
    job.say_kernel(
        job.node,
        job.at,
        f"NVRM: Xid (PCI:0000:{bus}:00): 95, pid={pid}, name=python3, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No",
    )
    job.say_kernel(job.node, job.at + 0.4, f"NVRM: Xid (PCI:0000:{bus}:00): 45, pid={pid}, name=python3, Ch 0000000c")
    _cuda_error(job, "uncorrectable ECC error encountered", job.at + 1)
    return (job.culprit,), ("gpu.ecc-uncorrectable", "gpu.ecc-contained")


def _nvlink(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    bus = BUSES[job.local(job.culprit)]
    job.say_kernel(
        job.node,
        job.at,
        f"NVRM: Xid (PCI:0000:{bus}:00): 74, pid={job.pids[job.culprit]}, name=python3, NVLink: fatal error detected on link 7(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)",
    )
    _cuda_error(job, "uncorrectable NVLink error detected during the execution", job.at + 1)
    return (job.culprit,), ("nvlink.link-error", "nvlink.link-down", "nvswitch.fatal")


def _link_down(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    nic = job.local(job.culprit)
    job.say_kernel(job.node, job.at, f"mlx5_core 0000:{NICS[nic]}:00.0: Port module event: module 0, Cable unplugged")
    job.say_kernel(job.node, job.at + 0.2, f"mlx5_core 0000:{NICS[nic]}:00.0 mlx5_{nic}: Port: 1 Link DOWN")
    event = "Got async error event: port error" if job.style.nccl >= "2.26" else "Got async event : port error"
    job.say_nccl(job.culprit, job.at + 0.4, "WARN", f"NET/IB : mlx5_{nic}:1 {event}", "transport/net_ib.cc:131")
    job.complete_in_error(nic, job.at + 80)
    return (job.culprit,), ("fabric.link-down", "fabric.link-flapping")


def _link_flaps(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    nic, rng = job.local(job.culprit), job.rng
    for back in (5400, 3100, 1500, 0):
        at = job.at - back
        job.say_kernel(job.node, at, f"mlx5_core 0000:{NICS[nic]}:00.0 mlx5_{nic}: Port: 1 Link DOWN")
        job.say_kernel(job.node, at + 5, f"mlx5_core 0000:{NICS[nic]}:00.0 mlx5_{nic}: Port: 1 Link INIT")
        job.say_kernel(job.node, at + 6, f"mlx5_core 0000:{NICS[nic]}:00.0 mlx5_{nic}: Port: 1 Link ACTIVE")
    event = "Got async error event: port error" if job.style.nccl >= "2.26" else "Got async event : port error"
    job.say_nccl(job.culprit, job.at + 0.4, "WARN", f"NET/IB : mlx5_{nic}:1 {event}", "transport/net_ib.cc:131")
    job.complete_in_error(nic, job.at + 80)
    readings = []
    for at, downed, symbols in ((job.at - 9000, 2, 14), (job.at + 900, 6, rng.randrange(900, 4000))):
        stamp = datetime.fromtimestamp(at + job.skew[job.node], UTC)
        readings.append(
            f"# {stamp:%Y-%m-%dT%H:%M:%SZ} mlx5_{nic} port 1\nexcessive_buffer_overrun_errors 0\nlink_downed {downed}\nlink_error_recovery {downed // 2}\nport_rcv_errors 9\nport_xmit_discards 0\nport_xmit_wait 2310447906\nsymbol_error {symbols}\n"
        )
    job.extra.append((f"{job.node}-counters.txt", f"root@{job.node}:~# cat counters.txt\n" + "".join(readings)))
    return (job.culprit,), ("fabric.link-flapping", "fabric.link-down")


def _host_oom(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    pid = job.pids[job.culprit]
    job.say_kernel(
        job.node,
        job.at,
        "python3 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0",
    )
    job.say_kernel(
        job.node,
        job.at + 0.1,
        f"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/system.slice/train.service,task=python3,pid={pid},uid=0",
    )
    job.say_kernel(
        job.node,
        job.at + 0.2,
        f"Out of memory: Killed process {pid} (python3) total-vm:812345678kB, anon-rss:412345678kB, file-rss:70000kB, shmem-rss:128kB, UID:0 pgtables:9000000kB oom_score_adj:0",
    )
    job.end(job.culprit, job.at + 2, -9)
    job.lose_peer([job.culprit], job.at + 1)
    return (job.culprit,), ("node.host-oom", "app.memory-leak", "app.dataloader-bottleneck")


def _cuda_oom(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    job.say_rank(
        job.culprit, job.at, "Traceback (most recent call last):", '  File "/opt/train/model.py", line 88, in forward', "    return self.up(x)",
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.35 GiB. GPU {job.local(job.culprit)} has a total capacity of 79.11 GiB of which 2.04 GiB is free. Process 1 has 77.06 GiB memory in use. Of the allocated memory 71.22 GiB is allocated by PyTorch, and 4.27 GiB is reserved by PyTorch but unallocated.",
    )  # fmt: skip
    job.end(job.culprit, job.at + 3, 1)
    return (job.culprit,), ("app.cuda-oom",)


def _exception(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    job.say_rank(
        job.culprit, job.at, "Traceback (most recent call last):", '  File "/opt/train/data.py", line 88, in __getitem__', "    return self.index[key]",
        "KeyError: 'input_ids'",
    )  # fmt: skip
    job.end(job.culprit, job.at + 3, 1)
    return (job.culprit,), ("app.python-exception",)


def _mismatch(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    operation, size = job.usual()
    name = {"allreduce": "all_reduce", "reduce_scatter": "_reduce_scatter_base"}[operation]
    job.odd_entry[job.culprit] = job.rng.choice((
        ("broadcast", [[1]], "Long"), (name, [[size[0][0] // 2]], "BFloat16"), (name, size, "Float"), ("_allgather_base", [[4096]], "BFloat16"),
    ))  # fmt: skip
    return (job.culprit,), ("nccl.collective-mismatch",)


def _checkpoint(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    node = job.node
    stamp = datetime.fromtimestamp(job.at + 1 + job.skew[node], UTC)
    job.training[node].append(
        (
            job.at + 1,
            f"[rank{job.culprit}]: {stamp:%Y-%m-%d %H:%M:%S},{stamp.microsecond // 1000:03d} INFO saving checkpoint to /mnt/ckpt/step_{job.step}",
        )
    )
    job.outside.add(job.culprit)
    return (job.culprit,), ("app.checkpoint-blocking", "app.rank-imbalance")


def _silent(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    job.outside.add(job.culprit)
    return (job.culprit,), ("app.rank-imbalance", "nccl.timeout-unexplained", "app.dataloader-bottleneck")


def _power_loss(job: _Job) -> tuple[Sequence[int], Sequence[str]]:
    ranks = job.ranks_of(job.node)
    job.silent.update(ranks)
    job.outside.update(ranks)
    job.training[job.node] = [one for one in job.training[job.node] if one[0] < job.at]
    again = job.at + job.rng.uniform(200, 320)
    job.say_kernel(
        job.node,
        again,
        "Linux version 6.8.0-60-generic (buildd@lcy02) (x86_64-linux-gnu-gcc-13) #63-Ubuntu SMP PREEMPT_DYNAMIC",
    )
    job.say_kernel(
        job.node, again + 0.1, "Command line: BOOT_IMAGE=/boot/vmlinuz-6.8.0-60-generic root=/dev/mapper/vg-root ro"
    )
    job.say_kernel(
        job.node, again + 9, "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.133.20  Sun Mar 23 09:35:52 UTC 2025"
    )
    stamps = [datetime.fromtimestamp(at, UTC) for at in (again, job.at, job.at + 1)]
    prompt = f"root@{job.node}:~# "
    lines = [
        f"{prompt}last -x reboot shutdown | head -3",
        f"reboot   system boot  6.8.0-60-generic {stamps[0]:%a %b %d %H:%M}   still running",
        f"{prompt}ipmitool sel list | tail -2",
        f" 1a2 | {stamps[1]:%m/%d/%Y | %H:%M:%S} | Power Supply #0x51 | Power Supply AC lost | Asserted",
        f" 1a3 | {stamps[2]:%m/%d/%Y | %H:%M:%S} | Power Unit #0x01 | Power off/down | Asserted",
    ]
    job.extra.append((f"{job.node}-sel.txt", "\n".join(lines) + "\n"))
    others = [rank for rank in range(job.size) if rank not in job.silent]
    for rank in job.rng.sample(others, min(3, len(others))):
        job.say_nccl(
            rank,
            job.at + 130,
            "WARN",
            f"socketPollConnect: Connect to {job.address(job.node)}<41822> returned 110(Connection timed out) errno 115(Operation now in progress)",
            "misc/socket.cc:540",
        )
    return tuple(ranks), ("host.power-loss", "node.unexpected-reboot")


FAULTS: dict[str, Fault] = {
    "gpu-off-bus": _fell_off_bus, "gpu-memory": _uncorrectable, "nvlink": _nvlink, "link-down": _link_down, "link-flaps": _link_flaps,
    "host-out-of-memory": _host_oom, "gpu-out-of-memory": _cuda_oom, "exception": _exception, "mismatched-collective": _mismatch,
    "checkpoint-on-one-rank": _checkpoint, "silent-rank": _silent, "power-loss": _power_loss,
}  # fmt: skip


def make_incident(seed: int, *, sizes: Sequence[int] = SIZES, channels: int = 2) -> Incident:
    """Make the incident of a seed: its fault goes round, its size is drawn from `sizes`."""
    names = list(FAULTS)
    fault = names[seed % len(names)]
    size = Random(f"size {seed}").choice([one for one in sizes if one > 8 or fault != "power-loss"])
    job = _Job(seed, size, fault, channels)
    job.start()
    ranks, causes = FAULTS[fault](job)
    job.time_out()
    return Incident(seed, fault, size, job.node, tuple(ranks), tuple(causes), job.hand_over())
