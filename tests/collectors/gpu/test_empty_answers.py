"""A command that prints nothing says something once the next prompt is seen."""

from __future__ import annotations

import pytest

from collectors.gpu import empty_answers
from tests.collectors.gpu.gpu_reading import observed, read

PROMPT = "root@node-a:~# "


@pytest.mark.parametrize(
    ("text", "modules", "listings"),
    [
        (f"{PROMPT}lsmod | grep nvidia\n{PROMPT}uptime\n", ["absent"], []),
        (f"{PROMPT}lsmod | grep -i nvidia\n{PROMPT}\n", ["absent"], []),
        ("[root@node-a ~]$ lspci | grep -i nvidia\n[root@node-a ~]$ \n", [], ["absent"]),
        ("$ lspci -nn | grep -i nvidia | wc -l\n0\n", [], ["absent"]),
        ("$ lspci -nn | grep -ic nvidia\n8\n", [], ["8"]),
        ("$ lspci -d 10de:\n$ uptime\n", [], ["absent"]),
        ("$ lsmod | grep -c nvidia\n0\n", ["absent"], []),
        ("$ lsmod | grep nvidia\n", [], []),
        ("$ lsmod | grep nvidia\nnvidia 56807424 2\n$ \n", [], []),
        ("$ lspci | grep -i nvidia\n3b:00.0 3D controller: NVIDIA Corporation GH100\n$ \n", [], []),
        ("$ lsmod | grep -E 'nvidia_peermem|nv_peer_mem'\n$ \n", ["part"], []),
        ("$ lsmod | grep nvidia_uvm\n$ \n", ["absent"], []),
        ("$ lsmod | grep nouveau\n$ uptime\n", [], []),
        ("# run lspci | grep -i nvidia and look\n\nsome text\n", [], []),
    ],
)
def test_empty_answers(text: str, modules: list[str], listings: list[str]) -> None:
    records = read(empty_answers, text)
    assert [one.code for one in observed(records, "kernel_modules")] == modules
    assert [one.code for one in observed(records, "pci_listing")] == listings


def test_the_prompt_names_the_host() -> None:
    (one,) = observed(read(empty_answers, f"{PROMPT}lspci | grep -i nvidia\n{PROMPT}uptime\n"), "pci_listing")
    assert one.node == "node-a"


def test_only_the_modules_that_were_asked_for_are_missing() -> None:
    (one,) = observed(read(empty_answers, f"{PROMPT}lsmod | grep -i nvidia_peermem\n{PROMPT}\n"), "kernel_modules")
    assert one.attributes == {"nvidia_peermem": "no", "asked": "yes"}
