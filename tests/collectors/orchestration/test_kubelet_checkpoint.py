"""The device manager's checkpoint: whole, compact and as the lines that a grep left."""

from __future__ import annotations

from pathlib import Path

from collectors.orchestration import kubelet_checkpoint
from tests.collectors.orchestration.kube_reading import observations

LOG = Path(__file__).parents[3] / "fixtures" / "logs" / "kubelet" / "checkpoint.json"
UUID = "GPU-11111111-2222-3333-4444-5555555555%02d"
ENTRY = (
    '{"PodUID":"%s","ContainerName":"%s","ResourceName":"nvidia.com/gpu","DeviceIDs":{"-1":["%s"]},"AllocResp":"Ck"}'
)


def compact(*entries: tuple[str, str, str]) -> str:
    inner = ",".join(ENTRY % entry for entry in entries)
    registered = f'"RegisteredDevices":{{"nvidia.com/gpu":["{UUID % 1}","{UUID % 2}"]}}'
    return f'{{"Data":{{"PodDeviceEntries":[{inner}],{registered}}},"Checksum":1}}'


def test_one_device_of_two_pods() -> None:
    (found,) = observations(kubelet_checkpoint, LOG.read_text())
    assert (found.kind, found.code, found.entity, found.line) == ("kubelet-devices", "twice", f"gpu:{UUID % 1}", 29)
    assert found.attributes["pod_uid"].endswith("c") and found.attributes["other_pod"].endswith("a")
    assert '"PodUID": "11111111-0000-4000-8000-00000000000c"' in found.text


def test_compact() -> None:
    (found,) = observations(kubelet_checkpoint, compact(("a", "main", UUID % 1), ("b", "main", UUID % 1)))
    assert (found.attributes["pod_uid"], found.attributes["other_pod"]) == ("b", "a")


def test_containers_of_one_pod_take_turns() -> None:
    assert not observations(kubelet_checkpoint, compact(("a", "init", UUID % 1), ("a", "main", UUID % 1)))
    assert not observations(kubelet_checkpoint, compact(("a", "main", UUID % 1), ("b", "main", UUID % 2)))


def test_shared_devices_are_replicas() -> None:
    shared = compact(("a", "main", f"{UUID % 1}::0"), ("b", "main", f"{UUID % 1}::1"))
    assert not observations(kubelet_checkpoint, shared)


def test_lines_of_a_grep() -> None:
    kept = [
        row for row in LOG.read_text().splitlines() if '"GPU-' in row or '"PodUID"' in row or '"ContainerName"' in row
    ]
    text = "\n".join([*kept[:9], "node-b:/var/lib/kubelet# uptime", kept[0]])
    (found,) = observations(kubelet_checkpoint, text)
    assert found.entity == f"gpu:{UUID % 1}"


def test_odd_input_yields_nothing() -> None:
    assert not observations(kubelet_checkpoint, '"PodUID": "a"\n"PodUID": "b"\n"GPU-1"\nnothing here\n')
    assert not observations(kubelet_checkpoint, '{"Data":{"PodDeviceEntries":[')
