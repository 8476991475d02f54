"""The intake: every line keeps its number whatever is cut where, hosts and years are settled, and odd input is taken."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors import blocks, hits
from collectors.ingest import Input, Intake, read_inputs, text_input
from collectors.observation import Observation, Record, Sample
from collectors.patterns import Pattern
from collectors.prefix import Line
from collectors.registry import UNEXPLAINED, Registry
from collectors.scan import Scanner

NOW = datetime(2025, 12, 1, tzinfo=UTC).timestamp()
PATTERNS = (
    Pattern("lost", r"GPU (?P<pci>[0-9a-f:.]+) is lost"),
    Pattern("chinese", r"磁盘 (?P<filesystem>\S+) 已满"),
    Pattern("end", r"quota reached$"),
    Pattern("host", r"peer (?P<node>[\w.-]+) is gone"),
)


@cache
def tools() -> tuple[Scanner, Registry]:
    registry = Registry()
    return Scanner([*registry.patterns(), *PATTERNS, UNEXPLAINED]), registry


def read(*texts: str | bytes, names: Sequence[str] = (), now: float = NOW) -> list[Intake]:
    inputs = [
        text_input(name, text)
        for name, text in zip(names or [f"{number}.log" for number in range(len(texts))], texts, strict=True)
    ]
    return read_inputs(inputs, *tools(), now=now)


def facts(intake: Intake, kind: str | None = None) -> list[Observation]:
    found = [one for one in intake.records if isinstance(one, Observation) and kind in (None, one.kind)]
    return [one for one in found if one.kind != "filtered"]


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


IBSTAT = """CA 'mlx5_0'
\tCA type: MT4129
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 100
\t\tBase lid: 12
\t\tLink layer: InfiniBand
"""


def test_a_fact_over_several_lines_is_kept_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    (intake,) = read(IBSTAT)
    (port,) = facts(intake, "port")
    lines = IBSTAT.split("\n")[port.line - 1 : port.line_end]
    assert len(lines) > 3 and port.raw == "\n".join(lines)
    monkeypatch.setattr(hits, "MOST_CITED", 2)
    (intake,) = read(IBSTAT)
    (port,) = facts(intake, "port")
    assert port.raw == "\n".join(lines[:2])


# --- lines


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_each_fact_stands_on_its_line(newline: str, end: str) -> None:
    lines = [
        "",
        "quota reached",
        "",
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
        "GPU 3b:00.0 is lost",
        "quota reached",
    ]
    (intake,) = read(newline.join(lines) + end.replace("\n", newline))
    assert intake.lines == 6
    assert [(one.line, one.kind, one.code) for one in facts(intake)] == [
        (2, "text", "end"), (4, "xid", "79"), (5, "text", "lost"), (6, "text", "end"),
    ]  # fmt: skip
    assert all(one.raw == lines[one.line - 1] for one in facts(intake))
    assert intake.recognised == 4


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("\n", 1), ("\n\n", 2), ("x", 1), ("x\ny", 2), ("x\n\ny\n", 3)])
def test_lines_are_counted(text: str, lines: int) -> None:
    (intake,) = read(text)
    assert (intake.lines, intake.records) == (lines, [])


MIXED = "\n".join(
    itertools.chain.from_iterable(
        (
            f"a quiet line {number}",
            "NVRM: The NVIDIA GPU 0000:b3:00.0",
            "NVRM: (PCI ID: 10de:26b5) installed in this system has",
            "NVRM: fallen off the bus and is not responding to commands.",
            f"GPU 0000:{number:02x}:00.0 is lost",
            f"磁盘 /data{number} 已满" + "。" * (number % 7),
            "",
            f"something failed in step {number}",
        )
        for number in range(40)
    )
)


@pytest.mark.parametrize("size", [7, 20, 64, 100, 129, 500, 1000, 4096, 10_000])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_cuts_between_blocks_change_nothing(size: int, newline: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = MIXED.replace("\n", newline)
    (whole,) = read(text)
    _cut_at(size, monkeypatch)
    (cut,) = read(text)
    assert set(map(_digest, cut.records)) == set(map(_digest, whole.records))
    assert len(cut.records) == len(whole.records)
    assert (cut.lines, cut.recognised, cut.unexplained, cut.hosts) == (
        whole.lines,
        whole.recognised,
        whole.unexplained,
        whole.hosts,
    )
    assert {one.line_end - one.line for one in facts(cut, "gpu_fallen")} == {2}
    assert len(facts(cut, "gpu_fallen")) == 40


def _digest(record: Record) -> tuple[object, ...]:
    assert isinstance(record, Observation)
    return (record.kind, record.code, record.line, record.line_end, record.text, record.raw, record.entity, record.node)


def test_an_open_block_that_is_too_long_is_not_carried_over(monkeypatch: pytest.MonkeyPatch) -> None:
    _cut_at(64, monkeypatch)
    monkeypatch.setattr(hits, "MOST_CARRY", 10)
    (intake,) = read(MIXED)
    assert intake.lines == MIXED.count("\n") + 1
    assert [one.line for one in facts(intake, "text") if one.code == "lost"] == [5 + 8 * number for number in range(40)]


def _cut_at(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks small, and have all of them read whole as those of a short input are."""
    monkeypatch.setattr(blocks, "BLOCK", size)
    monkeypatch.setattr(blocks, "SHORT", 10**9)


