"""Exports and copies are opened line for line: the message, when and where, and the line as it stands in the input."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.engines import Re2Engine
from collectors.envelopes import has_lone_returns, is_answer, read_answer, tell_envelope
from collectors.ingest import Input, Intake, read_inputs
from collectors.observation import Observation
from collectors.registry import Registry
from collectors.scan import Scanner

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=python, GPU has fallen off the bus."
AT = 1769832900.0  # 2026-01-31T04:15:00Z


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry()


@pytest.fixture(scope="module")
def scanner(registry: Registry) -> Scanner:
    patterns = [one for one in registry.patterns() if "nvrm" in one.key]
    return Scanner(patterns, Re2Engine(patterns))


def read(text: str, scanner: Scanner, registry: Registry) -> tuple[Intake, list[Observation]]:
    (intake,) = read_inputs([Input("a", io.BytesIO(text.encode()))], scanner, registry, now=AT)
    return intake, [one for one in intake.records if isinstance(one, Observation) and one.kind == "xid"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f'"@timestamp","host.name","message"\n"2026-01-31T04:15:00Z","node-a","{XID}"\n', 2),
        (f'host,time,message\nnode-a,2026-01-31 04:15:00,"before, it was well"\nnode-a,1769832900000,"{XID}"\n', 3),
        (f"\n@timestamp,node,message\n2026-01-31T04:15:00Z,node-a,{XID}\n", 3),
        (f"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1769832900000000\n_HOSTNAME=node-a\n_TRANSPORT=kernel\nMESSAGE={XID}\n\n", 5),
    ],
)  # fmt: skip
def test_an_export_gives_time_and_host(text: str, line: int, scanner: Scanner, registry: Registry) -> None:
    intake, (fact,) = read(text, scanner, registry)
    assert (fact.line, fact.time, fact.node) == (line, AT, "node-a")
    assert fact.text == XID
    assert fact.raw == text.split("\n")[line - 1]
    assert intake.lines == text.count("\n")
    assert len(intake.notes) == 1


def test_a_message_of_several_lines_in_a_cell(scanner: Scanner, registry: Registry) -> None:
    text = f'time,message\n2026-01-31T04:15:00Z,"Traceback ""x"":\n  File\n{XID}"\n2026-01-31T04:16:00Z,"{XID}"\n'
    _, facts = read(text, scanner, registry)
    assert [one.line for one in facts] == [4, 5]
    assert facts[0].text == XID


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n",
        "time,rank,step\n1,2,3\n",
        "message without, comma of time\n",
        "step,message\n1,2\n",
        "x" * 100,
        "",
        ",\n" * 9,
    ],
)
def test_other_texts_are_left_alone(text: str) -> None:
    assert tell_envelope(text.encode()) is None


def test_a_table_as_wide_as_a_terminal_is_not_wrapped() -> None:
    row = "| " + "N/A   32C    P0    54W / 300W |".ljust(76) + "|\n"
    border = "+" + "-" * 77 + "+\n"
    assert tell_envelope((border + (row + border) * 20).encode()) is None


def test_pieces_of_a_wrapped_line_are_put_together(scanner: Scanner, registry: Registry) -> None:
    whole = [f"2026-01-31T04:15:0{second}+00:00 node-a kernel: {XID} {'x' * second}" for second in range(9)]
    text = "".join(line[at : at + 80] + "\n" for line in whole for at in range(0, len(line), 80))
    intake, facts = read(text, scanner, registry)
    assert [one.line for one in facts] == [1, 3, 5, 7, 9, 11, 13, 15, 17]
    assert facts[0].raw.strip() == whole[0].strip()
    assert intake.notes[0] == "lines wrapped at 80 columns, put together again"


def test_parts_of_a_cri_line_are_put_together(scanner: Scanner, registry: Registry) -> None:
    head = "2026-01-31T04:15:00.000000000Z stderr"
    text = f"{head} P {XID[:20]}\n2026-01-31T04:15:00.0Z stdout F other\n{head} P {XID[20:40]}\n{head} F {XID[40:]}\n"
    _, (fact,) = read(text, scanner, registry)
    assert (fact.line, fact.text, fact.time) == (1, XID, AT)


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "success", "data": {"resultType": "streams", "result": [{"stream": {"node": "node-a"}, "values": [["1769832900000000000", XID]]}]}},
        {"hits": {"hits": [{"_source": {"@timestamp": "2026-01-31T04:15:00Z", "host": {"name": "node-a"}, "message": XID}}]}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("indent", [None, 2])
def test_an_answer_is_read_message_by_message(
    answer: object, indent: int | None, scanner: Scanner, registry: Registry
) -> None:
    intake, (fact,) = read(json.dumps(answer, indent=indent), scanner, registry)
    assert (fact.line, fact.time, fact.node, fact.text) == (1, AT, "node-a", XID)
    assert "a JSON answer: lines count its messages" in intake.notes


@pytest.mark.parametrize("text", ['{"kind": "List", "items": []}', '{"hits": 1}', "[1]", "{", '{"events": [{"x": 1}]}'])
def test_other_json_is_no_answer(text: str) -> None:
    assert not is_answer(text.encode()) or read_answer(text.encode()) is None


def test_carriage_returns_alone_end_lines(scanner: Scanner, registry: Registry) -> None:
    assert has_lone_returns(b"a\rb\r") and not has_lone_returns(b"a\rb\r\n")
    intake, facts = read(f"one\r{XID}\rthree\r", scanner, registry)
    assert (intake.lines, [one.line for one in facts]) == (3, [2])


_PIECES = st.sampled_from(
    ["time,message\n", '"', '""', "\n", ",", "2026-01-31T04:15:00Z", " stderr P ", " stdout F ", "MESSAGE=", "__CURSOR=x\n", "x" * 80, "[rank3]:", "\r", "{"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=40).map("".join))
def test_lines_stay_as_many_as_they_are(text: str) -> None:
    data = text.encode()
    envelope = tell_envelope(data)
    if envelope is not None:
        cut = len(data) // 2
        cut = data.rfind(b"\n", 0, cut) + 1
        for part, last in ((data[:cut], False), (data[cut:], True)):
            assert envelope.open(part, last).data.count(b"\n") == part.count(b"\n")
