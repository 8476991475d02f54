"""Scope: what is not ruled out, what is over, who only stands by. Each case is a small input through the whole straight line."""

from __future__ import annotations

from functools import cache

import pytest

from collectors.ingest import text_input
from collectors.store import Store
from diagnosis.engine import Knowledge, diagnose, take_in, triage
from diagnosis.model import Report
from diagnosis.rulebook import load_rulebook

NOW = 1_764_547_200.0


@cache
def knowledge() -> Knowledge:
    return Knowledge.build(load_rulebook())


def report(*texts: str) -> Report:
    inputs = [text_input(f"input-{number}", text) for number, text in enumerate(texts)]
    return triage(inputs, knowledge(), now=NOW)


def blamed(one: Report) -> list[tuple[str, str]]:
    """Return the roots that are blamed, with what they are on."""
    return [(cause.cause, cause.entity) for cause in one.causes if cause.verdict == "root" and cause.probability >= 0.5]


def status(one: Report, layer: str) -> str:
    return next(part.status for part in one.walk if part.layer == layer)


BOOT = (
    "[    0.000000] Linux version 5.15.0-91-generic (buildd@lcy02) (gcc 11) #101-Ubuntu SMP\n"
    "[    4.100000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03\n"
)


# --- a filtered paste proves no absence


def test_a_whole_log_clears_and_a_filtered_one_does_not() -> None:
    whole = report(BOOT)
    assert status(whole, "node") == "clear"
    for text in (f"$ dmesg | grep -i nvidia\n{BOOT.splitlines()[1]}\n", BOOT.splitlines()[1]):
        part = report(text)
        assert (status(part, "node"), status(part, "hardware")) == ("no-data", "no-data")
        assert "not ruled out" in part.verdict
        assert part.next_checks[0].run == "dmesg -T"


def test_the_input_says_that_it_was_filtered() -> None:
    line = BOOT.splitlines()[1]
    for text in (f"$ dmesg | grep -i nvidia\n{line}\n", f"{line}\n{line}\n"):
        assert any("not ruled out" in note for note in report(text).inputs[0].notes)
    assert not report(BOOT).inputs[0].notes


def test_a_whole_log_beside_a_filtered_one_clears() -> None:
    assert status(report(f"$ dmesg | grep -i nvidia\n{BOOT.splitlines()[1]}\n", BOOT), "node") == "clear"


def test_a_filtered_paste_that_is_kept_clears_nothing_either() -> None:
    store = Store.open()
    take_in([text_input("a", f"$ dmesg | grep NVRM\n{BOOT.splitlines()[1]}\n")], knowledge(), store, now=NOW, batch="b")
    assert status(diagnose(store, knowledge(), now=NOW), "node") == "no-data"
    store.close()


def test_an_xid_in_a_filtered_paste_is_still_found() -> None:
    found = report(
        "$ dmesg | grep NVRM\n[ 9.1] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.\n"
    )
    assert blamed(found) == [("gpu.fell-off-bus", "gpu:0000:3b:00.0")]


def test_absence_under_a_filter_is_no_evidence() -> None:
    agent = "node-health-agent: Xid 45 on GPU-00000000 found, cordoning node gpu-node-7 as unhealthy\n"
    filtered = report(agent, f"$ dmesg | grep -i nvidia\n{BOOT.splitlines()[1].replace('NVRM', 'nvidia')}\n")
    before = next(one for one in report(agent, BOOT).causes if one.cause == "platform.health-check-false-alarm")
    after = next((one for one in filtered.causes if one.cause == "platform.health-check-false-alarm"), None)
    assert after is None or after.probability < before.probability


# --- empty answers


def test_no_module_and_no_device() -> None:
    assert blamed(report("root@node-a:~# lsmod | grep nvidia\nroot@node-a:~# uptime\n")) == [
        ("node.driver-not-loaded", "node:node-a")
    ]
    gone = report("root@node-a:~# lspci | grep -i nvidia\nroot@node-a:~# lsmod | grep nvidia\nroot@node-a:~# uptime\n")
    assert ("node.driver-not-loaded", "node:node-a") not in blamed(gone)
    assert any(one.cause == "gpu.fell-off-bus" for one in gone.causes)


# --- one GPU or many, first and followers, bystanders


def xid(at: int, pci: str, code: int, text: str, pid: int = 100, name: str = "python3") -> str:
    """Return an Xid as syslog keeps it; `at` is in seconds after noon."""
    hour, minute, second = 12 + at // 3600, at // 60 % 60, at % 60
    return (
        f"Aug 20 {hour:02d}:{minute:02d}:{second:02d} node-a kernel: [{1000 + at}.000000] "
        f"NVRM: Xid (PCI:0000:{pci}:00): {code}, pid={pid}, name={name}, {text}\n"
    )