class _Dribble(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = min(5, size) if size >= 0 else len(self._data)
        found = self._data[self._place : self._place + size]
        self._place += len(found)
        return found


def test_a_pipe_that_gives_little_at_a_time_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = read(MIXED)
    _cut_at(blocks.BLOCK, monkeypatch)
    (intake,) = read_inputs([Input("pipe", _Dribble(MIXED.encode()))], *tools(), now=NOW)  # type: ignore[arg-type]
    assert intake.lines == whole.lines
    assert len(intake.records) == len(whole.records)


# --- what comes in


def test_binary_is_not_looked_at() -> None:
    (intake,) = read(bytes(range(256)) * 100 + b"\nGPU 3b:00.0 is lost\n")
    assert (intake.kind, intake.records, intake.notes) == ("binary", [], ["not text: looked at nothing"])


@pytest.mark.parametrize(
    ("encoding", "note"),
    [("utf-8", []), ("utf-8-sig", []), ("utf-16", ["UTF-16"]), ("gb18030", ["GB18030"])],
)
@pytest.mark.parametrize("size", [50, 1 << 20])
def test_encodings(encoding: str, note: list[str], size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _cut_at(size, monkeypatch)
    text = "第一行\r\n" + "磁盘 /data1 已满\n" + "没有问题的一行\n" * 100 + "磁盘 /data2 已满\n"
    (intake,) = read(text.encode(encoding))
    assert intake.notes == note
    assert intake.lines == 103
    assert [(one.line, one.entity, one.raw) for one in facts(intake)] == [
        (2, "filesystem:/data1", "磁盘 /data1 已满"),
        (103, "filesystem:/data2", "磁盘 /data2 已满"),
    ]


def test_broken_utf8_stays_utf8() -> None:
    (intake,) = read(
        "磁盘 /data1 已满\n被截断的一行磁".encode()[:-1] + b"\n" + "磁盘 /data2 已满\n".encode() + b"\xff\xfe\n"
    )
    assert [(one.line, one.entity) for one in facts(intake)] == [(1, "filesystem:/data1"), (3, "filesystem:/data2")]
    assert intake.notes == []


def test_one_very_long_line() -> None:
    (intake,) = read(
        b"x\n" + b"error in step 1; " * 300_000 + b"GPU 3b:00.0 is lost" + b" and more" * 1000 + b"\nquota reached"
    )
    assert intake.lines == 3
    assert [(one.line, one.code) for one in facts(intake, "text")] == [(2, "lost"), (3, "end")]
    assert facts(intake, "text")[0].entity == "gpu:0000:3b:00.0"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [line.encode() for line in MIXED.split("\n")[:8]]
            + [b"\xff\xfe", b"\x00", b"\r", b"\n", b"{", b"==> a <==", b"root@n:~# ls"]
        )
        | st.binary(max_size=12),
        max_size=25,
    ),
    st.sampled_from([b"\n", b"\r\n", b" "]),
)
def test_any_bytes_are_read(pieces: list[bytes], glue: bytes) -> None:
    data = glue.join(pieces)
    (intake,) = read(data)
    if intake.kind != "binary" and not intake.notes:
        assert intake.lines == data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)
    for record in intake.records:
        assert 1 <= record.line <= intake.lines


