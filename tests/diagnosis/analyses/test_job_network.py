"""Arithmetic over links, counters, collectives, phases and hosts: what no single line states."""

from __future__ import annotations

from collections.abc import Iterator

from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation, Relation, Sample
from collectors.registry import Registry
from collectors.scan import Scanner
from diagnosis.analyses import collectives, job_hosts, links, master_address, port_counters, stalls
from diagnosis.analyses.derived import Derived
from diagnosis.facts import Facts


def read(*texts: str) -> Facts:
    registry = Registry()
    intakes = read_inputs(
        [text_input(f"{number}.txt", text) for number, text in enumerate(texts)],
        Scanner(registry.patterns()),
        registry,
        now=1_764_547_200.0,
    )
    records = [record for one in intakes for record in one.records]
    return Facts(
        [one for one in records if isinstance(one, Observation)], [one for one in records if isinstance(one, Sample)],
        [one for one in records if isinstance(one, Relation)],
    )  # fmt: skip


def codes(found: Iterator[Derived]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.code, one.entity) for one, _ in found]


def port(time: str, state: str, host: str = "node-b") -> str:
    return f"2025-11-26T{time}+00:00 {host} kernel: mlx5_core 0000:5e:00.0 mlx5_3: Port: 1 Link {state}\n"


def test_link_that_comes_back_often_flaps_and_one_that_stays_away_is_down() -> None:
    flapping = (
        port("00:00:01", "DOWN") + port("00:00:05", "ACTIVE") + port("01:00:01", "DOWN") + port("01:00:05", "ACTIVE")
    )
    assert codes(links.derive(read(flapping))) == [("link-state", "flapping", "link:node-b/mlx5_3:1")]
    assert codes(links.derive(read(port("00:00:01", "ACTIVE") + port("00:00:05", "DOWN"))))[0][1] == "down"
    assert codes(links.derive(read(port("00:00:01", "DOWN") + port("00:00:05", "ACTIVE"))))[0][1] == "bounced"
    assert codes(links.derive(read(port("00:00:01", "ACTIVE")))) == []


def test_port_that_never_came_up_after_boot_is_unused() -> None:
    boot = "2025-11-26T00:00:00+00:00 node-b kernel: mlx5_core 0000:5e:00.0: firmware version: 28.43.2566\n"
    assert codes(links.derive(read(boot + port("00:00:05", "DOWN")))) == []
    line = "[{:>12.6f}] mlx5_core 0000:0c:00.1 ens1f1np1: Link down\n"
    assert codes(links.derive(read(line.format(15.1)))) == []
    assert [one[1] for one in codes(links.derive(read(line.format(88123.5))))] == ["down"]


def test_links_of_several_hosts_that_go_together() -> None:
    text = "".join(port(f"00:00:0{number}", "DOWN", f"node-{number}") for number in range(1, 4))
    assert ("links-down-together", "", "") in codes(links.derive(read(text)))


def test_counters_count_only_between_two_readings() -> None:
    once = "# 2025-03-04T01:00:01Z mlx5_0 port 1\nlink_downed 7\n"
    assert codes(port_counters.derive(read(once))) == []
    twice = once + "# 2025-03-04T02:00:01Z mlx5_0 port 1\nlink_downed 9\n"
    ((one, proof),) = port_counters.derive(read(twice))
    assert (one.code, one.attributes["rise"], [line.line for line in proof]) == ("link_downed", "2", [2, 4])
    still = once + "# 2025-03-04T02:00:01Z mlx5_0 port 1\nlink_downed 7\n"
    assert codes(port_counters.derive(read(still))) == []


def progress(rank: int, enqueued: int, completed: int, at: int | None = None) -> str:
    work = f"failure detected by watchdog at work sequence id: {at} PG status: l" if at else "L"
    return f"[rank{rank}]:[E901 05:20:03.398331961 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0 Rank {rank}] {work}ast enqueued work: {enqueued}, last completed work: {completed}\n"


