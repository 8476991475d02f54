"""`nvidia-smi -q` as text and as XML (`-q -x`): one `field` observation for each field that tells health.

Drivers 340 to 595; documented in the nvidia-smi manual page. The colon's column and some names drift between releases
(`Clocks Throttle Reasons` became `Clocks Event Reasons`), so a field is told by its key and its section. A paste may begin
in the middle, at a `GPU 00000000:3B:00.0` line. Samples::

    GPU 00000000:0A:00.0
        Clocks Event Reasons
            HW Slowdown                       : Active
                HW Power Brake Slowdown       : Active
    <clocks_event_reason_hw_power_brake_slowdown>Active</clocks_event_reason_hw_power_brake_slowdown>
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.gpu.gpu_state import make_groups
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record, Relation
from collectors.regex import compile_later

SOURCE = "nvidia-smi"
LAYERS = ("hardware", "node")
SIGNATURES = (
    r"^=+NVSMI LOG=+", r"^GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]\s*$", r"^\s*</?nvidia_smi_log>",
    r"^    (?:Product Name|Clocks (?:Event|Throttle) Reasons|ECC Errors|Remapped Rows|FB Memory Usage) *(?::|$)",
)  # fmt: skip
HEADS = (
    r"^GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]\s*$", r"^\s*<gpu id=\"",
    r"^    (?:Fabric|Remapped Rows|Retired Pages|ECC Errors|Clocks (?:Event|Throttle) Reasons|(?:GPU )?Power Readings|MIG Mode)\s*$",
)  # fmt: skip

_GPU = compile_later(r"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*$")
_FIELD = compile_later(r"^(?P<indent> {4,})(?P<key>\S.*?)\s*(?:(?<= ): (?P<value>.*))?$")
_SECTIONS = (  # sections whose fields tell health; the rest is inventory
    "Clocks Event Reasons", "ECC Mode", "ECC Errors", "Retired Pages", "Remapped Rows", "GPU Reset Status", "Fabric", "MIG Mode",
    "PCI/Replay", "Utilization", "GPU Recovery Action", "Performance State", "Persistence Mode", "Temperature", "Product Name",
    "Channel Repair", "GPU Fabric GUID", "Row Remapper",
)  # fmt: skip
_RENAMED = {
    "Clocks Throttle Reasons": "Clocks Event Reasons",
    "Ecc Mode": "ECC Mode",
    "GPU Power Readings": "GPU Power Readings",
}
_TAG = compile_later(r"^\s*<(?P<tag>[a-z0-9_]+)>(?P<value>[^<]*)</(?P=tag)>\s*$")
_OPEN = compile_later(r"^\s*<(?P<close>/?)(?P<tag>[a-z0-9_]+)(?: id=\"(?P<id>[^\"]+)\")?>\s*$")
_XML = {  # XML tag -> (section, field); tags that occur in several sections stand with their parent
    "clocks_event_reason_hw_slowdown": ("Clocks Event Reasons", "HW Slowdown"),
    "clocks_event_reason_hw_thermal_slowdown": ("Clocks Event Reasons", "HW Thermal Slowdown"),
    "clocks_event_reason_hw_power_brake_slowdown": ("Clocks Event Reasons", "HW Power Brake Slowdown"),
    "clocks_event_reason_sw_thermal_slowdown": ("Clocks Event Reasons", "SW Thermal Slowdown"),
    "clocks_event_reason_sw_power_cap": ("Clocks Event Reasons", "SW Power Cap"),
    "clocks_event_reason_gpu_idle": ("Clocks Event Reasons", "Idle"),
    "clocks_event_reason_applications_clocks_setting": ("Clocks Event Reasons", "Applications Clocks Setting"),
    "remapped_row_corr": ("Remapped Rows", "Correctable Error"),
    "remapped_row_unc": ("Remapped Rows", "Uncorrectable Error"),
    "remapped_row_pending": ("Remapped Rows", "Pending"),
    "remapped_row_failure": ("Remapped Rows", "Remapping Failure Occurred"),
    "pending_retirement": ("Retired Pages", "Pending Page Blacklist"),
    "pending_blacklist": ("Retired Pages", "Pending Page Blacklist"),
    "reset_required": ("GPU Reset Status", "Reset Required"),
    "drain_and_reset_recommended": ("GPU Reset Status", "Drain and Reset Recommended"),
    "gpu_recovery_action": ("", "GPU Recovery Action"),
    "performance_state": ("", "Performance State"),
    "gpu_util": ("Utilization", "Gpu"),
    "fabric/state": ("Fabric", "State"),
    "fabric/status": ("Fabric", "Status"),
    "volatile/sram_uncorrectable": ("ECC Errors/Volatile", "SRAM Uncorrectable"),
    "volatile/sram_uncorrectable_parity": ("ECC Errors/Volatile", "SRAM Uncorrectable Parity"),
    "volatile/sram_uncorrectable_secded": ("ECC Errors/Volatile", "SRAM Uncorrectable SEC-DED"),
    "volatile/dram_uncorrectable": ("ECC Errors/Volatile", "DRAM Uncorrectable"),
    "aggregate/sram_threshold_exceeded": ("ECC Errors/Aggregate", "SRAM Threshold Exceeded"),
    "gpu_power_readings/power_draw": ("GPU Power Readings", "Power Draw"),
    "gpu_power_readings/current_power_limit": ("GPU Power Readings", "Current Power Limit"),
    "gpu_power_readings/requested_power_limit": ("GPU Power Readings", "Requested Power Limit"),
    "gpu_power_readings/default_power_limit": ("GPU Power Readings", "Default Power Limit"),
    "pcie_gen/current_link_gen": ("PCI/GPU Link Info/PCIe Generation", "Current"),
    "pcie_gen/max_link_gen": ("PCI/GPU Link Info/PCIe Generation", "Max"),
    "link_widths/current_link_width": ("PCI/GPU Link Info/Link Width", "Current"),
    "link_widths/max_link_width": ("PCI/GPU Link Info/Link Width", "Max"),
}

_NUMBERS = {  # other names of a GPU, each with its own numbering
    "Minor Number": "minor", "minor_number": "minor", "Serial Number": "serial", "serial": "serial", "GPU Module ID": "module",
    "Module ID": "module", "Module Id": "module", "module_id": "module", "gpu_module_id": "module",
}  # fmt: skip


def parse_block(reader: Reader) -> Iterator[Record]:
    """Read one GPU's section and yield its `field`s, groups of comparable fields and its names."""
    number, begin, head = reader.number, reader.place(), reader.next() or ""
    match = _GPU.match(head)
    xml = "<gpu id=" in head
    pci = normalise_pci(match[1] if match else head.partition('"')[2].partition('"')[0]) or ""
    if not pci and (match or xml):
        return
    if not pci:  # a section that was cut out (`grep -A4 Fabric`): it does not say of which GPU
        reader.back(begin)
    gpu = f"gpu:{pci}" if pci else ""
    values: dict[str, tuple[str, int]] = {}
    for path, value, line in _read_xml(reader) if xml else _read_text(reader):
        values.setdefault(path, (value, line))
        section, _, key = path.rpartition("/")
        if key in ("GPU UUID", "uuid") and gpu:
            yield Relation(gpu, f"gpu:{value}", "same", reader.input, line)
        elif key in _NUMBERS and gpu and value not in ("N/A", "[N/A]", "0" if "erial" in key else ""):
            yield Relation(gpu, f"gpu:{_NUMBERS[key]}-{value}", "same", reader.input, line)
        elif path.startswith(_SECTIONS) and value not in ("N/A", "[N/A]"):
            found = {**({"pci": pci} if pci else {}), "section": section, "path": path, "value": value}
            text = f"{key} : {value}"
            yield Observation(SOURCE, "field", reader.input, line, line, text, code=key, entity=gpu, attributes=found)
    reasons = {f"reason_{name}": values[path][0] for name, path in _REASONS if path in values}
    model = values.get("Product Name", values.get("product_name", ("", 0)))[0]
    yield from make_groups(
        SOURCE, reader.input, values, "", gpu, pci, {**reasons, **({"model": model} if model else {})}
    )
    listed = {"pci": pci, "model": model}
    yield Observation(
        SOURCE, "gpu_listed", reader.input, number, number, head.strip(), code=model, entity=gpu, attributes=listed
    )


