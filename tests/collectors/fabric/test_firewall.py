"""What firewalls do with traffic that no rule lists."""

from __future__ import annotations

from tests.collectors.fabric.reading import seen, take, take_log


def test_four_programs() -> None:
    intake = take_log("firewall/four-programs.txt")
    assert intake.kind == "firewall"
    told = [
        (one.node, one.code, one.attributes["program"], one.attributes["subnets"])
        for one in seen(intake.records, "firewall")
    ]
    assert told == [
        ("node-b", "drops-unlisted", "iptables", "no"),
        ("node-c", "drops-unlisted", "iptables", "yes"),
        ("node-d", "drops-unlisted", "nftables", "no"),
        ("node-e", "drops-unlisted", "ufw", "no"),
        ("node-f", "drops-unlisted", "firewalld", "no"),
        ("node-g", "drops-unlisted", "iptables", "no"),
    ]


def test_open_firewalls() -> None:
    for text in (
        "-P INPUT ACCEPT\n-A INPUT -j KUBE-FIREWALL\n",
        "Default: allow (incoming), allow (outgoing), disabled (routed)\n",
        "trusted (active)\n  target: ACCEPT\n  interfaces: eno1\n",
        "Chain INPUT (policy ACCEPT)\ntarget     prot opt source               destination\n",
    ):
        assert [one.code for one in seen(take(text).records, "firewall")] == ["accepts"], text


def test_cut_list_of_a_zone_says_nothing() -> None:
    assert not seen(take("public (active)\n").records, "firewall")