def test_rank_that_never_entered_is_told_from_those_who_wait() -> None:
    found = codes(collectives.derive(read(progress(7, 10, 9, 10) + progress(3, 12, 9, 10) + progress(0, 9, 9))))
    assert found == [("collective", "not-entered", "rank:0")]
    assert codes(collectives.derive(read(progress(7, 12, 9, 10) + progress(3, 12, 9, 10)))) == [
        ("collective", "all-entered", "")
    ]
    assert codes(collectives.derive(read(progress(7, 12, 9, 10) + progress(3, 12, 5, 6)))) == [
        ("collective", "behind", "rank:3")
    ]


TIMEOUT = (
    "[rank7]:[E901 05:20:03.398117204 ProcessGroupNCCL.cpp:632] [Rank 7] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=4, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600020 milliseconds before timing out.\n"
)


def waiting(rank: int, sequence: int, operation: str = "ALLREDUCE", prefix: str = "") -> str:
    return (
        f"{prefix}[E ProcessGroupNCCL.cpp:475] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={sequence}, "
        f"OpType={operation}, Timeout(ms)=1800000) ran for 1800572 milliseconds before timing out.\n"
    )


def test_ranks_of_one_group_are_never_two_operations_apart() -> None:
    assert codes(collectives.derive(read(waiting(4, 4190) + waiting(1, 4188)))) == [("collective", "apart", "")]
    assert not codes(
        collectives.derive(read(waiting(4, 4189) + waiting(1, 4188)))
    )  # one may have ended an operation, the other not
    assert not codes(
        collectives.derive(read(waiting(4, 4190, "SEND") + waiting(1, 4188, "SEND")))
    )  # concerns two ranks only
    assert not codes(collectives.derive(read(waiting(0, 4190) + waiting(0, 12))))  # two groups
    assert not codes(
        collectives.derive(read(waiting(4, 4190) + waiting(1, 4188, prefix="[rank9]:")))
    )  # groups smaller than the job


def test_ranks_of_a_broadcast_do_not_wait_for_each_other() -> None:
    def caught(rank: int, number: int, operation: str) -> str:
        head = f"[rank{rank}]:[E ProcessGroupNCCL.cpp:563] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL("
        rest = f"SeqNum={number}, OpType={operation}, NumelIn=800, NumelOut=800, Timeout(ms)=600000) ran for 600093 milliseconds\n"
        tail = (
            f"[rank{rank}]:[E ProcessGroupNCCL.cpp:1537] [PG 0 Rank {rank}] Timeout at NCCL work: {number}, "
            f"last enqueued NCCL work: {number + 1}, last completed NCCL work: {number - 1}.\n"
        )
        return head + rest + tail

    behind = ("collective", "behind", "rank:1")
    assert behind in codes(collectives.derive(read(caught(1, 5, "ALLREDUCE") + caught(2, 48, "ALLREDUCE"))))
    assert behind not in codes(collectives.derive(read(caught(1, 5, "BROADCAST") + caught(2, 48, "BROADCAST"))))


def test_looks_one_timeout_back() -> None:
    near = "2025-09-01 05:10:01,377 >> ***** Running Evaluation *****\n"
    assert codes(stalls.derive(read(near + TIMEOUT))) == [("stalled-in", "evaluation", "")]
    assert codes(stalls.derive(read(near.replace("05:10", "03:10") + TIMEOUT))) == []
    assert codes(stalls.derive(read("saving checkpoint at iteration 5 to /x\n" + TIMEOUT))) == [
        ("stalled-in", "checkpoint", "")
    ]
    done = "saving checkpoint at iteration 5 to /x\n  successfully saved checkpoint at iteration 5 to /x\n"
    assert codes(stalls.derive(read(done + TIMEOUT))) == []


def test_what_a_rank_is_at_while_others_time_out() -> None:
    bar = "[rank0]: Evaluating:  63%|######3   | 812/1290 [10:02<05:54,  1.35it/s]\n"
    assert codes(stalls.derive(read(TIMEOUT + bar))) == [("stalled-in", "evaluation", "rank:0")]
    assert codes(stalls.derive(read(TIMEOUT + "step\n" * 60 + bar))) == []
    ended = bar.replace("[rank0]: Evaluating:  63%", "[rank0]: Validation DataLoader 0: 100%")
    assert codes(stalls.derive(read(TIMEOUT + ended))) == []


