"""GPU Operator and what it runs on nodes: sources told by content, states and failures read, odd lines left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from collectors.ingest import Intake, read_inputs, text_input
from collectors.observation import Observation
from collectors.orchestration import device_plugin, dra_driver, gpu_operands, gpu_operator, node_features
from collectors.prefix import peel
from collectors.registry import Registry
from collectors.scan import Scanner

LOGS = Path(__file__).parents[3] / "fixtures" / "logs"
REGISTRY = Registry()


def read(text: str) -> Intake:
    """Return what the intake makes of a text with every collector."""
    return read_inputs([text_input("t", text)], Scanner(REGISTRY.patterns()), REGISTRY, now=1_764_547_200.0)[0]


def found(intake: Intake, kind: str) -> list[Observation]:
    return [one for one in intake.records if isinstance(one, Observation) and one.kind == kind]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("gpu-operator/controller.log", "gpu-operator"),
        ("gpu-operator/controller-1.9.log", "gpu-operator"),
        ("gpu-operator/driver-container.log", "gpu-operator"),
        ("gpu-operator/driver-container-ready.log", "gpu-operator"),
        ("gpu-operator/driver-in-use.log", "gpu-operator"),
        ("gpu-operator/toolkit.log", "gpu-operator"),
        ("gpu-operator/validator.log", "gpu-operator"),
        ("gpu-operator/mig-manager.log", "gpu-operator"),
        ("gpu-device-plugin/plugin-0.14.log", "gpu-device-plugin"),
        ("gpu-device-plugin/plugin-old.log", "gpu-device-plugin"),
        ("gpu-device-plugin/feature-discovery.log", "gpu-device-plugin"),
        ("node-feature-discovery/worker-and-master.log", "node-feature-discovery"),
        ("dra-driver/kubelet-plugin.log", "dra-driver"),
    ],
)
def test_source_is_told_by_content(name: str, kind: str) -> None:
    assert read((LOGS / name).read_text()).kind == kind


def test_states_of_the_operator() -> None:
    states = found(read((LOGS / "gpu-operator/controller.log").read_text()), "operator-state")
    assert [(one.code, one.attributes["summary"]) for one in states][:3] == [
        ("state-driver", "no"),
        ("state-container-toolkit", "no"),
        ("state-driver", "yes"),
    ]
    assert states[2].time == pytest.approx(1741165859.009)
    old = read((LOGS / "gpu-operator/controller-1.9.log").read_text())
    assert [one.code for one in found(old, "operator-state")] == ["state-operator-validation"] * 2
    assert [one.code for one in found(old, "operator-nodes")] == ["some"]


def test_a_state_that_the_policy_switches_off() -> None:
    line = (
        '{{"level":"info","ts":1714637483.13,"logger":"controllers.ClusterPolicy","msg":"ClusterPolicy step completed",'
        '"state:":"{}","status":"disabled"}}\n'
    )
    assert [one.code for one in found(read(line.format("state-device-plugin")), "operator-disabled")] == [
        "state-device-plugin"
    ]
    assert not found(read(line.format("state-vgpu-manager")), "operator-disabled")  # as in most clusters


def test_node_without_labels() -> None:
    text = (
        "2022-07-01T10:00:00.000Z\tINFO\tcontrollers.ClusterPolicy\tWARNING: Could not find NFD labels for node. "
        'Is NFD installed?\t{"Node": "node-b"}'
    )
    (one,) = gpu_operator.parse_line(peel("a", 1, text))
    assert (one.kind, one.code, one.node) == ("operator-unlabelled", "node-b", "node-b")


def test_driver_container_tells_version_and_kernel() -> None:
    intake = read((LOGS / "gpu-operator/driver-container.log").read_text())
    assert [(one.code, one.attributes["kernel"]) for one in found(intake, "driver-install")] == [
        ("570.124.06", "5.15.0-134-generic")
    ]
    assert not found(intake, "driver-ready")
    ready = read((LOGS / "gpu-operator/driver-container-ready.log").read_text())
    assert [one.code for one in found(ready, "driver-install")] == ["535"]
    assert len(found(ready, "driver-ready")) == 1


def test_operands_that_fail() -> None:
    assert [
        one.code for one in found(read((LOGS / "gpu-operator/driver-in-use.log").read_text()), "driver-unload")
    ] == ["in-use"]
    (signal,) = found(read((LOGS / "gpu-operator/toolkit.log").read_text()), "runtime-signal")
    assert (signal.code, signal.attributes["attempt"], signal.attributes["most"]) == ("containerd", "1", "6")
    failed = found(read((LOGS / "gpu-operator/validator.log").read_text()), "validation-failed")
    assert [one.code for one in failed] == ["driver", "toolkit", "plugin"]
    assert [one.code for one in found(read((LOGS / "gpu-operator/mig-manager.log").read_text()), "mig-state")] == [
        "pending",
        "failed",
    ]


def test_device_plugin() -> None:
    seen = found(read((LOGS / "gpu-device-plugin/plugin-0.14.log").read_text()), "plugin")
    assert [(one.code, one.entity) for one in seen] == [
        ("registered", ""),
        ("unhealthy", "gpu:GPU-11111111-2222-3333-4444-555555555506"),
        ("kubelet-restart", ""),
    ]
    old = found(read((LOGS / "gpu-device-plugin/plugin-old.log").read_text()), "plugin")
    assert [one.code for one in old] == ["nvml-failed", "no-devices"]
    (mig,) = device_plugin.parse_line(
        peel("a", 1, "'nvidia.com/mig-1g.10gb' device marked unhealthy: MIG-11111111-2222-3333-4444-555555555506")
    )
    assert mig.entity == "mig_instance:MIG-11111111-2222-3333-4444-555555555506"


def test_feature_discovery_and_claims() -> None:
    intake = read((LOGS / "node-feature-discovery/worker-and-master.log").read_text())
    assert [(one.code, one.attributes["error"][:16], one.node) for one in found(intake, "nfd")] == [
        ("master-lost", "no such host", ""),
        ("update-failed", 'nodes "node-b" i', "node-b"),
    ]
    claims = found(read((LOGS / "dra-driver/kubelet-plugin.log").read_text()), "claim-failed")
    assert [(one.code, one.attributes.get("attempt"), one.attributes.get("claim")) for one in claims] == [
        ("domain", "1", "train-0-compute-domain-channel-8gwxw"),
        ("mig", None, None),
    ]


@pytest.mark.parametrize("module", [device_plugin, dra_driver, gpu_operands, gpu_operator, node_features])
@pytest.mark.parametrize(
    "text", ["", "states not ready: []", "Error signaling", '"status":', "Registered device plugin for"]
)
def test_odd_lines_yield_nothing(module: object, text: str) -> None:
    assert list(module.parse_line(peel("a", 1, text))) == []  # type: ignore[attr-defined]