def test_many_hits_of_one_kind_are_read() -> None:
    (intake,) = read("something failed\n" * 100_000)
    assert intake.unexplained == 100_000
    assert len(facts(intake, "unexplained")) <= hits.MOST_UNEXPLAINED


@pytest.mark.parametrize("line", ["{", "[", "- a:", '"conditions": [', "NVRM: The NVIDIA GPU 0000:b3:00.0", "Name:  x"])
def test_heads_of_structures_that_never_end_are_read(line: str) -> None:
    (intake,) = read(f"{line}\n" * 20_000 + "GPU 3b:00.0 is lost\n")
    assert intake.lines == 20_001
    assert [one.line for one in facts(intake, "text")] == [20_001]


# --- hosts


def test_the_only_host_of_an_input_is_that_of_all_its_lines() -> None:
    (intake,) = read("Aug 20 23:41:07 node-b kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\nGPU 3b:00.0 is lost\n")
    assert [one.node for one in facts(intake)] == ["node-b", "node-b"]


def test_two_hosts_leave_the_rest_open() -> None:
    (intake,) = read(
        "Aug 20 23:41:07 node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\n"
        "Aug 20 23:41:07 node-b kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\n"
        "GPU 3b:00.0 is lost\n"
    )
    assert [one.node for one in facts(intake)] == ["node-a", "node-b", ""]


def test_a_prompt_tells_the_host_of_the_lines_below() -> None:
    (intake,) = read(
        "root@node-a:~# dmesg\nGPU 3b:00.0 is lost\n# a comment, which changes nothing\nGPU 3b:00.0 is lost\n"
        "root@node-b:~# dmesg\nGPU 3b:00.0 is lost\n"
        "$ cat notes\nGPU 3b:00.0 is lost\n"
    )
    assert [(one.line, one.node) for one in facts(intake, "text")] == [
        (2, "node-a"),
        (4, "node-a"),
        (6, "node-b"),
        (8, ""),
    ]


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("node-1-dmesg.log", "node-1"),
        ("logs/NODE-1.txt", "node-1"),
        ("node-12-dmesg.log", ""),
        ("xnode-1.log", ""),
        ("node-1-and-node-2.log", ""),
        ("node-1-gpu.log", "node-1-gpu"),
        ("other.log", ""),
    ],
)
def test_a_name_tells_the_host_when_another_input_knows_it(name: str, host: str) -> None:
    hosts = "".join(
        f"Aug 20 23:41:07 {known} kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\n"
        for known in ("node-1", "node-2", "node-1-gpu")
    )
    intake, _ = read("GPU 3b:00.0 is lost\n", hosts, names=[name, "all.log"])
    assert facts(intake)[0].node == host
    assert intake.notes == ([f"taken for {host} by the input's name"] if host else [])


def test_a_level_is_no_host() -> None:
    (intake,) = read(
        "2025-11-26 02:13:59 INFO trainer: GPU 3b:00.0 is lost\n2025-11-26 02:13:59 ERROR trainer: it failed\n"
    )
    assert not intake.hosts
    assert {one.node for one in facts(intake)} == {""}


