"""DCGM's own sentences, told by their code: `dcgmi health` and `dcgmi diag` print the message and not the name of the error.

DCGM 2.x to 4.x, `dcgmlib/dcgm_errors.h` (`DCGM_FR_*_MSG`); also in the JSON of `-j`, in nv-hostengine's log and in what health
agents relay. A box cuts sentences at its cell's width, so blanks may be missing. Samples::

    GPU 3 had memory errors and row remappings are pending
    Detected 4 volatile double-bit ECC error(s) in GPU 5.
    GPU 4's NvLink link 7 is currently down
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.observation import Observation, Record
from collectors.prefix import Line
from collectors.regex import compile_later

SOURCE = "dcgm"
LAYERS = ("hardware",)
SIGNATURES: tuple[str, ...] = ()

_SENTENCES = {
    "PCI_REPLAY_RATE": r"Detected more than \d+ PCIe replays per minute",
    "VOLATILE_DBE_DETECTED": r"Detected \d+ volatile double-bit ECC error|\d+ double-bit errors were detected",
    "VOLATILE_SBE_DETECTED": r"More than \d+ single-bit ECC error",
    "PENDING_PAGE_RETIREMENTS": r"A pending retired page has been detected",
    "RETIRED_PAGES_LIMIT": r"\d+ or more retired pages have been detected",
    "RETIRED_PAGES_DBE_LIMIT": r"An excess of \d+ retired pages due to DBEs",
    "CORRUPT_INFOROM": r"A corrupt InfoROM has been detected",
    "CLOCKS_EVENT_THERMAL": r"Detected (?:clock throttling|clocks? events?) due to thermal violation",
    "CLOCKS_EVENT_POWER": r"Detected (?:clock throttling|clocks? events?) due to power violation",
    "THERMAL_VIOLATIONS": r"[Tt]hermal violations totaling",
    "TEMP_VIOLATION": r"Temperature \d+ of GPU \d+ exceeded user-specified maximum",
    "NVLINK_ERROR_THRESHOLD": r"NvLink errors on GPU \d+'s NVLink which exceeds",
    "NVLINK_ERROR_CRITICAL": r"NvLink errors on GPU \d+'s NVLink \(should be 0\)",
    "NVLINK_CRC_ERROR_THRESHOLD": r"NvLink errors found occuring per second on GPU",
    "NVLINK_EFFECTIVE_BER_THRESHOLD": r"Detected effective BER \S+ exceeds minimum threshold on GPU \d+",
    "NVLINK_SYMBOL_BER_THRESHOLD": r"Detected symbol BER \S+ exceeds minimum threshold on GPU \d+",
    "SRAM_THRESHOLD": r"SRAM Threshold Count exceeded on GPU \d+",
    "FALLEN_OFF_BUS": r"^[^:]*\bGPU \d{1,3} has fallen off the bus|: GPU \d{1,3} has fallen off the bus",
    "FABRIC_PROBE_STATE": r"GPU \d+: Fabric State is ",
    "FABRIC_MANAGER_TRAINING_ERROR": r"Fabric Manager \(Cluster UUID: [^,)]+, Clique ID: -?\d+, Health Mask: ",
    "NVLINK_DOWN": r"GPU \d+'s NvLink link \d+ is currently down",
    "GPU_EXPECTED_NVLINKS_UP": r"Only \d+ NvLinks are up out of the expected \d+",
    "NVSWITCH_FATAL_ERROR": r"Detected fatal errors on NvSwitch \d+",
    "NVSWITCH_DOWN": r"NvSwitch physical ID \d+'s NvLink port \d+ is currently down",
    "NVSWITCH_NVLINK_DOWN": r"NVSwitch \d+'s NvLink \d+ is down",
    "SXID_ERROR": r"Detected fatal NvSwitch SXID \d+",
    "LOW_BANDWIDTH": r"Bandwidth of GPU \d+ in direction \S+ of [\d.]+ did not exceed",
    "PCIE_GENERATION": r"is running at PCI link generation \d+, which is below",
    "PCIE_WIDTH": r"is running at PCI link width \d+X, which is below",
    "PCIE_H_REPLAY_VIOLATION": r"GPU \d+ host-side PCIe replay violation",
    "FAULTY_MEMORY": r"Found \d+ faulty memory elements",
    "NAN_VALUE": r"Found \d+ NaN-value memory elements",
    "MEMORY_MISMATCH": r"A memory mismatch was detected on GPU",
    "L1TAG_MISCOMPARE": r"Detected a miscompare failure in the L1 cache",
    "CUDA_DBE": r"CUDA APIs have indicated that a double-bit ECC error",
    "ROW_REMAP_FAILURE": r"had uncorrectable memory errors and row remapping failed",
    "PENDING_ROW_REMAP": r"had memory errors and row remappings are pending",
    "DBE_PENDING_PAGE_RETIREMENTS": r"Pending page retirements together with a DBE",
    "UNCONTAINED_ERROR": r"GPU(?: \d+)? had an uncontained error",
    "BROKEN_P2P_MEMORY_DEVICE": r"GPU \d+ was unsuccessfully written to (?:by GPU \d+ )?in a peer-to-peer test",
    "BROKEN_P2P_WRITER_DEVICE": r"GPU \d+ unsuccessfully wrote data (?:to GPU \d+ )?in a peer-to-peer test",
    "BROKEN_P2P_PCIE_MEMORY_DEVICE": r"GPU \d+ was unsuccessfully written to by GPU \d+ over PCIe in a peer-to-peer test",
    "BROKEN_P2P_PCIE_WRITER_DEVICE": r"GPU \d+ unsuccessfully wrote data to GPU \d+ over PCIe in a peer-to-peer test",
    "BROKEN_P2P_NVLINK_MEMORY_DEVICE": r"GPU \d+ was unsuccessfully written to by GPU \d+ over NVLink in a peer-to-peer test",
    "BROKEN_P2P_NVLINK_WRITER_DEVICE": r"GPU \d+ unsuccessfully wrote data to GPU \d+ over NVLink in a peer-to-peer test",
    "ENFORCED_POWER_LIMIT": r"Enforced power limit on GPU \d+ set to [\d.]+, which is too low",
}  # fmt: skip
_MESSAGES = tuple(
    (
        f"DCGM_FR_{code}",
        compile_later(regex.replace(r"\d+", r"\d{1,9}").replace(" ", r"\s*")),
    )  # no search that begins anew at each digit
    for code, regex in _SENTENCES.items()
)
ANCHORS = tuple(_SENTENCES.values())
_GPU = compile_later(r"GPU\s?(\d{1,3})(?![\d-])")


def parse_line(line: Line) -> Iterator[Record]:
    """Yield `dcgm_code` for each of DCGM's sentences in a line that does not name the code itself."""
    if "DCGM_FR_" not in line.text:
        yield from find_codes(line.text, line.input, line.number, time=line.time, host=line.host)


def find_codes(
    text: str, name: str, number: int, *, last: int = 0, time: float | None = None, host: str = ""
) -> Iterator[Observation]:
    """Yield `dcgm_code` observations for the sentences in a text, which may be joined from several lines."""
    for code, regex in _MESSAGES:
        if regex.search(text):
            gpu = _GPU.search(text)
            found = {"gpu": gpu[1]} if gpu else {}
            yield Observation(
                SOURCE, "dcgm_code", name, number, last or number, text, code=code, time=time, node=host,
                entity=f"gpu:dcgm-{gpu[1]}" if gpu else "", attributes=found,
            )  # fmt: skip
