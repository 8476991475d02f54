"""NCCL's lines of all versions are read; odd lines yield nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.jobs import nccl
from collectors.observation import Observation, Record, Relation
from collectors.prefix import peel


def read(raw: str) -> list[Record]:
    return list(nccl.parse_line(peel("x.log", 1, raw)))


def one(raw: str) -> Observation:
    return next(record for record in read(raw) if isinstance(record, Observation))


@pytest.mark.parametrize(
    ("raw", "kind", "code", "attributes"),
    [
        ("n:1:2 [4] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129",
         "completion", "12", {"vendor": "129"}),
        ("n:1:2 [4] x.cc:1 NCCL WARN NET/IB : Got completion from peer b<37948> with error 12, opcode 2, len 1, vendor err 129",
         "completion", "12", {"peer_host": "b", "vendor": "129"}),
        (("n:1:2 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.3<5> with status=12 opcode=0 len=0 vendor err 129 "
         "(Recv) localGid fd00::22 remoteGidsfd00::1f"), "completion", "12", {"local": "fd00::22", "remote": "fd00::1f"}),
        ("n:1:2 [3] x.cc:2 NCCL WARN NET/IB: Got completion from peer 10.0.0.12<4> with status=12 opcode=0 len=0 vendor err 129 (Send) hca mlx5_3",
         "completion", "12", {"nic": "mlx5_3", "way": "Send"}),
        (("n:1:2 [3] x.cc:2 NCCL WARN NET/IB: Got completion from peer 10.0.0.12<4> with status=IBV_WC_RETRY_EXC_ERR(12) "
         "opcode=IBV_WC_SEND(0) vendor_err=129   localGid ::ffff:10.0.3.11 remoteGids::ffff:10.0.3.12 hca mlx5_3"),
         "completion", "12", {"nic": "mlx5_3", "remote": "::ffff:10.0.3.12"}),
        ("n:1:2 [0] transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error", "async-event", "port error", {}),
        ("[2025-11-26 02:15:41] n:1:4 [0] x.cc:1 NCCL WARN NET/IB : mlx5_3:1 Got async error event: port error",
         "async-event", "port error", {"nic": "mlx5_3", "port": "1"}),
        ("1000: [2026-02-02 12:15:56] n:3:3 [0] x.cc:253 NCCL WARN NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)",
         "async-event", "port error", {"nic": "mlx5_3"}),
        ("n:1:2 [0] NCCL INFO Call to connect returned Connection timed out, retrying", "connect", "Connection timed out", {}),
        ("n:1:2 [0] include/socket.h:409 NCCL WARN Net : Connect to 192.0.2.9<54263> failed : No route to host",
         "connect", "No route to host", {"peer_host": "192.0.2.9"}),
        ("n:1:2 [0] x.cc:4 NCCL WARN socketPollConnect: Connect to 10.0.0.4<56849> returned 113(No route to host) errno 115(Operation now in progress)",
         "connect", "No route to host", {}),
        ("n:1:2 [0] NCCL INFO socketPollConnect: connect returned No route to host, retrying (26/34) after sleep for 2600 msec",
         "connect", "No route to host", {}),
        (("[0604/1024][2025-02-16 22:31:34,422] [misc/socket.cc:586] [node-a:pid=39] NCCL WARN socketProgress: Connection closed by remote peer "
         "node-b.example.com<40318>"), "closed-by-peer", "", {"peer_host": "node-b"}),
        ("[1,12]<stdout>:n:1:2 [0] NCCL INFO NCCL_IB_HCA set to mlx5_0,mlx5_1", "env", "NCCL_IB_HCA", {"value": "mlx5_0,mlx5_1"}),
        ("n:1:2 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 0.", "env", "NCCL_IB_DISABLE", {"value": "0"}),
        ("NCCL INFO Using network Socket", "network", "Socket", {}),
        ("n:1:2 [1] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
         "verbs-call", "ibv_reg_mr_iova2", {"error": "Cannot allocate memory"}),
        ("n:1:2 [0] x.cc:2 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT",
         "verbs-call", "ibv_modify_qp", {"error": "Connection timed out", "nic": "mlx5_0"}),
        ("node-b: ii  libnccl2        2.20.5-1+cuda12.4   amd64        NVIDIA NCCL", "nccl-version", "2.20.5", {"from": "package"}),
        ("NCCL version 2.21.5+cuda12.4", "nccl-version", "2.21.5", {}),
        ("n:1:2 [1] INFO NET/IB : No device found", "no-rdma-device", "No device found", {}),
        ("n:1:2 [1] include/socket.h:361 NCCL WARN Call to connect timeout : Connection refused", "connect", "Connection refused", {}),
        ("n:1:2 [1] include/socket.h:361 NCCL WARN Call to connect failed : No route to host", "connect", "No route to host", {}),
        ("n:1:2 [1] x.cc:2 NCCL WARN socketPollConnect: exceeded timeouts (3)", "connect", "exceeded timeouts", {}),
        ("n:1:2 [1] os/linux.cc:328 NCCL WARN ncclOsSocketPollConnect to 10.0.0.4<5> failed with error Connection refused",
         "connect", "Connection refused", {"peer_host": "10.0.0.4"}),
        ("n:1:2 [1] include/socket.h:400 NCCL WARN Net : Connection closed by remote peer", "closed-by-peer", "", {}),
        ("n:1:2 [1] misc/socket.cc:60 NCCL WARN socketProgressOpt: Call to recv from 10.0.0.1<1234> failed : Connection reset by peer",
         "closed-by-peer", "Connection reset by peer", {"peer_host": "10.0.0.1"}),
        ("n:1:2 [1] include/socket.h:9 NCCL WARN Net : Call to recv failed : Broken pipe", "closed-by-peer", "Broken pipe", {}),
        ("n:1:2 [1] NCCL INFO NET : Using interface lo:127.0.0.1<0>", "interfaces", "socket", {"interfaces": "lo"}),
        ("n:1:2 [1] x.cc:9 NCCL WARN NET/IB : mlx5_3:1 async fatal event: device fatal", "async-event", "device fatal", {"nic": "mlx5_3"}),
        (("n:1:2 [1] NCCL INFO NET/IB: [0] mlx5_0:uverbs0:1/RoCE provider=Mlx5 speed=100000 context=0x7fc37b2a20c0 "
         "pciPath=/sys/devices/pci0000:4a/0000:4b:00.0 ar=0"), "adapter", "RoCE", {"nic": "mlx5_0", "port": "1", "mbps": "100000"}),
        ("n:1:2 [0] NCCL INFO === System : maxBw 24.0 totalBw 370.8 ===", "topology", "", {"most": "24.0", "total": "370.8"}),
        ("n:1:2 [0] NCCL INFO === System : maxWidth 12.0 totalWidth 132.0 ===", "topology", "", {"total": "132.0"}),
        ("n:1:2 [0] NCCL INFO + PCI[12.0] - GPU/50000 (0)", "topology-flat", "GPU", {"gbytes": "12.0"}),
        ("n:1:2 [0] NCCL INFO + PCI[24.0] - NIC/0-4b000", "topology-flat", "NIC", {}),
        (("n:1:2 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 12, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1"),
         "graph", "4", {"channels": "12", "type_inter": "PIX"}),
        ("n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB/SHARP [RO]; OOB ib0:10.0.0.1<0>",
         "interfaces", "rdma", {"interfaces": "ib0"}),
        ("n:1:2 [6] NCCL INFO Ring 00 : 6[6] -> 10[2] via P2P/IPC", "channel", "P2P",
         {"left": "6", "right": "10", "right_device": "2", "how": "IPC"}),
        ("n:1:2 [6] NCCL INFO Channel 00 : 0[1b000] -> 1[43000] via P2P/direct pointer", "channel", "P2P", {"left": "0", "right": "1"}),
        ("n:1:2 [1] os/linux.cc:9 NCCL WARN no device found matching eth9, verify NCCL_OOB_NET_IFNAME", "no-interface", "no device found matching", {}),
    ],
)  # fmt: skip
def test_messages_of_all_versions(raw: str, kind: str, code: str, attributes: dict[str, str]) -> None:
    found = one(raw)
    assert (found.kind, found.code) == (kind, code)
    assert attributes.items() <= dict(found.attributes).items()


def test_init_ties_rank_to_gpu_and_host() -> None:
    records = read(
        "node-a:100:421 [3] NCCL INFO ncclCommInitRankConfig comm 0x16 rank 11 nranks 16 cudaDev 3 nvmlDev 3 busId 61000 commId 0x9 - Init START"
    )
    relations = {(record.upper, record.lower) for record in records if isinstance(record, Relation)}
    assert relations == {("rank:11", "node:node-a"), ("rank:11", "gpu:0000:61:00.0")}


def test_a_split_communicator_says_nothing_of_the_rank_in_the_job() -> None:
    records = read(
        "a:1:2 [0] NCCL INFO ncclCommSplit comm 0x1 rank 0 nranks 2 cudaDev 1 nvmlDev 1 busId 61000 commId 0x9 - Init START"
    )
    assert not any(isinstance(record, Relation) for record in records)


def test_an_address_names_the_host_and_a_local_one_does_not() -> None:
    assert Relation("node:10.0.0.11", "node:node-a", "same", "x.log", 1) in read(
        "node-a:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.11<0>"
    )
    assert not [
        one
        for one in read("node-a:1:1 [0] NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>")
        if isinstance(one, Relation)
    ]


def test_channels_lead_to_the_adapter_that_the_process_numbered() -> None:
    using = read("node-a:97:412 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.11<0>")
    assert Relation("nic:ib-97-1", "nic:mlx5_1", "same", "x.log", 1, "node-a") in using
    channel = read("node-a:97:621 [0] NCCL INFO Channel 03/0 : 4[4] -> 11[3] [receive] via NET/IB/1/GDRDMA")
    assert Relation("rank:11", "nic:ib-97-1", "on", "x.log", 1, "node-a") in channel
    proxied = read("node-a:97:621 [0] NCCL INFO Channel 03/0 : 12[4] -> 3[3] [send] via NET/IB/3(11)/GDRDMA")
    assert not [record for record in proxied if isinstance(record, Relation)]


@pytest.mark.parametrize(
    "raw", ["", "INFO something", "2024-01-01 INFO NCCL is fine", "a:b:c [x] NCCL WARN ", "ii  libnccl2"]
)
def test_odd_lines_yield_nothing(raw: str) -> None:
    assert read(raw) == []


@given(st.text(max_size=200))
def test_parser_is_total(raw: str) -> None:
    read(raw)
    read(f"a:1:2 [0] x.cc:1 NCCL WARN NET/IB : {raw}")


def test_adapters_in_use_are_listed() -> None:
    records = read("n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:2/RoCE [RO]; OOB ib0:10.0.0.1<0>")
    (found,) = (record for record in records if isinstance(record, Observation) and record.kind == "adapters")
    assert (found.attributes["nics"], found.attributes["ports"], found.attributes["count"]) == (
        "mlx5_0 mlx5_1",
        "mlx5_0:1 mlx5_1:2",
        "2",
    )


def test_a_device_below_a_switch_is_not_flat() -> None:
    assert not read("n:1:2 [0] NCCL INFO               + PCI[48.0] - GPU/19000 (0)")


@pytest.mark.parametrize(
    ("head", "tail", "others"),
    [
        (
            "Channel {}/0 : 4[4] -> 11[3] ",
            "[receive] via NET/IB/1/GDRDMA",
            ["[receive] via NET/IB/2/GDRDMA", "[send] via NET/IB/1/GDRDMA", "[receive] via NET/IB/1"],
        ),
        ("Channel {} : 0[1b000] -> 1[43000] ", "via P2P/direct pointer", ["via P2P/IPC", "via SHM/direct/direct"]),
        ("Ring {} : 0 -> 1 ", "[send] via NET/Socket/0", ["[send] via NET/Socket/1"]),
    ],
)
def test_channels_differ_by_more_than_their_number(head: str, tail: str, others: list[str]) -> None:
    def gists(number: str, tail: str, process: str = "n:97:621") -> set[tuple[str, ...]]:
        text = f"{process} [0] NCCL INFO {head.format(number)}{tail}"
        return {met.groups() for regex in nccl.GISTS.values() if (met := re.search(regex, text))}

    assert gists("00", tail) == gists("17", tail) != set()
    assert gists("00", tail) != gists("00", tail, "n:98:701")
    assert all(gists("00", tail) != gists("00", other) for other in others)
