"""Where Xids strike, and one GPU beside its equals."""

from __future__ import annotations

from collectors.observation import Observation
from diagnosis.analyses import gpu_peers, xid_places
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
