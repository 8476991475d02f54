"""One shape for what `nvidia-smi -q`, `-q -x` and `--query-gpu` tell about a GPU: `field` observations by their plain names.

Field names are those of `nvidia-smi -q`; the CSV and XML names of the same thing are mapped onto them. Fields that are
compared with each other (current and requested power limit) also stand together in one observation of a kind:
`gpu_power`, `gpu_clocks`, `gpu_link`, `gpu_temperature`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collectors.observation import Observation

# CSV column -> (section, field)
COLUMNS: dict[str, tuple[str, str]] = {
    "pstate": ("", "Performance State"),
    "utilization.gpu": ("Utilization", "Gpu"),
    "utilization.memory": ("Utilization", "Memory"),
    "memory.used": ("FB Memory Usage", "Used"),
    "memory.total": ("FB Memory Usage", "Total"),
    "fabric.state": ("Fabric", "State"),
    "fabric.status": ("Fabric", "Status"),
    "mig.mode.current": ("MIG Mode", "Current"),
    "mig.mode.pending": ("MIG Mode", "Pending"),
    "gpu_recovery_action": ("", "GPU Recovery Action"),
    "reset_status.reset_required": ("GPU Reset Status", "Reset Required"),
    "reset_status.drain_and_reset_recommended": ("GPU Reset Status", "Drain and Reset Recommended"),
    "retired_pages.pending": ("Retired Pages", "Pending Page Blacklist"),
    "retired_pages.double_bit.count": ("Retired Pages", "Double Bit ECC"),
    "retired_pages.single_bit_ecc.count": ("Retired Pages", "Single Bit ECC"),
    "remapped_rows.correctable": ("Remapped Rows", "Correctable Error"),
    "remapped_rows.uncorrectable": ("Remapped Rows", "Uncorrectable Error"),
    "remapped_rows.pending": ("Remapped Rows", "Pending"),
    "remapped_rows.failure": ("Remapped Rows", "Remapping Failure Occurred"),
    "ecc.mode.current": ("ECC Mode", "Current"),
    "ecc.errors.corrected.volatile.total": ("ECC Errors/Volatile", "Total Correctable"),
    "ecc.errors.uncorrected.volatile.total": ("ECC Errors/Volatile", "Total Uncorrectable"),
    "ecc.errors.uncorrected.volatile.dram": ("ECC Errors/Volatile", "DRAM Uncorrectable"),
    "ecc.errors.uncorrected.volatile.sram": ("ECC Errors/Volatile", "SRAM Uncorrectable"),
    "ecc.errors.uncorrected.aggregate.total": ("ECC Errors/Aggregate", "Total Uncorrectable"),
    "ecc.errors.corrected.aggregate.total": ("ECC Errors/Aggregate", "Total Correctable"),
    "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded": ("ECC Errors/Aggregate", "SRAM Threshold Exceeded"),
}
for _word in ("clocks_throttle_reasons", "clocks_event_reasons"):
    COLUMNS.update(
        {
            f"{_word}.gpu_idle": ("Clocks Event Reasons", "Idle"),
            f"{_word}.applications_clocks_setting": ("Clocks Event Reasons", "Applications Clocks Setting"),
            f"{_word}.sw_power_cap": ("Clocks Event Reasons", "SW Power Cap"),
            f"{_word}.hw_slowdown": ("Clocks Event Reasons", "HW Slowdown"),
            f"{_word}.hw_thermal_slowdown": ("Clocks Event Reasons", "HW Thermal Slowdown"),
            f"{_word}.hw_power_brake_slowdown": ("Clocks Event Reasons", "HW Power Brake Slowdown"),
            f"{_word}.sw_thermal_slowdown": ("Clocks Event Reasons", "SW Thermal Slowdown"),
            f"{_word}.sync_boost": ("Clocks Event Reasons", "Sync Boost"),
        }
    )
REASON_BITS = {
    0x1: "Idle", 0x2: "Applications Clocks Setting", 0x4: "SW Power Cap", 0x8: "HW Slowdown", 0x10: "Sync Boost",
    0x20: "SW Thermal Slowdown", 0x40: "HW Thermal Slowdown", 0x80: "HW Power Brake Slowdown",
}  # fmt: skip

# kind -> attribute -> (the CSV columns, the path of `-q` without the GPU) that hold it
GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "gpu_power": {
        "draw": ("power.draw", "power.draw.instant", "power.draw.average", "GPU Power Readings/Power Draw", "Power Readings/Power Draw",
                 "GPU Power Readings/Average Power Draw", "GPU Power Readings/Instantaneous Power Draw"),
        "limit": ("enforced.power.limit", "power.limit", "GPU Power Readings/Current Power Limit",
                  "Power Readings/Enforced Power Limit", "Power Readings/Power Limit"),
        "requested": ("GPU Power Readings/Requested Power Limit", "Power Readings/Power Limit", "power.limit"),
        "default": ("power.default_limit", "GPU Power Readings/Default Power Limit", "Power Readings/Default Power Limit"),
        "min": ("power.min_limit", "GPU Power Readings/Min Power Limit", "Power Readings/Min Power Limit"),
        "max": ("power.max_limit", "GPU Power Readings/Max Power Limit", "Power Readings/Max Power Limit"),
    },
    "gpu_clocks": {
        "sm": ("clocks.current.sm", "clocks.sm", "clocks.current.graphics", "clocks.gr", "Clocks/SM", "Clocks/Graphics"),
        "max": ("clocks.max.sm", "clocks.max.graphics", "clocks.max.gr", "Max Clocks/SM", "Max Clocks/Graphics"),
        "application": ("clocks.applications.graphics", "clocks.applications.gr", "Applications Clocks/Graphics"),
        "default": ("clocks.default_applications.graphics", "clocks.default_applications.gr", "Default Applications Clocks/Graphics"),
        "customer_max": ("Max Customer Boost Clocks/Graphics",),
    },
    "gpu_link": {
        "generation": ("pcie.link.gen.current", "pcie.link.gen.gpucurrent", "PCI/GPU Link Info/PCIe Generation/Current"),
        "generation_max": ("pcie.link.gen.max", "pcie.link.gen.gpumax", "PCI/GPU Link Info/PCIe Generation/Max"),
        "width": ("pcie.link.width.current", "PCI/GPU Link Info/Link Width/Current"),
        "width_max": ("pcie.link.width.max", "PCI/GPU Link Info/Link Width/Max"),
        "replays": ("PCI/Replays Since Reset", "PCI/Replays since reset"),
    },
    "gpu_temperature": {
        "gpu": ("temperature.gpu", "Temperature/GPU Current Temp"),
        "memory": ("temperature.memory", "Temperature/Memory Current Temp"),
        "slowdown": ("Temperature/GPU Slowdown Temp",),
        "margin": ("temperature.gpu.tlimit", "Temperature/GPU T.Limit Temp"),
        "most": ("Temperature/GPU Max Operating Temp",),
        "memory_most": ("Temperature/Memory Max Operating Temp",),
    },
}  # fmt: skip


def make_states(
    source: str, name: str, line: int, line_end: int, text: str, row: Mapping[str, str], entity: str, pci: str
) -> Iterator[Observation]:
    """Yield `field` and group observations from one CSV row (column name to cell)."""
    common = {"pci": pci} if pci else {}
    reasons: dict[str, str] = {}
    for column, value in row.items():
        if column in ("clocks_throttle_reasons.active", "clocks_event_reasons.active") and value[:2] in ("0x", "0X"):
            for bit, key in REASON_BITS.items():
                if key in _REASON_NAMES and _is_hex(value):
                    reasons[_REASON_NAMES[key]] = "Active" if int(value, 16) & bit else "Not Active"
        elif column in COLUMNS and COLUMNS[column][1] in _REASON_NAMES:
            reasons[_REASON_NAMES[COLUMNS[column][1]]] = value
        if column in ("clocks_throttle_reasons.active", "clocks_event_reasons.active"):
            yield from _decode_reasons(source, name, line, text, value, entity, common)
        elif column in COLUMNS:
            section, key = COLUMNS[column]
            if column in (
                "remapped_rows.pending",
                "remapped_rows.failure",
            ):  # `--query-remapped-rows` may print numbers
                value = {"0": "No", "1": "Yes"}.get(value, value)
            found = {**common, "section": section, "path": f"{section}/{key}".lstrip("/"), "value": value}
            yield Observation(source, "field", name, line, line_end, text, code=key, entity=entity, attributes=found)
    yield from make_groups(
        source, name, {column: (value, line) for column, value in row.items()}, text, entity, pci, reasons
    )


_REASON_NAMES = {
    "Idle": "reason_idle", "SW Power Cap": "reason_power_cap", "Applications Clocks Setting": "reason_application",
    "HW Slowdown": "reason_hw",
}  # fmt: skip


def _is_hex(text: str) -> bool:
    try:
        int(text, 16)
    except ValueError:
        return False
    return True


def _decode_reasons(
    source: str, name: str, line: int, text: str, value: str, entity: str, common: Mapping[str, str]
) -> Iterator[Observation]:
    try:
        mask = int(value, 16)
    except ValueError:
        return
    for bit, key in REASON_BITS.items():
        state = "Active" if mask & bit else "Not Active"
        found = {**common, "section": "Clocks Event Reasons", "path": f"Clocks Event Reasons/{key}", "value": state}
        yield Observation(source, "field", name, line, line, text, code=key, entity=entity, attributes=found)


def make_groups(
    source: str,
    name: str,
    values: Mapping[str, tuple[str, int]],
    text: str,
    entity: str,
    pci: str,
    extra: Mapping[str, str] | None = None,
) -> Iterator[Observation]:
    """Yield one observation for each group of comparable fields; `values` maps a name to (value, line)."""
    pstate = (values.get("pstate") or values.get("Performance State") or ("", 0))[0]
    use = (values.get("utilization.gpu") or values.get("Utilization/Gpu") or values.get("Utilization/GPU") or ("", 0))[
        0
    ]
    for kind, wanted in GROUPS.items():
        found: dict[str, str] = {}
        lines: list[int] = []
        for attribute, names in wanted.items():
            for one in names:
                value = values.get(one, ("", 0))
                if value[0][:1].isdigit() or value[0][:1] == "-":
                    found[attribute] = value[0]
                    lines.append(value[1])
                    break
        if len(found) < 2:
            continue
        if pci:
            found["pci"] = pci
        if pstate:
            found["pstate"] = pstate
        if use[:1].isdigit():
            found["utilization"] = use
        found.update(extra or {})
        yield Observation(
            source, kind, name, min(lines), max(lines), text or kind, code=pstate, entity=entity, attributes=found
        )
