"""Redfish: entries of a management controller's logs and the events that it sends, as JSON.

DMTF DSP0266 (LogEntry 1.x, Event 1.x) as OpenBMC, iDRAC, iLO, XCC, Supermicro and NVIDIA's HGX baseboard fill it: whole
collections, single entries, events with `Events`, and one object a line as `jq -c` leaves them. Sample::

    {
        "@odata.id": "/redfish/v1/Systems/HGX_Baseboard_0/LogServices/EventLog/Entries/17",
        "@odata.type": "#LogEntry.v1_15_0.LogEntry",
        "Created": "2025-03-11T13:58:02+00:00",
        "Severity": "Critical",
        "MessageId": "ResourceEvent.1.0.ResourceErrorsDetected",
        "MessageArgs": ["GPU_SXM_3", "Uncorrectable ECC error"],
        "Message": "The resource property GPU_SXM_3 has detected errors of type 'Uncorrectable ECC error'.",
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from collectors.block import Reader
from collectors.clock import parse_iso
from collectors.json_document import MOST_LINES, read_enclosing
from collectors.observation import Observation, Record
from collectors.regex import compile_later
from collectors.tree import Tree

SOURCE = "redfish"
LAYERS = ("hardware",)
SIGNATURES = (r'"@odata\.type"\s*:\s*"#(?:LogEntry|Event)', r'"@odata\.id"\s*:\s*"/redfish/v1/', r'"MessageId"\s*:\s*"')
HEADS = (
    r'"@odata\.(?:id|type|context)"\s*:\s*"[^"]*(?:LogServices/|LogEntry|#Event)', r'"(?:Created|EventTimestamp)"\s*:\s*"\d{4}-',
    r'"MessageId"\s*:\s*"[\w.]+"',
)  # fmt: skip

_KINDS = (  # what an entry is about, told by its message id and words, the most particular first
    ("nvlink", r"nvlink|nvswitch"), ("gpu", r"\bGPU|gpu_|GraphicsProcessor|accelerator"),
    ("fan", r"fan|pump|coolant|cooling|leak"), ("power", r"power|psu|voltage|\bAC\b|RedundancyLost|\bVR\b"),
    ("temperature", r"temp|thermal|overheat"), ("memory", r"memory|dimm|\bECC\b|\bMEM\d"),
    ("processor", r"processor|\bcpu|ierr|caterr|machine check"), ("pci", r"pcie?\b|PCI\d|slot|bus error"),
    ("drive", r"drive|disk|storage|raid|nvme"),
)  # fmt: skip
_MODULE = compile_later(r"GPU_(?:SXM_)?(\d{1,2})\b|\bGPU ?(\d{1,2})\b")
_XID = compile_later(r"\bXID[: =]+(\d{1,3})\b", re.I)
_GOOD = compile_later(
    r"restored|returned to normal|has been (?:resolved|cleared|restored)|within (?:the )?(?:normal|range)|deassert|no longer",
    re.I,
)
_MOST = 20_000
_MOST_LINES = 120  # of one entry


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `redfish` (code = gpu, nvlink, fan, power, temperature, memory, processor, pci, drive or other; attributes
    severity, message_id, message, state: raised or cleared) for each entry or event."""
    begin = reader.place()
    document = read_enclosing(reader, MOST_LINES if "@odata" in (reader.peek() or "") else _MOST_LINES)
    made = [one for entry in islice(_entries(document, 0), _MOST) if (one := _describe(entry, reader))]
    if not made:  # JSON of something else
        reader.back(begin)
    yield from made


def _entries(tree: Tree, depth: int) -> Iterator[Tree]:
    if depth > 8:
        return
    if "MessageId" in tree.fields or ("Severity" in tree.fields and "Message" in tree.fields):
        yield tree
        return
    for one in (*tree.fields.values(), *tree.items):
        yield from _entries(one, depth + 1)


def _describe(entry: Tree, reader: Reader) -> Observation | None:
    message_id, message = entry.text("MessageId"), re.sub(r"\s+", " ", entry.text("Message")).strip()
    arguments = [one.value for one in entry.at("MessageArgs").items if one.value]
    severity = (entry.text("MessageSeverity") or entry.text("Severity")).lower()
    if severity not in ("ok", "warning", "critical"):
        severity = {"informational": "ok", "error": "critical", "fatal": "critical"}.get(severity, severity)
    if not message_id and not message:
        return None
    origin = entry.text("OriginOfCondition", "@odata.id") or entry.text("Links", "OriginOfCondition", "@odata.id")
    sensor = " ".join((entry.text("SensorType"), entry.text("EntryCode")))
    words = " ".join((message_id, message, *arguments, origin, sensor))
    module, xid = _MODULE.search(words), _XID.search(words)
    found = {
        "severity": severity, "message_id": message_id, "message": message[:400], "arguments": ", ".join(arguments)[:200],
        "origin": origin, "module": (module[1] or module[2]) if module else "", "xid": xid[1] if xid else "",
        "state": "cleared" if severity == "ok" or _GOOD.search(message) or entry.text("Resolved").lower() == "true" else "raised",
    }  # fmt: skip
    code = next((name for name, regex in _KINDS if re.search(regex, words, re.I)), "other")
    time = parse_iso(entry.text("Created") or entry.text("EventTimestamp") or entry.text("EventTimeStamp"))
    text = " ".join(part for part in (severity, message_id, message or ", ".join(arguments)) if part)
    return Observation(
        SOURCE, "redfish", reader.input, entry.line, entry.last or entry.line, text, code=code, time=time, node=reader.node,
        attributes={name: value for name, value in found.items() if value},
    )  # fmt: skip
