"""Where Xids of one kind strike: the same place of one GPU over unrelated bursts, or many places at once.

Xids of one GPU within a minute of each other are one burst. For each GPU and code, one `xid_recurrence` (attributes bursts,
places, same_place) where there are several bursts; for each code, one `xid_spread` where a single burst strikes several GPUs
or several places of one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts
from diagnosis.figures import read_number

_ENGINES = (  # copy, video, JPEG and optical-flow engines
    39, 40, 41, 68, 70, 71, 72, 75, 76, 77, *range(82, 87), 88, 89, *range(96, 106), *range(126, 136), 139, 142,
)  # fmt: skip
_CODES = frozenset({"13", "31", "32", "43", "45", "69", "109", *map(str, _ENGINES)})
_GAP = 60.0  # seconds between two bursts
_MOST_CITED = 12


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `xid_recurrence` for a GPU and code, `xid_spread` for a code."""
    by_gpu: dict[tuple[str, str, str], list[Observation]] = defaultdict(list)
    for one in facts.by_kind.get("xid", ()):
        if one.code in _CODES:
            by_gpu[(one.node, facts.resolver.resolve(one.entity, one.node), one.code)].append(one)
    for (node, _, code), found in sorted(by_gpu.items()):
        bursts = _cut(found)
        places = {place for one in found if (place := _place(one))}
        first = found[0]
        if len(bursts) >= 2:
            common = set.intersection(*({place for one in burst if (place := _place(one))} for burst in bursts))
            attributes = {
                "bursts": str(len(bursts)), "places": str(len(places)), "same_place": "yes" if common and len(places) <= 2 else "no",
                "processes": str(len({pid for one in found if (pid := one.attributes.get("pid", ""))})),
            }  # fmt: skip
            cited = [burst[0] for burst in bursts] + [one for one in found if _place(one) in common]
            yield _make("xid_recurrence", code, first, node, attributes), list(dict.fromkeys(cited))[:_MOST_CITED]
        widest = max(bursts, key=lambda burst: len({_place(one) for one in burst} - {""}))
        struck = {_place(one) for one in widest} - {""}
        if len(struck) >= 3:
            cited = [one for one in widest if _place(one)]
            yield _make("xid_spread", code, first, node, {"places": str(len(struck)), "gpus": "1"}), cited[:_MOST_CITED]
    yield from _across_gpus(by_gpu)


def _across_gpus(
    by_gpu: dict[tuple[str, str, str], list[Observation]],
) -> Iterator[Derived]:
    rows: dict[tuple[str, str], dict[str, Observation]] = defaultdict(dict)
    for (node, gpu, code), found in sorted(by_gpu.items()):
        rows[(node, code)][gpu] = found[0]
    for (node, code), firsts in sorted(rows.items()):
        times = [_when(one) for one in firsts.values()]
        known = [time for time in times if time is not None]
        if len(firsts) >= 2 and (len(known) < len(times) or max(known) - min(known) <= 2 * _GAP):
            cited = list(firsts.values())
            yield (
                _make("xid_spread", code, cited[0], node, {"gpus": str(len(firsts)), "places": "0"}, ""),
                cited[:_MOST_CITED],
            )


def _place(one: Observation) -> str:
    return one.attributes.get("place", "")


def _when(one: Observation) -> float | None:
    if one.time is not None:
        return one.time
    return read_number(one, "uptime")


def _cut(found: Sequence[Observation]) -> list[list[Observation]]:
    """Cut a GPU's Xids, in the order of their lines, into bursts; a change of process also ends one where times are unknown."""
    bursts: list[list[Observation]] = []
    for one in sorted(found, key=lambda each: (_when(each) or 0.0, each.input, each.line)):
        last = bursts[-1][-1] if bursts else None
        now, before = _when(one), _when(last) if last else None
        if last is not None and (now is None or before is None or abs(now - before) <= _GAP):
            bursts[-1].append(one)
        else:
            bursts.append([one])
    return bursts


def _make(
    kind: str, code: str, first: Observation, node: str, attributes: dict[str, str], entity: str | None = None
) -> Observation:
    text = f"Xid {code}: " + ", ".join(f"{name} {value}" for name, value in attributes.items())
    named = first.entity if entity is None else entity
    more = {"pci": first.attributes["pci"]} if named and "pci" in first.attributes else {}
    return derive_at(first, kind, code, text, {**attributes, **more}, node=node, entity=named)
