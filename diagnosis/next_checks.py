"""What to run next: the commands of the rules, filled in, and what to fetch where nobody looked."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis.citations import MOST_LINES
from diagnosis.context import Context
from diagnosis.entities import kind_of, node_of
from diagnosis.model import CheckPart, Hypothesis, Language, NextCheck, Outcome
from diagnosis.rulebook.schema import Check
from diagnosis.wording import say

_MOST_CHECKS = 6
_LOOK = (  # what to fetch for a layer of which nothing was seen
    ("node", "dmesg -T", "node"),
    ("fabric", "ibstat; rdma link; perfquery -x", "node"),
    ("platform", "kubectl describe pod <pod>; kubectl get events --sort-by=.lastTimestamp", "control plane"),
    ("hardware", "nvidia-smi -q", "node"),
    ("storage", "mount; df -h; df -i; dmesg -T | grep -iE 'nfs|lustre|ceph|nvme'", "node"),
)
_WHOLE = {"kernel": "dmesg -T", "driver": "lsmod", "lspci": "lspci -nn", "nvidia-smi": "nvidia-smi -q"}


def fill_check(check: Check, one: Hypothesis, language: Language) -> CheckPart:
    """Return a rule's check with the names of the hypothesis filled in."""
    return CheckPart(
        run=fill(check.run, one),
        on=fill(check.on, one),
        confirms=check.confirms,
        tells=check.tells.in_language(language) if check.tells else "",
    )


def fill(template: str, one: Hypothesis) -> str:
    """Fill `{node}`, `{pci}`, `{pod}`, ... from the hypothesis; what is not known stays as `<node>`, or is what stands behind a bar:
    `{peer_host|the host of the named peer}`."""
    values: dict[str, str] = {}
    derived = [
        m.subject
        for finding in one.findings
        if finding.supports
        for m in finding.matches[:MOST_LINES]
        if m.subject is not None
    ]
    for observation in (*reversed(one.observations()), *reversed(derived)):
        values.update({name: value for name, value in observation.attributes.items() if value})
    name = one.entity.partition(":")[2].rpartition("/")[2]
    values[kind_of(one.entity)] = name.removeprefix("dcgm-")  # what dcgmi's own commands take
    node = node_of(one.entity) or one.node
    if node:
        values["node"] = node
    if kind_of(one.entity) in ("gpu", "pcie_device", "nvswitch") and name.count(":") >= 2:
        values["pci"] = name
    filled, position = "", 0
    while (start := template.find("{", position)) >= 0 and (end := template.find("}", start)) >= 0:
        key, _, otherwise = template[start + 1 : end].partition("|")
        whole = template[start : end + 1]
        known = (values.get(key) or otherwise or f"<{key}>") if key.isidentifier() else whole
        filled += template[position:start] + known
        position = end + 1
    return filled + template[position:]


def find_next_checks(
    outcome: Outcome, roots: Sequence[Hypothesis], symptoms: Sequence[Hypothesis], context: Context
) -> list[NextCheck]:
    """Return the commands that confirm the first roots or tell them apart, and those that show what nobody looked at."""
    language, rulebook = context.language, context.rulebook
    checks: dict[str, NextCheck] = {}
    for place, one in enumerate(roots[:3]):
        rival = next((other for other in roots[:3] if other is not one), None)
        title = rulebook.title(one.id, language)
        for check in rulebook.causes[one.id].checks[: 2 if place else 3]:
            run = fill(check.run, one)
            separates = [one.id, *([rival.id] if rival and outcome == "undecided" else [])]
            because = check.tells.in_language(language) if check.tells else ""
            if not because and len(separates) > 1 and rival is not None:
                because = say("check-separates", language, first=title, second=rulebook.title(rival.id, language))
            because = because or say("check-confirms", language, first=title)
            checks.setdefault(run, NextCheck(run=run, on=fill(check.on, one), separates=separates, because=because))
    if outcome != "diagnosed":
        for missing in (*_whole_checks(context), *_missing_checks(symptoms, context)):
            checks.setdefault(missing.run, missing)
    return list(checks.values())[:_MOST_CHECKS]


def _whole_checks(context: Context) -> list[NextCheck]:
    """For sources of which only filtered lines were seen: the command that shows all of them."""
    found = []
    for one in context.facts.by_kind.get("filtered", ()):
        if one.source in _WHOLE:
            because = say("look-whole", context.language, words=one.code)
            found.append(NextCheck(run=_WHOLE[one.source], on=one.node or "node", separates=[], because=because))
    return found


def _missing_checks(symptoms: Sequence[Hypothesis], context: Context) -> list[NextCheck]:
    """For symptoms without a proven cause: the layers that could bring them about and that nobody looked at."""
    rulebook, found = context.rulebook, []
    for layer, run, on in _LOOK:
        if context.looked_at.get(layer):
            continue
        able = [
            symptom
            for symptom in symptoms
            if any(
                symptom.id in rulebook.reach(cause) for cause in rulebook.causes if rulebook.layer_of(cause) == layer
            )
        ]
        if able:
            title = rulebook.title(able[0].id, context.language)
            because = say("look-at", context.language, layer=layer, first=title)
            host = next((one.node for one in symptoms if one.node), "")
            found.append(NextCheck(run=run, on=host if on == "node" and host else on, separates=[], because=because))
    return found