def test_a_host_in_a_group_has_no_domain() -> None:
    (intake,) = read("peer Node-B.example.com is gone\n")
    assert facts(intake)[0].node == "node-b"


# --- years


def test_years_come_from_any_input() -> None:
    intakes = read(
        "[rank3]:[E1126 02:24:08.114208331 x.cpp:632] GPU 3b:00.0 is lost\n",
        "2025-11-24T06:12:03+00:00 node-a kernel: GPU 3b:00.0 is lost\n",
        "Dec 31 23:00:00 node-a kernel: GPU 3b:00.0 is lost\n",
        now=at("2026-07-01T00:00:00"),
    )
    assert [facts(one)[0].time for one in intakes] == [
        pytest.approx(at("2025-11-26T02:24:08.114208"), abs=1e-3),
        at("2025-11-24T06:12:03"),
        at("2024-12-31T23:00:00"),
    ]


def test_without_any_year_the_last_one_is_taken() -> None:
    (intake,) = read(
        "E1126 02:24:08.1 1 x.cpp:632] GPU 3b:00.0 is lost\nI0105 00:00:00.1 1 x.cpp:1] GPU 3b:00.0 is lost\n"
    )
    assert [one.time and datetime.fromtimestamp(one.time, UTC).year for one in facts(intake)] == [2025, 2025]


@pytest.mark.parametrize("stamp", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:07+00:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_that_means_none_moves_no_year(stamp: str) -> None:
    (intake,) = read(
        f"{stamp} node-a kernel: GPU 3b:00.0 is lost\nNov 26 02:24:08 node-a kernel: GPU 3b:00.0 is lost\n"
    )
    assert facts(intake)[-1].time == at("2025-11-26T02:24:08")


def test_a_number_that_only_looks_like_a_time_is_none() -> None:
    intake, other = read(
        'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 61 17702943000000000\nDCGM_FI_DEV_GPU_TEMP{gpu="0"} 61 1764123000000\n',
        "Nov 26 02:24:08 node-a kernel: GPU 3b:00.0 is lost\n",
    )
    assert [one.time for one in intake.records if isinstance(one, Sample)][1:] == [1764123000.0]
    assert all(one.time is None or one.time < 2e9 for one in intake.records if isinstance(one, Sample))
    assert facts(other)[0].time == at("2025-11-26T02:24:08")


# --- entities


def test_the_order_of_inputs_changes_nothing() -> None:
    texts = {
        "a.log": "E1126 02:24:08.1 1 x.cpp:632] GPU 3b:00.0 is lost\n",
        "b.log": "2025-11-24T06:12:03+00:00 node-a kernel: GPU 3b:00.0 is lost\n",
        "node-a.log": "peer node-b is gone\nit failed\n",
    }
    expected: dict[str, list[Record]] = {}
    for names in itertools.permutations(texts):
        for intake in read(*(texts[name] for name in names), names=names):
            assert intake.records == expected.setdefault(intake.name, intake.records)


def test_a_collector_that_fails_costs_its_fact_and_a_note() -> None:
    def fail(line: Line) -> Iterator[Record]:
        yield Observation("odd", "ratio", "a", 1, 1, str(1 / len(line.labels)))

    failing = ModuleType("failing")
    vars(failing).update(SOURCE="odd", LAYERS=(), ANCHORS=(r"division by \w+",), parse_line=fail)
    registry = Registry((failing,))
    scanner = Scanner([*registry.patterns(), *PATTERNS])
    (intake,) = read_inputs([text_input("a", "division by zero\nquota reached\n")], scanner, registry, now=NOW)
    assert intake.notes == ["failing could not read line 1 (ZeroDivisionError)"]
    assert [(one.line, one.kind) for one in facts(intake)] == [(1, "unexplained"), (2, "text")]
