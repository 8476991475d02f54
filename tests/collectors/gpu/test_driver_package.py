"""Loaded, installed and built drivers, and the head of a bug report."""

from __future__ import annotations

from collectors.gpu import bug_report, driver_package, kernel_modules
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

LOADED = (FIXTURES / "driver" / "installed-and-loaded.txt").read_text()
OTHER = (FIXTURES / "driver" / "built-for-another-kernel.txt").read_text()
REPORT = (FIXTURES / "bug-report" / "head-and-sections.log").read_text()


def test_what_is_loaded_and_installed() -> None:
    records = read(driver_package, LOADED)
    (module,) = observed(records, "driver_module")
    assert (module.code, module.attributes["open"]) == ("570.172.08", "yes")
    (file,) = observed(records, "modinfo")
    assert (file.code, file.attributes["kernel"], file.attributes["signed"]) == (
        "570.181.00",
        "5.15.0-153-generic",
        "no",
    )
    assert [one.attributes["kernel"] for one in observed(records, "dkms")] == [
        "5.15.0-151-generic",
        "5.15.0-153-generic",
    ]
    assert [one.code for one in observed(records, "running_kernel")] == ["5.15.0-153-generic"]
    assert [one.code for one in observed(records, "secure_boot")] == ["disabled"]


def test_old_dkms_and_a_missing_module() -> None:
    records = read(driver_package, OTHER)
    assert [(one.code, one.attributes["driver"], one.node) for one in observed(records, "dkms")] == [
        ("installed", "535.230.02", "node-b")
    ] * 2
    assert [one.code for one in observed(records, "modinfo")] == ["absent"]
    assert [one.code for one in observed(records, "secure_boot")] == ["enabled"]


def test_modules() -> None:
    (some,) = observed(read(kernel_modules, LOADED), "kernel_modules")
    assert (some.code, some.attributes.get("nouveau")) == ("loaded", None)
    rows = "\n".join(f"module{number} 16384 0 - Live 0xffffffffc0000000" for number in range(20))
    (whole,) = observed(read(kernel_modules, rows), "kernel_modules")
    assert (whole.code, whole.attributes["nvidia"], whole.attributes["nouveau"]) == ("absent", "no", "no")
    (proc,) = observed(
        read(kernel_modules, rows + "\nnvidia 56807424 2 nvidia_uvm,nvidia_modeset, Live 0xffffffffc0591000 (POE)"),
        "kernel_modules",
    )
    assert (proc.code, proc.line) == ("loaded", 21)


def test_bug_report() -> None:
    (head,) = observed(read(bug_report, REPORT), "bug_report")
    assert (head.node, head.attributes["kernel"], head.time) == ("node-1", "5.4.0-70-generic", 1621431821.0)
    records = read(driver_package, REPORT)
    assert [one.code for one in observed(records, "driver_module")] == ["460.56"]
    assert [one.attributes["kernel"] for one in observed(records, "modinfo")] == ["5.4.0-70-generic"]
    without = REPORT.replace("vermagic:       5.4.0-70-generic SMP mod_unload modversions\n", "")
    assert [one.code for one in observed(read(driver_package, without), "modinfo")] == ["absent"]


def test_odd_input_yields_nothing() -> None:
    for text in ("NVRM version: x", "nvidia/5, x", "$ modinfo nvidia", "6.1.0", "Linux 5", "SecureBoot", "filename: x"):
        assert read(driver_package, text) == []
    for text in ("Module Size Used by\n", "nvidia one two", "a 12345 1 - Live 0x0"):
        assert read(kernel_modules, text) == []
