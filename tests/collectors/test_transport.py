"""Lines that travel as JSON give what the machine printed, when and where."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.prefix import peel
from collectors.transport import Carried, unwrap

XID = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
AT = 1737434504.283302


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {"__REALTIME_TIMESTAMP": "1737434504283302", "_HOSTNAME": "node-b", "_TRANSPORT": "kernel", "MESSAGE": XID},
            Carried(XID, AT, "node-b", "kernel"),
        ),
        (
            {"__REALTIME_TIMESTAMP": "1737434504283302", "SYSLOG_IDENTIFIER": "kubelet", "MESSAGE": list(b"h\xffi")},
            Carried("h\ufffdi", AT, "", "kubelet"),
        ),
        ({"log": XID + "\n", "stream": "stderr", "time": "2025-01-21T04:41:44.283302Z"}, Carried(XID, AT)),
        (
            {"message": XID, "@timestamp": "2025-01-21T04:41:44.283302Z", "host": {"name": "node-b"}},
            Carried(XID, AT, "node-b"),
        ),
        (
            {"_source": {"message": XID, "@timestamp": "2025-01-21T04:41:44.283302Z", "host": "node-b"}},
            Carried(XID, AT, "node-b"),
        ),
        ({"message": XID, "timestamp": 1737434504283.302}, Carried(XID, AT)),
        ({"line": XID, "timestamp": "1737434504283302000", "labels": {"node": "node-b"}}, Carried(XID, AT, "node-b")),
    ],
)
def test_each_form_is_opened(value: dict[str, object], expected: Carried) -> None:
    found = unwrap(json.dumps(value))
    assert found is not None
    assert (found.text, found.host, found.program) == (expected.text, expected.host, expected.program)
    assert found.time == pytest.approx(expected.time, abs=1e-5)


@pytest.mark.parametrize(
    "raw",
    [
        '{"level":"warn","msg":"slow fdatasync"}',
        '{"message": 3, "timestamp": 1}',
        '{"MESSAGE": null}',
        '{"MESSAGE": [300, "x"]}',
        '{"message": "cut',
        '{"line": "x"}',
        '["log"]',
        "{" * 5000 + '"log"',
    ],
)
def test_other_lines_stay_as_they_are(raw: str) -> None:
    assert unwrap(raw) is None


def test_what_was_carried_loses_its_own_prefix_too() -> None:
    line = peel(
        "a",
        1,
        json.dumps(
            {
                "log": "E1128 10:02:11.291383       7 pod.go:425] gone\n",
                "stream": "stdout",
                "time": "2025-11-28T10:02:12Z",
            }
        ),
    )
    assert (line.text, line.level, line.program) == ("gone", "E", "pod.go")


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    unwrap("{" + text)
    unwrap('{"log":' + text)
