"""A host that announces an address of another network than its peers."""

from __future__ import annotations

from diagnosis.analyses import bootstrap_networks
from tests.diagnosis.analyses.test_job_network import read


def bootstrap(host: str, interface: str, address: str) -> str:
    return f"{host}:101:101 [0] NCCL INFO Bootstrap : Using {interface}:{address}<0>\n"


def refused(host: str, address: str) -> str:
    return f"{host}:101:150 [0] misc/socket.cc:567 NCCL WARN socketStartConnect: Connect to {address}<46417> failed : No route to host\n"


def derived(text: str) -> list[tuple[str, str, str]]:
    return [(one.node, one.code, one.attributes["usual"]) for one, _ in bootstrap_networks.derive(read(text))]


PEERS = bootstrap("node-a", "bond0", "10.37.8.72") + bootstrap("node-c", "bond0", "10.37.8.74")
ODD = bootstrap("node-b", "bond1", "10.37.12.78")


def test_the_odd_host_is_named_with_what_proves_it() -> None:
    ((found, because),) = bootstrap_networks.derive(read(PEERS + ODD + refused("node-a", "10.37.12.78")))
    assert (found.node, found.code, found.attributes["usual"]) == ("node-b", "bond1", "bond0")
    assert [one.line for one in because] == [3, 4, 1]


def test_of_two_hosts_it_is_the_one_that_is_not_reached() -> None:
    two = bootstrap("node-a", "bond0", "10.37.8.72") + ODD
    assert derived(two + refused("node-a", "10.37.12.78")) == [("node-b", "bond1", "bond0")]


def test_what_says_nothing() -> None:
    assert derived(PEERS + ODD) == []  # nothing fails
    assert derived(PEERS + ODD + refused("node-b", "10.37.8.72")) == []  # a usual address is not reached
    assert derived(PEERS + ODD + refused("node-b", "10.37.12.78")) == []  # by itself
    same = bootstrap("node-b", "ens5", "10.37.8.78")
    assert derived(PEERS + same + refused("node-a", "10.37.8.78")) == []  # one network under two names
    assert derived(ODD + refused("node-a", "10.37.12.78")) == []  # a single host
