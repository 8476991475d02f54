"""`faultwalk explain`: causes, symptoms and codes in both languages, and one line for a name that nothing knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli import app
from api.codes import explain_code, read_pasted
from collectors.gpu import nvrm
from diagnosis.model import LANGUAGES, Language
from diagnosis.rulebook import Rulebook, find_rules_folder, load_rulebook
from diagnosis.tables import Tables, load_tables
from tests.collectors.gpu.gpu_reading import observed, read


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


def told(*arguments: str | Path) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_cause() -> None:
    text = told("gpu.fell-off-bus")
    assert text.splitlines()[0].startswith("GPU has fallen off the bus  gpu.fell-off-bus · hardware")
    assert "[decisive]" in text
    assert "lspci" in text
    assert "Xid 79" in text


def test_a_cause_in_chinese() -> None:
    text = told("gpu.fell-off-bus", "--lang", "zh")
    assert "GPU 掉卡" in text.splitlines()[0]
    assert "硬件" in text.splitlines()[0]


def test_a_symptom_names_what_can_bring_it_about() -> None:
    text = told("gpu-lost")
    assert "(gpu-lost)" in text.splitlines()[0]
    assert any(line.startswith("  gpu.fell-off-bus ") for line in text.splitlines())


def test_a_code_names_the_rules_that_read_it() -> None:
    text = told("xid:79")
    assert "gpu.fell-off-bus [decisive]: " in text


@pytest.mark.parametrize("name", ["gpu.nothing", "xid:", "xid:99999", "nothing:1", "../x:1", "", ":", "[red]x[/]"])
def test_a_name_that_nothing_knows(name: str) -> None:
    result = run(name)
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"faultwalk: `{name}`: no such cause, symptom or code; try `faultwalk rules list` or a code such as xid:79\n"
    )


def test_rules_with_a_mistake(tmp_path: Path) -> None:
    result = run("xid:79", "--rules", tmp_path / "none")
    assert (result.exit_code, result.stderr) == (
        2,
        f"faultwalk: the rules have problems:\n{tmp_path / 'none'}: no such folder\n",
    )


# --- codes


RLW = "NVRM: Xid (PCI:0008:01:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x0)"
LINK_DOWN = "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_DOWN  Fatal   XC0 i0 Link 01 (0x02100011 0x00000000 0x0)"


def test_an_xid_with_all_that_is_known() -> None:
    text = told("xid:63")
    for part in (
        "Xid 63  INFOROM_DRAM_RETIREMENT_EVENT",
        "A bad memory row was marked for remapping",
        "GPUs: A100 H100 B100 GB200",
        "Now: nothing to do (IGNORE: nothing to do)",
        "Xid 154 repeats the action from driver R565",
        "Can follow from: Xid 48, 92",
        "Cause: A row remap or page retirement waits for a GPU reset  gpu.row-remap-pending",
        "What others say: gpud, sichek, nccl-doctor, Azure's health checks",
        "We follow NVIDIA's catalog (IGNORE)",
        "  gpu.row-remap-pending [strong]: ",
        "    - Reset the GPU (or reboot) when its jobs have ended",
        "References: NVIDIA Xid catalog, edition of 2026-08",
    ):
        assert part in text


def test_an_xid_in_chinese() -> None:
    text = told("xid:63", "--lang", "zh")
    for part in (
        "坏行已标记待重映射",
        "立即：无需处理（IGNORE：无需处理）",
        "其他工具的看法：",
        "读取它的规则",
        "参考: ",
    ):
        assert part in text
    assert "Now" not in text


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("xid:79", ["Now: reboot the node (RESTART_BM: restart the host)", "If it comes back: CONTACT_SUPPORT: contact support"]),
        ("xid:056", ["Marked as unused", "Azure's health checks", "Now: investigate further"]),
        ("xid:171", ["Now: reset the GPU", "More than its source states, since: NVIDIA Xid catalog: printed in addition to Xid 48"]),
        ("xid:45", ["Secondary: never the first cause.", "Can follow from: any other Xid", "drained 77 healthy nodes"]),
        ("sxid:20034", ["Class: fatal", "Can follow from: Xid 79, 74", "that GPU is the cause"]),
        ("sxid:12028", ["Class: non-fatal", "Now: nothing to do"]),
        ("DCGM_FR_FALLEN_OFF_BUS", ["Now: reboot the node (RESTART_BM: restart the host)", "gpu.fell-off-bus [strong]"]),
        ("dcgm:DCGM_FR_NVLINK_DOWN", ["nvlink.link-down"]),
        ("dcgm:GPU_TEMP_HW_SLOWDOWN_VIOLATION", ["gpu.thermal-throttle"]),
        ("cuda:802", ["cudaErrorSystemNotReady / CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized", "node.fabric-manager-down"]),
        ("cudaErrorIllegalAddress", ["CUDA 700", "Now: restart the application"]),
        ("nvml:999", ["NVML_ERROR_UNKNOWN", "runtime.device-access-lost"]),
        ("NVML_ERROR_GPU_IS_LOST", ["NVML 15", "gpu.fell-off-bus"]),
    ],
)  # fmt: skip
def test_codes_of_each_table(name: str, parts: list[str]) -> None:
    text = told(name)
    assert [part for part in parts if part not in text] == []
    chinese = told(name, "--lang", "zh")
    assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese.splitlines()[1 if "\n" in chinese else 0])


def test_a_code_that_only_rules_know() -> None:
    text = told("xid:173")
    assert "Not in our table of Xid codes" in text
    assert "gpu.c2c-error [decisive]" in text


def test_a_code_that_only_the_pasted_line_knows() -> None:
    text = told("xid:199", "[ 12.5] NVRM: Xid (PCI:0000:3b:00): 199, pid=7, name=python3, something new")
    assert "Not in our table of Xid codes" in text
    assert "PCI address 0000:3b:00.0, pid 7, process python3" in text
    assert "something new" in text


def test_a_pasted_line_is_decoded() -> None:
    text = told("xid:145", f"Aug 20 23:41:07 node-a kernel: [310912.44] {RLW}")
    assert "link 03, unit RLW_SRC_TRACK, severity Nonfatal" in text
    assert "Decoded for drivers before R575" in text
    assert "Now: XID_154_EVAL: with an Xid 154 beside it do what that says; else restart the application" in text
    assert text.count("Now: ") == 1


@pytest.mark.parametrize(
    "driver",
    ["Driver Version: 580.95.05", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release"],
)
def test_a_pasted_driver_version_chooses_the_family(driver: str) -> None:
    text = told("xid:149", f"{driver}\n{LINK_DOWN}", "--lang", "zh")
    assert "按 R575 及之后的驱动解码（驱动 580.95.05）" in text
    assert "对端被禁用" in text
    assert "立即：RESET_GPU：复位 GPU" in text


def test_a_driver_of_the_other_family_says_so() -> None:
    text = told("xid:149", f"Driver Version: 570.124.06\n{LINK_DOWN}")
    assert "The registers 0x02100011, 0x00000000 fit no unit of the catalog." in text


def test_registers_of_an_xid_74() -> None:
    line = "NVRM: Xid (PCI:0003:00:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14"
    text = told(f"xid:74 {line}(0x100010, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)")
    assert "Registers of link 14" in text
    assert text.index("register 1, bit 4:") < text.index("register 1, bit 20:")
    assert "ECC or parity" in text
    assert "Report them to NVIDIA" in told("xid:74", f"{line}(0x8, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)")
    assert "No bit is set" in told("xid:74", f"{line}(0x0, 0x1, 0x0, 0x0, 0x0, 0x0, 0x0)")


def test_the_line_alone_is_enough() -> None:
    assert told(RLW).startswith("Xid 145  NVLINK_RLW_ERROR")
    assert told("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 63 LTSSM Fault Up").startswith(
        "SXid 20034"
    )


def test_a_line_of_another_code() -> None:
    text = told("xid:149", RLW)
    assert "This line is Xid 145." in text
    assert text.startswith("Xid 149")


def test_a_line_without_a_code() -> None:
    assert "The pasted text holds no Xid or SXid line." in told("xid:79", "hello [bold]world[/]")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("0x4 (Drain and Reset)", "let the jobs on this GPU end, then reset it"),
        ("0x3 (Drain P2P)", "end what reaches this GPU from others"),
        ("0x2 (Node Reboot Required)", "reboot the node"),
        ("0x1 (GPU Reset Required)", "reset the GPU"),
        ("0x0 (None)", "do nothing any more"),
    ],
)
def test_the_recovery_action_of_xid_154(words: str, said: str) -> None:
    text = told(
        "xid:154",
        f"NVRM: Xid (PCI:0009:01:00): 154, pid=9, name=nvidia-smi, GPU recovery action changed from 0x5 (X) to {words}",
    )
    assert f"The driver asks to: {said}" in text
    assert "not the culprit" in text
    assert "Now: " not in text


# --- every Xid in use, as each driver branch prints it, behind each prefix


TEXTS = {
    13: "Graphics SM Warp Exception on (GPC 3, TPC 2, SM 0): Out Of Range Address",
    31: "Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC6 GPCCLIENT_T1_13 faulted @ 0x6f6f_320c2000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    32: "Channel ID 0000000d intr0 00040000",
    48: "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr 0x18f31d80 partition 5, subpartition 1.",
    62: "0a6b(2bf4) 8500ea1f 00000000",
    63: "Row Remapper: New row (0x0000000018f31d80) marked for remapping, reset gpu to activate.",
    64: "Row Remapper Error: (0x0000000018f31d80) - All reserved rows for bank are remapped",
    69: "Class Error: ChId 0008, Class 0000cbc0, Offset 00000000, Data 00000000, ErrorCode 00000004",
    74: "NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)",
    79: "GPU has fallen off the bus.",
    94: "Contained: SM (0x1). RST: No, D-RST: No",
    95: "Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: No",
    109: "errorString CTX SWITCH TIMEOUT, Info 0x58005",
    119: "Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) sequence 24174 (0x20800a4c 0x4).",
    120: "GSP Error: Task 1 raised error code 0x5 for reason 0x0 at 0x63f01ac",
    137: "RLW_RXPIPE interrupt hit on link 11 on GPU0: PRIV Error",
    140: "An uncorrectable ECC error detected (possible firmware handling failure) DRAM:1, LTC:0, MMU:0, PCIE:0",
    144: "SAW_MVB Fatal XC0 i0 Link 02 (0x00000021 0x00000002 0x0)",
    145: "RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x0)",
    146: "TLW_CTRL Fatal   XC0 i0 Link -1 (0x00000123 0x00000004 0x0)",
    147: "TREX Nonfatal XC0 i0 Link 00 (0x00000184 0x80000000 0x0)",
    148: "NVLPW Nonfatal XC0 i0 Link 00 (0x0000000f 0x80000000 0x0)",
    149: "NETIR_LINK_EVT  Fatal   XC0 i0 Link 09 (0x004505c6 0x00000000 0x0)",
    150: "MSE_WATCHDOG Fatal XC0 i0 Link -1 (0x00000000 0x00000000 0x0)",
    154: "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
    171: "HBM, Uncorrectable DRAM error in FBPA 9 subpartition 1 physAddr 0x18f31d80",
    172: "Uncorrectable SRAM error in LTC 3",
}  # fmt: skip
BRANCHES = {
    "before 450": "NVRM: Xid (0000:3b:00): {code}, {text}",
    "450 to 470": "NVRM: Xid (PCI:0000:3b:00): {code}, pid=57530, {text}",
    "470 to 560": "NVRM: Xid (PCI:0000:3b:00): {code}, pid=57530, name=python3, {text}",
    "470 to 560, nobody": "NVRM: Xid (PCI:0000:3b:00): {code}, pid='<unknown>', name=<unknown>, {text}",
    "from 570": "NVRM: Xid (PCI:0000:3b:00): {code}, {text}",
    "MIG": "NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): {code}, pid=57530, name=python3, {text}",
}
PREFIXES = (
    "", "[449410.332316] ", "[Fri Apr  5 21:29:39 2024] ", "[  +0.000127] ", "[Jan 2 09:41] ", "[  130.456250] [   T1946] ",
    "kern  :warn  : 2025-01-21T04:41:44,283302+00:00 ", "kern  :err   : [449410.332316] ",
    "Aug 20 23:41:07 node-a kernel: [310912.44] ", "Aug 20 23:41:07 node-a kernel: ", "kernel: ", "4月 28 15:08:10 node-a kernel: ",
    "node-a: kern: warning: [2025-01-02T03:04:05.678Z]: ", "19:14:43  ", "2026-01-31T04:15:00.123456+00:00 node-a kernel: ",
)  # fmt: skip


def lines_of(code: int) -> list[str]:
    text = TEXTS.get(code, "Ch 00000010" if code % 2 else "channel 0x00000008")
    return [form.format(code=code, text=text) for form in BRANCHES.values()]


@pytest.fixture(scope="module")
def knowledge() -> tuple[Rulebook, Tables]:
    rulebook = load_rulebook()
    return rulebook, load_tables(find_rules_folder(), rulebook.vocabulary.causes)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_each_xid_is_read_in_each_form(prefix: str, knowledge: tuple[Rulebook, Tables]) -> None:
    used = [int(code.code) for code in knowledge[1].codes["xid"].values() if code.in_use]
    assert len(used) == 109
    lines = [(code, prefix + line) for code in used for line in lines_of(code)]
    found = observed(read(nvrm, "\n".join(line for _, line in lines) + "\n"), "xid")
    assert [(one.line, one.code, one.entity) for one in found] == [
        (number, str(code), "gpu:0000:3b:00.0") for number, (code, _) in enumerate(lines, 1)
    ]
    assert [one.code for one in read_pasted("\n".join(line for _, line in lines))] == [str(code) for code, _ in lines]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_xid_is_explained_in_each_form(language: Language, knowledge: tuple[Rulebook, Tables]) -> None:
    rulebook, tables = knowledge
    for code in tables.codes["xid"].values():
        if not code.in_use:
            continue
        for number, line in enumerate(lines_of(int(code.code))):
            shown = [
                str(one)
                for one in explain_code(f"xid:{code.code}", PREFIXES[number] + line, rulebook, tables, language)
            ]
            text = "\n".join(shown)
            assert shown[0] == f"Xid {code.code}  {code.name}"
            assert shown[1] == code.meaning.in_language(language)
            assert "0000:3b:00.0" in text
            assert code.harmless or f"  {code.cause}" in text
            assert code.source in text
            if code.code == "74":
                assert ("Registers of link 14" if language == "en" else "链路 14 的寄存器") in text
            if 144 <= int(code.code) <= 150:
                assert ("Decoded for drivers" if language == "en" else "驱动解码") in text, line
