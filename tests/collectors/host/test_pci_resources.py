"""Address space of PCI devices: found, not found, found at the second attempt."""

from __future__ import annotations

from tests.collectors.fabric.reading import seen, take, take_log


def test_only_what_is_left_without_space_is_told() -> None:
    found = seen(take_log("kernel/pci-resources.log").records, "pci-resource")
    assert [(one.entity, one.attributes["bar"], one.attributes["size"], one.line, one.line_end) for one in found] == [
        ("gpu:0000:14:00.0", "1", "137438953472", 1, 2),
        ("gpu:0000:16:00.0", "1", "34359738368", 9, 10),
    ]


def test_a_success_of_a_later_boot_line_far_below_is_of_the_same_pass() -> None:
    noise = "".join(f"[    2.{at:06d}] pci 0000:20:00.0: bridge window [io 0x{at:04x}]\n" for at in range(300))
    text = (
        "Jan  3 10:00:01 node-a kernel: pci 0000:14:00.0: BAR 1: no space for [mem size 0x2000000000 64bit pref]\n"
        f"{noise}Jan  3 10:00:02 node-a kernel: pci 0000:14:00.0: BAR 1: assigned [mem 0x380000000000-0x381fffffffff 64bit pref]\n"
    )
    assert not seen(take(text).records, "pci-resource")
    (one,) = seen(take(text.splitlines()[0] + "\n").records, "pci-resource")
    assert (one.node, one.code) == ("node-a", "unassigned")
