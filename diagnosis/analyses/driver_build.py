"""Whether the driver that is installed is the one that is loaded, and whether it was built for the kernel that runs.

Derives `driver_build` with code `other-kernel` (DKMS has it for other kernels only), `not-installed` (DKMS did not finish it for
this kernel) or `reload-needed` (another version is loaded than stands on the disk), citing the lines that differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from collectors.observation import Observation
from diagnosis.analyses.derived import Derived, derive_at
from diagnosis.facts import Facts

_DONE = frozenset({"installed"})
_KINDS = ("running_kernel", "dkms", "driver_module", "modinfo", "kernel_modules")


def derive(facts: Facts) -> Iterator[Derived]:
    """Yield `driver_build` observations, one for each host and input at most of each code."""
    hosts: dict[tuple[str, str], dict[str, list[Observation]]] = defaultdict(lambda: defaultdict(list))
    for kind in _KINDS:
        for one in facts.by_kind.get(kind, ()):
            hosts[one.input, one.node][kind].append(one)
    for _, found in sorted(hosts.items()):
        yield from _kernel(found)
        yield from _version(found)


def _kernel(found: dict[str, list[Observation]]) -> Iterator[Derived]:
    kernels = {one.code for one in found["running_kernel"]}
    rows = [one for one in found["dkms"] if one.attributes.get("kernel")]
    loaded = found["driver_module"] or any(one.code == "loaded" for one in found["kernel_modules"])
    if len(kernels) != 1 or not rows or loaded:
        return
    kernel = next(iter(kernels))
    here = [one for one in rows if one.attributes["kernel"] == kernel]
    if any(one.code in _DONE for one in here):
        return
    code = "not-installed" if here else "other-kernel"
    about = here or rows
    built = ", ".join(sorted({one.attributes["kernel"] for one in about}))
    attributes = {"kernel": kernel, "built": built, "driver": about[-1].attributes.get("driver", "")}
    yield (
        _make(about[-1], code, f"driver built for {built}, running kernel {kernel}", attributes),
        [*about, found["running_kernel"][0]],
    )


def _version(found: dict[str, list[Observation]]) -> Iterator[Derived]:
    loaded = {one.code: one for one in found["driver_module"]}
    on_disk = {
        one.attributes["version"]: one
        for one in found["modinfo"]
        if one.attributes.get("version") and one.attributes.get("module") == "nvidia"
    }
    if len(loaded) != 1 or len(on_disk) != 1:
        return
    (version, module), (installed, file) = next(iter(loaded.items())), next(iter(on_disk.items()))
    if version.split(".")[:2] != installed.split(".")[:2] or (
        version.count(".") == installed.count(".") and version != installed
    ):
        attributes = {"loaded": version, "installed": installed}
        yield (
            _make(module, "reload-needed", f"driver {version} is loaded, {installed} is installed", attributes),
            [module, file],
        )


def _make(one: Observation, code: str, text: str, attributes: dict[str, str]) -> Observation:
    return derive_at(one, "driver_build", code, text, attributes)
