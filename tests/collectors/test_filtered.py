"""What a filter left of a log is told from the whole of it, by the command above it or by the word that every line holds."""

from __future__ import annotations

import pytest

from collectors.filtered import find_filters, read_filter
from collectors.registry import Registry

REGISTRY = Registry()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("dmesg | grep -i nvidia", "nvidia"),
        ("sudo dmesg -T | egrep 'NVRM|Xid' | tail -20", "NVRM|Xid"),
        ('journalctl -k -b -1 | grep -A 3 -i "xid"', "xid"),
        ("grep -i xid /var/log/messages", "xid"),
        ("zgrep NVRM /var/log/kern.log.2.gz", "NVRM"),
        ("journalctl -k -g NVRM", "NVRM"),
        ("journalctl -k --grep='xid|nvrm'", "xid|nvrm"),
        ("dmesg | awk '/NVRM/'", "NVRM"),
        ("dmesg | rg -i nvrm", "nvrm"),
        ("dmesg | grep -v usb", ""),
        ("dmesg | grep -ci xid", ""),
        ("dmesg -T | tail -50", ""),
        ("nvidia-smi -q", ""),
    ],
)
def test_words_of_a_command(command: str, words: str) -> None:
    assert read_filter(command) == words


WHOLE = [
    "[    0.000000] Linux version 5.15.0-91-generic (buildd@lcy02) (gcc 11) #101-Ubuntu SMP",
    "[    0.010000] Command line: BOOT_IMAGE=/vmlinuz-5.15.0-91-generic root=/dev/sda1 ro",
    "[  130.456250] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.124.06",
]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["root@node-a:~# dmesg | grep -i nvidia", "[ 1.000000] nvidia: loading out-of-tree module taints kernel."],
            [("nvidia", True)],
        ),
        (
            [
                "dmesg -T | grep -i nvidia",
                "",
                "[Fri Apr  5 21:29:39 2024] nvidia-nvlink: Nvlink Core is being initialized",
            ],
            [("nvidia", True)],
        ),
        ([WHOLE[2], "[  131.456250] NVRM: a second line"], [("nvrm", False)]),
        ([WHOLE[2], "[  131.4562] nvidia-modeset: Loading NVIDIA UNIX"], [("nvidia", False)]),
        (["[  130.456250] mlx5_core 0000:3b:00.0: Port module event: module 0, Cable plugged"], []),
        (
            [
                "[  1.000001] mlx5_core 0000:3b:00.0: firmware version: 20.31",
                "[  1.000002] mlx5_core 0000:3b:00.1: E-Switch: Total vports 2",
            ],
            [("core", False)],
        ),
        (WHOLE, []),
        (["$ dmesg", *WHOLE, "$ dmesg | grep -i nvidia", WHOLE[2]], []),
        (["$ dmesg | grep -i nvidia", WHOLE[2], "$ dmesg", *WHOLE], []),
        (["root@node-a:~# dmesg | grep -i xid", "root@node-a:~# "], []),
        ([], []),
    ],
)
def test_kernel_log(lines: list[str], expected: list[tuple[str, bool]]) -> None:
    found = find_filters(lines, REGISTRY.recognise)
    assert [(one.words, one.command) for one in found if one.source == "kernel"] == expected


def test_what_is_kept_of_a_filter() -> None:
    (one,) = find_filters(["", "$ dmesg | grep NVRM", WHOLE[2]], REGISTRY.recognise)
    fact = one.observe("a.txt")
    assert (fact.kind, fact.source, fact.code, fact.line, fact.attributes["by"]) == (
        "filtered",
        "kernel",
        "NVRM",
        2,
        "command",
    )
    assert "not ruled out" in one.note()
