"""Stacks of py-spy, gdb, faulthandler and of the kernel's hung tasks."""

from __future__ import annotations

import pytest

from collectors.host import stacks
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read


def test_stacks_of_all_kinds() -> None:
    found = observed(read(stacks, (FIXTURES / "stack/stacks.txt").read_text("utf-8")), "stack")
    assert [one.code for one in found] == ["python", "python", "native", "python", "kernel"]
    main, pinner, native, fault, kernel = found
    assert (main.entity, main.attributes["state"], main.line, main.line_end) == ("process:12044", "idle", 5, 9)
    assert main.attributes["frames"].startswith("wait (threading.py) < get (queue.py) < _try_get_data (")
    assert pinner.attributes["state"] == "active+gil"
    assert native.attributes["top"].startswith("futex_wait_cancelable")
    assert fault.attributes["top"] == "__getitem__ (/opt/train/data.py)"
    assert kernel.attributes["frames"] == "__schedule < nfs_wb_all"
    assert (kernel.attributes["modules"], kernel.attributes["seconds"], kernel.node) == ("nfs", "120", "node-b")


def test_old_kernel_symbols() -> None:
    text = (
        "[  601.023951] INFO: task cp:22444 blocked for more than 120 seconds.\n"
        "[  601.023960] Call Trace:\n"
        "[  601.023965]  [<ffffffff817232f0>] schedule+0x29/0x70\n"
        "[  601.023970]  [<ffffffffa0b1c2d3>] cl_sync_io_wait+0x2b5/0x3d0 [obdclass]\n"
        "[  602.000000] usb 1-1: new device\n"
    )
    (found,) = observed(read(stacks, text), "stack")
    assert (found.attributes["frames"], found.line_end) == ("schedule < cl_sync_io_wait", 4)


@pytest.mark.parametrize(
    "text", ["Process 1: x\n", 'Thread 1 (idle): "a"\n', "Thread\n", "INFO: task :x blocked for more than\n", "#0 \n"]
)
def test_odd_input_yields_nothing(text: str) -> None:
    assert observed(read(stacks, text), "stack") == []


def test_tasks_listed_by_sysrq() -> None:
    text = (
        "[81234.100000] sysrq: Show Blocked State\n"
        "[81234.100010] task:python          state:D stack:    0 pid: 4321 ppid:  4300 flags:0x00000002\n"
        "[81234.100020] Call Trace:\n[81234.100030]  __schedule+0x24e/0x590\n[81234.100040]  rpc_wait_bit_killable+0x24/0xb0 [sunrpc]\n"
        "[81234.100050] task:ls              state:D stack:    0 pid: 4322 ppid:  4300 flags:0x00000002\n"
        "[81234.100060] Call Trace:\n[81234.100070]  nfs_wait_bit_killable+0x24/0xb0 [nfs]\n"
    )
    found = observed(read(stacks, text), "stack")
    assert [(one.attributes["pid"], one.attributes["top"]) for one in found] == [
        ("4321", "__schedule"), ("4322", "nfs_wait_bit_killable"),
    ]  # fmt: skip
    assert not any("seconds" in one.attributes for one in found)
