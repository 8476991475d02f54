"""Names of one GPU: joined by address or UUID, in every width, and never because two numberings show the same number."""

from __future__ import annotations

from functools import cache

import pytest

from collectors.identity import normalise_pci
from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation, Relation, Sample
from collectors.registry import Registry
from collectors.scan import Scanner
from diagnosis.entities import Resolver

ADDRESS, UUID = "gpu:0000:3b:00.0", "gpu:GPU-11111111-2222-3333-4444-555555555506"
REGISTRY = Registry()


@cache
def scanner() -> Scanner:
    return Scanner(REGISTRY.patterns())


def resolver(*texts: str) -> Resolver:
    """Return what the relations of some texts join."""
    intakes = read_inputs(
        [text_input(f"t{n}", text) for n, text in enumerate(texts)], scanner(), REGISTRY, now=1_764_547_200.0
    )
    return Resolver(one for intake in intakes for one in intake.records if isinstance(one, Relation))


def entities(text: str) -> set[str]:
    """Return the GPUs that the facts of a text are about."""
    (intake,) = read_inputs([text_input("t", text)], scanner(), REGISTRY, now=1_764_547_200.0)
    return {
        one.entity
        for one in intake.records
        if isinstance(one, Observation | Sample) and one.entity.startswith(("gpu:", "mig_instance:"))
    }


# --- one address, whatever its width


@pytest.mark.parametrize(
    "text",
    [
        "0000:3b:00.0", "00000000:3B:00.0", "3b:00.0", "PCI:0000:3b:00", "0000:3B:00", "3b:00", "3b000", "0x3b000",
    ],
)  # fmt: skip
def test_widths_of_one_address(text: str) -> None:
    assert normalise_pci(text) == "0000:3b:00.0"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0001:00:00.0", "0000:00:00.0"),
        ("0008:01:00.0", "0009:01:00.0"),
        ("00000018:01:00.0", "00000008:01:00.0"),
        ("3b:00.0", "3c:00.0"),
    ],
)
def test_domains_and_buses_stay_apart(one: str, other: str) -> None:
    assert normalise_pci(one) != normalise_pci(other)


def test_kernel_query_table_metrics_and_lspci_speak_of_one_card() -> None:
    texts = [
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.\n",
        "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x72:1568)\n",
        "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n",
        'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-11111111-2222-3333-4444-555555555506",pci_bus_id="00000000:3B:00.0",Hostname="a"} 40\n',
        "GPU 00000000:3B:00.0\n    Fabric\n        State : Completed\n",
    ]
    assert {name for text in texts for name in entities(text)} == {ADDRESS}


# --- what is joined: a line that states both


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVRM: GPU at PCI:0000:3b:00: GPU-11111111-2222-3333-4444-555555555506\n", UUID),
        ("index, pci.bus_id, uuid\n2, 00000000:3B:00.0, GPU-11111111-2222-3333-4444-555555555506\n", UUID),
        ("index, pci.bus_id, uuid\n2, 00000000:3B:00.0, GPU-11111111-2222-3333-4444-555555555506\n", "gpu:2"),
        ("index, pci.bus_id, serial\n2, 00000000:3B:00.0, 1652123456789\n", "gpu:serial-1652123456789"),
        (
            "GPU 00000000:3B:00.0\n    Serial Number                         : 1652123456789\n",
            "gpu:serial-1652123456789",
        ),
        (
            "GPU 00000000:3B:00.0\n    GPU UUID                              : GPU-11111111-2222-3333-4444-555555555506\n",
            UUID,
        ),
        ("GPU 00000000:3B:00.0\n    Minor Number                          : 5\n", "gpu:minor-5"),
        ("GPU 00000000:3B:00.0\n    GPU Module ID                         : 7\n", "gpu:module-7"),
        (
            'DCGM_FI_DEV_GPU_TEMP{gpu="4",UUID="GPU-11111111-2222-3333-4444-555555555506",pci_bus_id="00000000:3B:00.0"} 40\n',
            "gpu:dcgm-4",
        ),
        (
            'DCGM_FI_DEV_GPU_TEMP{gpu="4",UUID="GPU-11111111-2222-3333-4444-555555555506",pci_bus_id="00000000:3B:00.0"} 40\n',
            UUID,
        ),
        (
            (
                "| GPU ID | Device Information                                                   |\n"
                "+--------+----------------------------------------------------------------------+\n"
                "| 4      | Name: NVIDIA A100-SXM4-40GB                                          |\n"
                "|        | PCI Bus ID: 00000000:3B:00.0                                         |\n"
                "|        | Device UUID: GPU-11111111-2222-3333-4444-555555555506                |\n"
            ),
            "gpu:dcgm-4",
        ),
    ],
)
def test_a_line_that_states_both_names_joins_them(text: str, name: str) -> None:
    assert resolver(text).resolve(name) == ADDRESS