def test_hosts_with_other_versions_and_shared_identities() -> None:
    package = "{host}: ii  libnccl2        {version}-1+cuda12.4   amd64        NCCL\n"
    differ = package.format(host="node-a", version="2.22.3") + package.format(host="node-b", version="2.20.5")
    assert codes(job_hosts.derive(read(differ))) == [("nccl-versions-differ", "", "")]
    equal = package.format(host="node-a", version="2.22.3") + package.format(host="node-b", version="2.22.3")
    assert codes(job_hosts.derive(read(equal))) == []
    line = "{host}:1:2 [0] init.cc:795 NCCL WARN Duplicate GPU detected : rank {one} and rank {other} both on CUDA device 31000\n"
    cloned = line.format(host="node-a", one=0, other=8) + line.format(host="node-b", one=8, other=0)
    assert codes(job_hosts.derive(read(cloned))) == [("duplicate-gpu-hosts", "other-host", "gpu:0000:31:00.0")]


def test_the_store_waits_for_the_rank_that_prepares_data() -> None:
    text = (
        "Running tokenizer on dataset:  47%|####7     | 3169000/6811963 [30:11<38:27, 1578.58 examples/s]"
        "[rank1]:[W516 14:34:56.853490829 socket.cpp:464] [c10d] waitForInput: poll returned 0, likely a timeout\n"
        "RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', "
        "but store->get('0') got error: {}\n"
    )
    for error in (
        "Socket Timeout",
        "wait timeout after 1800000ms, keys: /default_pg/0",
        "Timeout waiting for key: default_pg/0/0 after 1800000 ms",
    ):
        assert codes(stalls.derive(read(text.format(error)))) == [("stalled-in", "data preparation", "rank:0")]


def test_the_address_of_the_rendezvous_that_no_host_has() -> None:
    waits = (
        "[E socket.cpp:860] [c10d] The client socket has timed out after 60s while trying to connect to ({}, 1234).\n"
    )
    hosts = (
        "node0: bond0            UP             172.18.40.10/24\nnode0: docker0          DOWN           172.17.0.1/16\n"
        "node1: bond0            UP             172.18.40.11/24\n"
    )
    ((found, proof),) = master_address.derive(read(waits.format("192.0.2.1") + hosts))
    assert (found.code, found.attributes["hosts"], [one.node for one in proof[1:]]) == (
        "unowned",
        "2",
        ["node0", "node1"],
    )
    assert not list(master_address.derive(read(waits.format("172.18.40.11") + hosts)))
    assert not list(master_address.derive(read(waits.format("192.0.2.1") + hosts.splitlines()[0])))


def test_interfaces_of_one_kind_are_compared_and_a_management_port_is_not() -> None:
    text = "".join(
        f"Settings for {name}:\n\tSpeed: {speed}Mb/s\n\tLink detected: yes\n"
        for name, speed in (
            ("eno1", 1000),
            ("ens0np0", 200000),
            ("ens1np0", 200000),
            ("ens2np0", 50000),
            ("ens3np0", 200000),
        )
    )
    assert codes(links.derive(read(text))) == [("port-slower", "", "link:ens2np0:1")]


def test_readings_behind_a_remark_and_a_date_count() -> None:
    text = (
        "# cd /sys/class/infiniband/mlx5_0/ports/1/hw_counters; date; grep . out_of_sequence\nWed Sep  2 10:20:14 UTC 2026\n"
        "out_of_sequence:118204\n# (after the run)\nWed Sep  2 10:21:40 UTC 2026\nout_of_sequence:391877\n"
    )
    ((found, _),) = port_counters.derive(read(text))
    assert (found.code, found.attributes["rise"], found.attributes["seconds"]) == ("out_of_sequence", "273673", "86")
