"""Where Xids strike, and one GPU beside its equals."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import driver_build, gpu_peers, xid_places
from diagnosis.facts import Facts


def xid(line: int, code: str, gpu: str, time: float, place: str = "", pid: str = "") -> Observation:
    attributes = {name: value for name, value in (("place", place), ("pid", pid), ("pci", gpu)) if value}
    return Observation(
        "kernel", "xid", "a", line, line, "", code=code, time=time, entity=f"gpu:{gpu}", attributes=attributes
    )


def derived(module: object, observations: list[Observation]) -> list[tuple[str, str, dict[str, str]]]:
    found = module.derive(Facts(observations))  # type: ignore[attr-defined]
    return [(one.kind, one.code, dict(one.attributes)) for one, _ in found]


def test_same_place_in_separate_bursts() -> None:
    ((kind, code, attributes),) = derived(
        xid_places, [xid(n, "13", "0000:cb:00.0", n * 1000.0, "7, TPC 7, SM 0") for n in range(1, 4)]
    )
    assert (kind, code, attributes["bursts"], attributes["same_place"]) == ("xid_recurrence", "13", "3", "yes")


def test_many_places_in_one_burst() -> None:
    found = derived(xid_places, [xid(n, "13", "0000:cb:00.0", 5.0, f"{n}, TPC 0, SM 0") for n in range(1, 5)])
    assert [(kind, attributes["places"]) for kind, _, attributes in found] == [("xid_spread", "4")]


def test_several_gpus_at_once_but_not_days_apart() -> None:
    near = derived(xid_places, [xid(1, "31", "0000:01:00.0", 10.0), xid(2, "31", "0000:02:00.0", 11.0)])
    assert [attributes["gpus"] for _, _, attributes in near] == ["2"]
    assert derived(xid_places, [xid(1, "31", "0000:01:00.0", 10.0), xid(2, "31", "0000:02:00.0", 90000.0)]) == []


def link(gpu: str, width: str, use: str = "99 %") -> Observation:
    attributes = {"width": width, "width_max": "16", "utilization": use}
    return Observation("nvidia-smi", "gpu_link", "a", 1, 1, "", entity=f"gpu:{gpu}", attributes=attributes)


def test_a_narrow_link_beside_its_equals() -> None:
    ((kind, code, attributes),) = derived(gpu_peers, [link("0", "16x"), link("1", "16x"), link("2", "8x")])
    assert (kind, code, attributes["value"], attributes["peers"]) == ("gpu_outlier", "pcie-width", "8", "16")


def test_alike_on_all_is_no_outlier() -> None:
    assert derived(gpu_peers, [link("0", "8x"), link("1", "8x"), link("2", "8x")]) == []
    assert derived(gpu_peers, [link("0", "odd"), link("1", ""), link("2", "8x")]) == []


def matrix(gpu: str, nvlinks: int, alike: str = "yes") -> Observation:
    attributes = {"gpu": gpu, "nvlinks": str(nvlinks), "alike": alike}
    return Observation("nvidia-smi", "gpu_topology", "a", 1, 1, "", entity=f"gpu:{gpu}", attributes=attributes)


def test_unequal_nvlinks_in_the_matrix() -> None:
    switched = [matrix(str(gpu), 124, "no") for gpu in range(7)] + [matrix("7", 112)]
    assert [(code, one["gpu"], one["peers"]) for _, code, one in derived(gpu_peers, switched)] == [
        ("nvlink", "7", "124")
    ]
    mesh = [matrix("0", 5, "no"), matrix("1", 6), matrix("2", 6), matrix("3", 5, "no")]
    assert [(code, one["gpu"]) for _, code, one in derived(gpu_peers, mesh)] == [
        ("nvlink-mesh", "0"),
        ("nvlink-mesh", "3"),
    ]
    pairs = [matrix("0", 4), matrix("1", 4), matrix("2", 0), matrix("3", 0)]
    assert derived(gpu_peers, pairs) == []
    assert derived(gpu_peers, [matrix(str(gpu), 126) for gpu in range(8)]) == []


def told(kind: str, code: str, **attributes: str) -> Observation:
    return Observation("driver", kind, "a", 1, 1, "", code=code, node="node-a", attributes=attributes)


def test_a_driver_built_for_other_kernels() -> None:
    kernel = told("running_kernel", "5.15.0-156-generic")
    other = told("dkms", "installed", kernel="5.15.0-151-generic", driver="535.230.02")
    own = told("dkms", "installed", kernel="5.15.0-156-generic", driver="535.230.02")
    half = told("dkms", "added", kernel="5.15.0-156-generic", driver="535.230.02")
    assert [code for _, code, _ in derived(driver_build, [kernel, other])] == ["other-kernel"]
    assert [code for _, code, _ in derived(driver_build, [kernel, other, half])] == ["not-installed"]
    assert derived(driver_build, [kernel, other, own]) == []
    assert derived(driver_build, [kernel, other, told("driver_module", "535.230.02")]) == []
    assert derived(driver_build, [kernel]) == []


def test_another_version_is_loaded_than_installed() -> None:
    loaded = told("driver_module", "570.172.08")
    file = told("modinfo", "570.181.00", version="570.181.00", module="nvidia")
    ((_, code, attributes),) = derived(driver_build, [loaded, file])
    assert (code, attributes["loaded"], attributes["installed"]) == ("reload-needed", "570.172.08", "570.181.00")
    assert derived(driver_build, [loaded, told("modinfo", "570.172.08", version="570.172.08", module="nvidia")]) == []