SM = "Graphics SM Warp Exception on (GPC 3, TPC 2, SM 0): Out Of Range Address"
GPUS = ["1a", "3b", "4c", "5d", "9a", "ab", "bc", "cd"]
LOST = "GPU has fallen off the bus."


def test_one_gpu_under_unrelated_jobs_is_the_gpu() -> None:
    text = "".join(xid(4000 * number, "3b", 13, SM, 100 * (number + 1)) for number in range(3))
    assert blamed(report(text)) == [("gpu.engine-fault", "gpu:node-a/0000:3b:00.0")]


def test_many_gpus_at_once_are_the_program() -> None:
    places = [f"Graphics SM Warp Exception on (GPC {n}, TPC 2, SM 0): Out Of Range Address" for n in range(8)]
    text = "".join(xid(n, pci, 13, places[n], 100 + n) for n, pci in enumerate(GPUS))
    assert [cause for cause, _ in blamed(report(text))] == ["app.illegal-memory-access"]


def test_first_of_a_storm_is_the_root() -> None:
    storm = (
        xid(
            0,
            "3b",
            48,
            "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr 0x1",
        )
        + xid(0, "3b", 63, "Row Remapper: New row (0x0000000018f31d80) marked for remapping, reset gpu to activate.")
        + xid(0, "3b", 94, "Contained: CE User Channel (0x9). RST: No, D-RST: No")
        + xid(1, "3b", 45, "Ch 00000001")
        + xid(1, "3b", 154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")
    )
    assert blamed(report(storm)) == [("gpu.ecc-uncorrectable", "gpu:node-a/0000:3b:00.0")]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (
            119,
            "Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800a4c 0x4).",
        ),
        (120, "GSP Error: Task 1 raised error code 0x5 for reason 0x0 at 0x1234"),
    ],
)
def test_the_process_that_asked_is_a_bystander(code: int, text: str) -> None:
    found = report(xid(0, "3b", code, text, 55, "dcgm-exporter"))
    assert blamed(found) == [("node.driver-bug", "gpu:node-a/0000:3b:00.0")]
    assert not any("process:" in name for one in found.causes for name in (one.entity, *one.path))


