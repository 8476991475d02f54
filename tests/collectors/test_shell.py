"""Prompts tell the host of the lines below, and what merely looks like one does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors import shell
from collectors.prefix import peel


def read(raw: str) -> list[tuple[str, str, str]]:
    """Return (host, program, command) of what a line wakes and gives."""
    if not any(re.search(anchor, raw) for anchor in shell.ANCHORS):
        return []
    return [(one.node, one.code, one.text) for one in shell.parse_line(peel("a", 1, raw))]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("root@gpu-node-7:~# dmesg | tail", ("gpu-node-7", "dmesg", "dmesg | tail")),
        ("[root@gpu-node-7 ~]$ nvidia-smi", ("gpu-node-7", "nvidia-smi", "nvidia-smi")),
        ("[root@gpu-node-7.example.com ~]# nvidia-smi", ("gpu-node-7", "nvidia-smi", "nvidia-smi")),
        ("gpu-node-7:~$ nvidia-smi -q", ("gpu-node-7", "nvidia-smi", "nvidia-smi -q")),
        ("gpu7# ibstat", ("gpu7", "ibstat", "ibstat")),
        ("me@laptop ~ % kubectl get pods", ("laptop", "kubectl", "kubectl get pods")),
        ("$ kubectl get pods", ("", "kubectl", "kubectl get pods")),
        ("+ $ /usr/bin/nvidia-smi -L", ("", "nvidia-smi", "/usr/bin/nvidia-smi -L")),
        ("$ ssh gpu-node-7 ibstat", ("gpu-node-7", "ssh", "ssh gpu-node-7 ibstat")),
        (
            "$ ssh -i id.pem -p 22 root@gpu-node-7 ibstat",
            ("gpu-node-7", "ssh", "ssh -i id.pem -p 22 root@gpu-node-7 ibstat"),
        ),
        ("me@laptop:~$ ssh -t gpu-node-7 ibstat", ("gpu-node-7", "ssh", "ssh -t gpu-node-7 ibstat")),
        ("root@localhost:~# ls", ("", "ls", "ls")),
    ],
)
def test_a_prompt(raw: str, expected: tuple[str, str, str]) -> None:
    assert read(raw) == [expected]


@pytest.mark.parametrize(
    "raw",
    [
        "nas-1:/export       10T  9.9T  100G  99% /data",  # df
        "nas-1:/export       10T  9.9T  100G  99% / data",
        "tmpfs               13G  2.1M   13G   1% /run",
        "Epoch 1:  45%|####      | 45/100",
        "loss at /data 95% done",
        "https://example.com/a#b c",
        "error: /var/log/x",
        "",
    ],
)
def test_no_prompt(raw: str) -> None:
    assert read(raw) == []


def test_a_lone_hash_may_be_a_comment() -> None:
    (command,) = shell.parse_line(peel("a", 1, "# TYPE DCGM_FI_DEV_GPU_TEMP gauge"))
    assert command.attributes["prompt"] == "#"
    (command,) = shell.parse_line(peel("a", 1, "$ ls"))
    assert "prompt" not in command.attributes


@given(st.text(alphabet=st.sampled_from(list("a1@:~/#$%>[] -.=")), max_size=60))
def test_any_line_is_read(raw: str) -> None:
    assert len(read(raw)) <= 1
