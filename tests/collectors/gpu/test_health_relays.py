"""DCGM's sentences and the Xids that health agents pass on."""

from __future__ import annotations

import pytest

from collectors.gpu import dcgm, dcgm_messages, nvidia_query, nvidia_smi, nvrm, xid_relays
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read, same

TEXT = (FIXTURES / "dcgm" / "health-sentences.txt").read_text()


def test_sentences_of_a_health_report() -> None:
    records = [*read(dcgm, TEXT), *read(dcgm_messages, TEXT)]
    found = {(one.code, one.entity) for one in observed(records, "dcgm_code")}
    assert ("DCGM_FR_PENDING_ROW_REMAP", "gpu:dcgm-3") in found
    assert ("DCGM_FR_NVLINK_DOWN", "gpu:dcgm-5") in found
    assert ("DCGM_FR_VOLATILE_DBE_DETECTED", "gpu:dcgm-6") in found


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("GPU 2 had uncorrectable memory errors and row remapping failed.", "DCGM_FR_ROW_REMAP_FAILURE"),
        ("Detected clocks event due to thermal violation in GPU 1.", "DCGM_FR_CLOCKS_EVENT_THERMAL"),
        ("Detected clock throttling due to power violation in GPU 1.", "DCGM_FR_CLOCKS_EVENT_POWER"),
        ("Only 10 NvLinks are up out of the expected 18", "DCGM_FR_GPU_EXPECTED_NVLINKS_UP"),
        ("Found 12 faulty memory elements on GPU 0", "DCGM_FR_FAULTY_MEMORY"),
        ("GPU 6 is running at PCI link width 8X, which is below the minimum", "DCGM_FR_PCIE_WIDTH"),
        ("SRAM Threshold Count exceeded on GPU 3: 1", "DCGM_FR_SRAM_THRESHOLD"),
        ("GPU 6 has fallen off the bus", "DCGM_FR_FALLEN_OFF_BUS"),
        ("GPU 2: Fabric State is In Progress (2).", "DCGM_FR_FABRIC_PROBE_STATE"),
        (
            "Detected symbol BER 1.20e-06 exceeds minimum threshold on GPU 4's NVLink.",
            "DCGM_FR_NVLINK_SYMBOL_BER_THRESHOLD",
        ),
        (
            "GPU 1 unsuccessfully wrote data to GPU 2 over NVLink in a peer-to-peer test: x",
            "DCGM_FR_BROKEN_P2P_NVLINK_WRITER_DEVICE",
        ),
    ],
)
def test_each_sentence_has_its_code(text: str, code: str) -> None:
    assert [one.code for one in observed(read(dcgm_messages, text), "dcgm_code")] == [code]


@pytest.mark.parametrize("text", ["GPU 3: OK", "DCGM_FR_NVLINK_DOWN: GPU 3's NvLink link 2 is currently down", ""])
def test_other_text_yields_nothing(text: str) -> None:
    assert not read(dcgm_messages, text)


def test_relayed_xids() -> None:
    found = {(one.code, one.entity) for one in observed(read(xid_relays, TEXT), "xid")}
    assert found == {
        ("95", "gpu:dcgm-6"),
        ("48", "gpu:0000:6b:00.0"),
        ("79", "gpu:GPU-11111111-2222-3333-4444-555555555507"),
    }


def test_a_node_condition_names_no_gpu() -> None:
    text = "AcceleratedHardwareReady   False   NvidiaXID79Error   detected XID-79 on the instance, review kernel logs for more."
    (one,) = observed(read(xid_relays, text), "xid")
    assert (one.code, one.entity, one.attributes["relayed"]) == ("79", "", "yes")
    (one,) = observed(read(xid_relays, "AcceleratedHardwareReady=False reason=NvidiaXID48Error"), "xid")
    assert one.code == "48"
    assert not observed(read(xid_relays, "Warning NvidiaXID13Warning detected unknown XID-13 on the instance"), "xid")


def test_relayed_json_of_a_syslog_monitor() -> None:
    text = (
        '"checkName":"SysLogsXIDError","isFatal":true,"errorCode":["119"],'
        '"entitiesImpacted":[{"entityType":"PCI","entityValue":"0002:00:00"}]'
    )
    (one,) = observed(read(xid_relays, text), "xid")
    assert (one.code, one.entity) == ("119", "gpu:0002:00:00.0")


@pytest.mark.parametrize(
    "text",
    [
        "XidCriticalError: Xid=69 on Device=GPU-11111111-2222-3333-4444-555555555507, the device will go unhealthy.",
        "see the catalog for XID 79 (fallen off the bus)",
        "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    ],
)
def test_programs_xids_advice_and_the_kernels_own_line_are_left_alone(text: str) -> None:
    assert not read(xid_relays, text)


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error", "gpu:0000:34:00.0"),
        ("Unable to determine the device handle for GPU 0: Unknown Error", "gpu:0"),
        ("Unable to determine the device handle for GPU0000:A1:00.0: Unknown Error", "gpu:0000:a1:00.0"),
        ("Unable to retrieve GPU name for index 1: GPU is lost", "gpu:1"),
    ],
)
def test_handle_errors_of_all_releases(text: str, entity: str) -> None:
    (one,) = observed(read(nvidia_smi, text), "nvidia_smi")
    assert one.entity == entity


def test_index_and_address_of_a_handle_error_are_one_gpu() -> None:
    text = "Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error"
    assert ("gpu:0000:34:00.0", "gpu:1") in same(read(nvidia_smi, text))


def test_a_section_without_its_gpu() -> None:
    text = "    Fabric\n        State                             : In Progress\n        Status                            : N/A\n"
    (one,) = observed(read(nvidia_query, text), "field")
    assert (one.code, one.attributes["section"], one.attributes["value"], one.entity) == (
        "State",
        "Fabric",
        "In Progress",
        "",
    )


def test_reasons_of_a_csv_row_stand_with_its_power() -> None:
    text = (
        "index, pci.bus_id, power.draw [W], power.limit [W], power.default_limit [W], clocks_event_reasons.active\n"
        "0, 00000000:07:00.0, 299.50 W, 300.00 W, 700.00 W, 0x0000000000000004\n"
    )
    (one,) = observed(read(nvidia_smi, text), "gpu_power")
    assert (one.attributes["reason_power_cap"], one.attributes["requested"]) == ("Active", "300.00 W")


def test_gpu_lost_as_old_drivers_say_it() -> None:
    (one,) = observed(read(nvrm, "[   49.261458] NVRM: GPU at 0000:01:00.0 has fallen off the bus."), "gpu_fallen")
    assert one.entity == "gpu:0000:01:00.0"