def test_names_are_joined_through_a_third() -> None:
    joined = resolver(
        "NVRM: GPU at PCI:0000:3b:00: GPU-11111111-2222-3333-4444-555555555506\n",
        "GPU 2: NVIDIA A100-SXM4-80GB (UUID: GPU-11111111-2222-3333-4444-555555555506)\n",
        "GPU 00000000:3B:00.0\n    Minor Number                          : 5\n",
    )
    assert {joined.resolve(name) for name in (UUID, "gpu:2", "gpu:minor-5", ADDRESS)} == {ADDRESS}


def test_a_mig_device_rests_on_its_card() -> None:
    text = "GPU 2: NVIDIA A100 (UUID: GPU-11111111-2222-3333-4444-555555555506)\n  MIG 1g.5gb      Device  0: (UUID: MIG-c7384736-a75d-5afc-978f-d2f1294409fd)\n"
    (intake,) = read_inputs([text_input("t", text)], scanner(), REGISTRY, now=1_764_547_200.0)
    relations = {(one.upper, one.lower, one.how) for one in intake.records if isinstance(one, Relation)}
    assert ("mig_instance:MIG-c7384736-a75d-5afc-978f-d2f1294409fd", UUID, "on") in relations
    assert resolver(text).resolve("mig_instance:MIG-c7384736-a75d-5afc-978f-d2f1294409fd").startswith("mig_instance:")


# --- what is not joined: equal numbers


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n", "gpu:cuda-2"),
        ("NVRM: rm_init_adapter failed, device minor number 2\n", "gpu:minor-2"),
        ("GPU 2: DCGM_FR_NVLINK_DOWN\n", "gpu:dcgm-2"),
        ("Detected XID 95 for GPU 2 Please consult the documentation for details of this XID.\n", "gpu:dcgm-2"),
        ("#Entity   GPUTL\nID\nGPU 2     98\n", "gpu:dcgm-2"),
    ],
)  # fmt: skip
def test_each_numbering_has_names_of_its_own(text: str, name: str) -> None:
    assert entities(text) == {name}


def test_equal_numbers_join_nothing() -> None:
    joined = resolver(
        "index, pci.bus_id\n2, 00000000:3B:00.0\n",
        "GPU 00000000:9A:00.0\n    Minor Number                          : 2\n",
    )
    assert joined.resolve("gpu:2") == ADDRESS
    assert joined.resolve("gpu:minor-2") == "gpu:0000:9a:00.0"
    for name in ("gpu:cuda-2", "gpu:dcgm-2", "gpu:module-2", "gpu:serial-2"):
        assert joined.resolve(name) == name


def test_a_driver_instance_in_a_message_is_no_index() -> None:
    line = "NVRM: Xid (PCI:0000:3b:00): 119, pid=1, name=a, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 76\n"
    assert entities(line) == {ADDRESS}


def test_a_mig_slice_in_an_xid_is_of_its_card() -> None:
    line = "NVRM: Xid (PCI:0000:3b:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No\n"
    assert entities(line) == {ADDRESS}


def test_the_same_address_on_another_host_is_another_card() -> None:
    joined = resolver(
        "root@node-a:~# nvidia-smi --query-gpu=index,pci.bus_id --format=csv\nindex, pci.bus_id\n2, 00000000:3B:00.0\n"
    )
    assert joined.resolve("gpu:2", "node-a") == "gpu:node-a/0000:3b:00.0"
    assert joined.resolve("gpu:2", "node-b") == "gpu:node-b/2"
