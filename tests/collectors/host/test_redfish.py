"""Log entries and events of management controllers."""

from __future__ import annotations

import json

from collectors.host import redfish
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

TEXT = (FIXTURES / "redfish" / "entries.json").read_text()


def test_entries_of_a_collection_and_an_event() -> None:
    found = observed(read(redfish, TEXT), "redfish")
    assert [(one.code, one.attributes["state"]) for one in found] == [
        ("gpu", "raised"), ("power", "raised"), ("power", "cleared"), ("fan", "raised"), ("memory", "raised"),
    ]  # fmt: skip
    assert (found[0].attributes["module"], found[0].time) == ("3", 1741701482.0)
    assert found[1].attributes["message_id"] == "IDRAC.2.8.PSU0003"
    assert TEXT.splitlines()[found[4].line - 1].startswith('{"@odata.type"')


def test_one_entry_a_line() -> None:
    lines = [json.dumps(one) for one in json.loads(TEXT.partition("\n}\n")[0] + "}")["Members"]]
    assert [one.line for one in observed(read(redfish, "\n".join(lines)), "redfish")] == [1, 2, 3, 4]
    bare = '{\n  "Created": "2025-03-11T14:02:10Z",\n  "Severity": "Warning",\n  "MessageId": "Event.1.0.FanFailed",\n  "Message": "x"\n}\n'
    (one,) = observed(read(redfish, bare), "redfish")
    assert (one.code, one.attributes["severity"]) == ("fan", "warning")


def test_odd_input_yields_nothing() -> None:
    for text in (
        '"MessageId": "a.b"',
        '{"Created": "2024-01-01T00:00:00Z", "Name": "an image"}',
        '"Created": "2024-',
        '"MessageId": "x", }',
    ):
        assert [one for one in observed(read(redfish, text), "redfish") if one.attributes.get("message")] == []