def test_an_instruction_is_no_fault() -> None:
    assert not blamed(
        report(xid(0, "3b", 154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"))
    )


def test_switches_echo_one_lost_gpu() -> None:
    switches = "".join(
        f"Aug 20 12:00:12 node-a kernel: [ 1012.000000] nvidia-nvswitch{n}: SXid (PCI:0000:0{5 + n}:00.0): 20034, Fatal, "
        f"Link {60 + n} LTSSM Fault Up\n"
        for n in range(6)
    )
    assert blamed(report(xid(0, "3b", 79, LOST) + switches)) == [("gpu.fell-off-bus", "gpu:node-a/0000:3b:00.0")]
    assert blamed(report(switches.splitlines()[0] + "\n")) == [("nvswitch.fatal", "nvswitch:node-a/0000:05:00.0")]


def test_a_cancelled_job_leaves_45() -> None:
    ends = "".join(xid(1, pci, 45, "Ch 00000008", 100 + n) for n, pci in enumerate(GPUS))
    assert not blamed(report("slurmstepd: error: *** JOB 1234 ON node-a CANCELLED AT 2024-08-20T12:00:00 ***\n" + ends))
    assert not blamed(report(ends))


# --- healthy by design


def test_an_idle_gpu_saves_power() -> None:
    text = """GPU 00000000:3B:00.0
    Product Name                          : NVIDIA A100-PCIE-40GB
    Performance State                     : P8
    Clocks Throttle Reasons
        Idle                              : Active
        HW Slowdown                       : Not Active
    GPU Link Info
        PCIe Generation
            Max                       : 4
            Current                   : 1
        Link Width
            Max                       : 16x
            Current                   : 16x
    Utilization
        Gpu                               : 0 %
    Clocks
        SM                                : 210 MHz
    Max Clocks
        SM                                : 1410 MHz
"""
    assert not blamed(report(text))
    link = "3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16\n"
    assert not blamed(report(link + "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16\n"))


@pytest.mark.parametrize(
    ("name", "links", "active"),
    [
        ("NVIDIA H100 NVL", 18, 12), ("NVIDIA H200 NVL", 18, 12), ("NVIDIA H100 PCIe", 18, 0), ("NVIDIA A100-PCIE-40GB", 12, 0),
        ("NVIDIA A100 80GB PCIe", 12, 8), ("NVIDIA L40S", 0, 0), ("NVIDIA GH200 480GB", 18, 0), ("NVIDIA A30", 4, 0), ("NVIDIA A40", 4, 0),
        ("NVIDIA RTX A6000", 4, 0), ("NVIDIA GeForce RTX 3090", 4, 0), ("NVIDIA H800", 18, 8), ("NVIDIA A800-SXM4-80GB", 12, 8),
    ],
)  # fmt: skip
def test_links_that_the_board_does_not_use(name: str, links: int, active: int) -> None:
    rows = "".join(f"\t Link {n}: {'26.562 GB/s' if n < active else '<inactive>'}\n" for n in range(links))
    rows = rows or "Unable to retrieve NVLink information as all links are inActive\n"
    found = report(f"GPU 0: {name} (UUID: GPU-00000000-0000-0000-0000-000000000003)\n{rows}")
    assert not [one for one in found.causes if one.cause.startswith("nvlink.")]


def test_a_link_that_the_board_uses_is_missed() -> None:
    rows = "".join(f"\t Link {n}: {'26.562 GB/s' if n < 17 else '<inactive>'}\n" for n in range(18))
    found = report(f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-0000-0000-0000-000000000003)\n{rows}")
    assert found.causes[0].cause == "nvlink.link-down"


# --- what is over

STARTED = (
    "Aug 20 14:00:00 node-a kernel: [    0.000000] Linux version 5.15.0-91-generic (buildd@lcy02) (gcc 11) #101-Ubuntu SMP\n"
    "Aug 20 14:00:09 node-a kernel: [    9.000000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03\n"
)


def test_a_boot_ends_it() -> None:
    over = report(xid(0, "3b", 79, LOST) + STARTED)
    assert not blamed(over)
    assert over.verdict.startswith("Over, as it seems")
    assert [part.part for part in over.causes[0].score] == ["evidence", "ended"]


def test_a_boot_ends_nothing_that_came_after_it_or_again() -> None:
    assert blamed(report(STARTED + xid(8000, "3b", 79, LOST)))
    assert blamed(report(xid(0, "3b", 79, LOST) + STARTED + xid(8000, "3b", 79, LOST)))


def test_a_boot_of_another_host_ends_nothing() -> None:
    assert blamed(report(xid(0, "3b", 79, LOST), STARTED.replace("node-a", "node-b")))


def test_a_boot_does_not_end_what_needs_more() -> None:
    row = xid(0, "3b", 64, "Row Remapper Error: (0x0000000018f31d80) - All reserved rows for bank are remapped")
    assert [cause for cause, _ in blamed(report(row + STARTED))] == ["gpu.row-remap-failure"]


def test_what_a_job_complains_of_stays_explained() -> None:
    job = "Aug 20 12:00:05 node-a slurmstepd: RuntimeError: CUDA error: unspecified launch failure; NCCL watchdog: remote process exited\n"
    job += "[rank3]:[E820 12:10:05.500801336 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5)\n"
    assert ("gpu.fell-off-bus", "gpu:node-a/0000:3b:00.0") in blamed(report(xid(0, "3b", 79, LOST) + STARTED, job))


def test_the_driver_takes_its_request_back() -> None:
    before = xid(0, "3b", 95, "Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: No")
    before += xid(1, "3b", 154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")
    cleared = xid(3000, "{}", 154, "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)")
    assert blamed(report(before))
    assert not blamed(report(before + cleared.format("3b")))
    assert blamed(report(before + cleared.format("4c")))


def test_a_reset_ends_it() -> None:
    lines = "$ dmesg\n[ 1000.000000] NVRM: Xid (PCI:0000:3b:00): 119, pid=5, name=a, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800a4c 0x4).\n$ nvidia-smi --gpu-reset -i 2\n"
    assert blamed(report(lines))
    assert not blamed(report(lines + "GPU 00000000:3B:00.0 was successfully reset.\n"))
    assert blamed(report(lines + "GPU 00000000:4C:00.0 was successfully reset.\n"))


def test_a_gauge_that_stands_is_not_blamed() -> None:
    labels = '{gpu="0",UUID="GPU-00000000-0000-0000-0000-000000000001",pci_bus_id="00000000:3B:00.0",Hostname="node-a"}'
    assert not blamed(report(f"DCGM_FI_DEV_XID_ERRORS{labels} 48\n"))
    lost = report(f"DCGM_FI_DEV_XID_ERRORS{labels} 79\nDCGM_FI_DEV_GPU_TEMP{labels} 41\n")
    assert not [one for one in lost.causes if one.cause == "gpu.fell-off-bus"]