_REASONS = (
    ("idle", "Clocks Event Reasons/Idle"), ("power_cap", "Clocks Event Reasons/SW Power Cap"),
    ("application", "Clocks Event Reasons/Applications Clocks Setting"), ("hw", "Clocks Event Reasons/HW Slowdown"),
)  # fmt: skip


def _read_text(reader: Reader) -> Iterator[tuple[str, str, int]]:
    """Yield (path, value, line) of the indented fields below a `GPU ...` line."""
    open_sections: list[tuple[int, str]] = []
    while True:
        text = reader.peek()
        if text is None or (text and not text.startswith("    ")):
            return
        number = reader.number
        reader.next()
        match = _FIELD.match(text[:400])
        if not match:
            continue
        indent = len(match["indent"])
        while open_sections and open_sections[-1][0] >= indent:
            open_sections.pop()
        key = _RENAMED.get(match["key"], match["key"])
        if key == "HW Slowdown" or match["value"] is None:
            open_sections.append((indent, "" if key == "HW Slowdown" else key))
        if match["value"] is not None:
            path = "/".join([*(name for _, name in open_sections if name), key])
            yield path, match["value"].strip(), number


def _read_xml(reader: Reader) -> Iterator[tuple[str, str, int]]:
    """Yield (path as `-q` would have it, value, line) of one `<gpu>` element."""
    parents: list[str] = []
    for number, text in reader.lines(3000):
        match = _TAG.match(text)
        if match:
            tag = match["tag"].replace("clocks_throttle_reason_", "clocks_event_reason_")
            parent = parents[-1] if parents else ""
            if "mig_device" in parents:
                continue
            if tag == "uuid":
                yield "GPU UUID", match["value"].strip(), number
            elif tag == "product_name":
                yield "Product Name", match["value"].strip(), number
            place = _XML.get(tag) or _XML.get(f"{parent}/{tag}")
            if place:
                yield f"{place[0]}/{place[1]}".lstrip("/"), match["value"].strip(), number
            continue
        match = _OPEN.match(text)
        if match and match["close"]:
            if match["tag"] in ("gpu", "nvidia_smi_log"):
                return
            if parents and parents[-1] == match["tag"]:
                parents.pop()
        elif match and match["tag"] != "gpu":
            parents.append(match["tag"])
