"""Adapters that one host lacks, variables that name nothing, hosts that are taken for one."""

from __future__ import annotations

from diagnosis.analyses import hang, job_hosts, named_peers, rails
from tests.diagnosis.analyses.test_job_network import read


def using(host: str, *nics: int) -> str:
    names = " ".join(f"[{place}]mlx5_{nic}:1/IB" for place, nic in enumerate(nics))
    return f"{host}:2200:2300 [0] NCCL INFO NET/IB : Using {names} [RO]; OOB eth0:10.0.0.1<0>\n"


def codes(*texts: str) -> list[tuple[str, str, str, str]]:
    return [(one.kind, one.code, one.node, one.entity) for one, _ in rails.derive(read(*texts))]


def test_host_with_fewer_adapters() -> None:
    both = using("node-a", 0, 1, 2, 3) + using("node-b", 0, 1, 3)
    assert codes(both) == [("adapters-differ", "fewer", "node-b", "link:mlx5_2:1")]
    down = "root@node-b:~# ibstat mlx5_2\nCA 'mlx5_2'\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Disabled\n"
    assert codes(both + down) == [("adapters-differ", "port-down", "node-b", "link:mlx5_2:1")]
    assert codes(using("node-a", 0, 1) + using("node-b", 0, 1)) == []
    assert codes(using("node-a", 0, 1)) == []


def test_hosts_of_which_most_have_fewer_are_two_kinds() -> None:
    assert codes(using("node-a", 0, 1) + using("node-b", 0) + using("node-c", 0)) == []


def test_variable_that_names_no_adapter() -> None:
    listing = "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\nCA 'mlx5_1'\n\tPort 1:\n\t\tState: Active\n"
    told = "a:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to {}.\n"
    assert [one[:2] for one in codes(told.format("mlx5_9") + listing)] == [("named-in-vain", "adapter")]
    for fits in ("mlx5", "mlx5_1:1", "=mlx5_0:1,mlx5_1:1", "^mlx5_7"):
        assert codes(told.format(fits) + listing) == []
    assert [one[1] for one in codes(told.format("=mlx5") + listing)] == ["adapter"]
    assert codes(told.format("mlx5_9")) == []  # nobody listed what there is


def test_adapter_that_is_used_or_of_which_one_alone_was_asked_for_is_there() -> None:
    one = "root@a:~# ibstat mlx5_1\nCA 'mlx5_1'\n\tPort 1:\n\t\tState: Active\n"
    told = "a:1:2 [0] NCCL INFO NCCL_IB_HCA set to =mlx5_0,mlx5_1\n"
    assert codes(told + one) == []
    assert codes(told + using("a", 0, 1) + one + one.replace("mlx5_1", "mlx5_2")) == []


def test_variable_that_names_no_interface() -> None:
    listing = "lo               UNKNOWN        127.0.0.1/8\neno1             UP             10.0.0.11/24\n"
    assert [one[1] for one in codes("NCCL_SOCKET_IFNAME=eth1\n" + listing)] == ["interface"]
    assert codes("NCCL_SOCKET_IFNAME=en\n" + listing) == []
    assert [one[1] for one in codes("GLOO_SOCKET_IFNAME=en\n" + listing)] == ["interface"]  # Gloo takes whole names


def test_ranks_a_host_apart_that_share_memory() -> None:
    ring = "n:1:2 [2] INFO Ring 00 : {} via P2P/IPC\n"
    near = ring.format("2[2] -> 3[3]") + ring.format("7[7] -> 4[4]")
    assert [one[0] for one in codes(near + ring.format("6[6] -> 10[2]"))] == ["peers-across-hosts"]
    assert codes(near + ring.format("6[6] -> 1[1]")) == []
    assert codes(near + ring.format("6[0] -> 10[0]")) == []  # devices are masked


def test_host_without_gpudirect_among_hosts_with_it() -> None:
    line = "{}:1:2 [0] NCCL INFO Channel 0{}/0 : 0[0] -> 8[0] [send] via NET/IB/0{}\n"
    with_it = "".join(line.format("node-a", channel, "/GDRDMA") for channel in range(4))
    without = "".join(line.format("node-b", channel, "") for channel in range(4))
    assert codes(with_it + without) == [("gpudirect-differs", "", "node-b", "")]
    assert codes(without) == []


def timeout(rank: int, milliseconds: int = 600000) -> str:
    return (
        f"[rank{rank}]:[E1126 04:01:29.500801336 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation "
        f"timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=2, NumelOut=2, Timeout(ms)={milliseconds}) ran for {milliseconds} "
        "milliseconds before timing out.\n"
    )


def test_where_and_when_to_look() -> None:
    init = "".join(
        f"node-{rank // 2}:{rank}:2 [0] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks 6 cudaDev 0 busId 18000 - Init COMPLETE\n"
        for rank in range(6)
    )
    ((found, because),) = hang.derive(read(init + "".join(timeout(rank) for rank in (0, 1, 2, 3, 5))))
    assert found.attributes["look_at"] == "node-2 (rank 4)"
    assert (found.attributes["since"][5:], found.attributes["until"][5:]) == ("11-26 03:50:29", "11-26 03:52:29")
    assert because[0].attributes["ran_ms"] == "600000"
    ((found, _),) = hang.derive(read(timeout(0, 1800000)))
    assert (found.attributes["timeout_s"], found.attributes.get("look_at")) == ("1800", None)
    assert list(hang.derive(read("nothing of the kind\n"))) == []


def closed(time: str, host: str, peer: str) -> str:
    return f"[2025-11-26 02:15:{time}] {host}:1:2 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer {peer}<591>\n"


def test_peer_that_several_name() -> None:
    text = closed("40", "node-a", "node-c") + closed("41", "node-b", "node-c") + closed("42", "node-d", "node-a")
    ((found, because),) = named_peers.derive(read(text))
    assert (found.attributes["peer_host"], found.attributes["hosts"], len(because)) == ("node-c", "2", 2)
    assert list(named_peers.derive(read(closed("40", "node-a", "node-c") * 3))) == []
    assert list(named_peers.derive(read(closed("40", "node-a", "node-a")))) == []
    draw = text + closed("39", "node-e", "node-a")  # as many name node-a, and the first complaint is about it
    assert [one.attributes["peer_host"] for one, _ in named_peers.derive(read(draw))] == ["node-a"]


def test_host_on_sockets_among_hosts_on_rdma() -> None:
    text = "node-a:1:2 [0] NCCL INFO Using network IB\nnode-b:1:2 [0] NCCL INFO Using network {}\n"
    for network, code in (("Socket", "Socket"), ("IBext_v8", "IBext_v8")):
        ((found, _),) = job_hosts.derive(read(text.format(network)))
        assert (found.kind, found.code) == ("networks-differ", code)
