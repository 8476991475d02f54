"""The one door: inputs in, a report out; the same inputs in any order, engine or store give the same bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebase.library import Library
from collectors.engines import Re2Engine
from collectors.ingest import text_input
from collectors.registry import UNEXPLAINED, Registry
from collectors.store import Store
from diagnosis.engine import Knowledge, diagnose, take_in, triage
from diagnosis.model import Report
from diagnosis.rulebook import load_rulebook
from tests.diagnosis.making import cause, evidence, make_rulebook, symptom

NOW = 1_764_547_200.0  # 2025-12-01T00:00:00Z
SAMPLES = sorted((Path(__file__).parents[2] / "fixtures" / "incidents").glob("*/case.yaml"))

KERNEL_A = """\
Nov 26 02:13:58 node-a kernel: [310911.440000] mlx5_core 0000:5e:00.0 mlx5_3: Port: 1 Link DOWN
Nov 26 02:14:07 node-a kernel: [310912.440000] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.
Nov 26 02:14:07 node-a kernel: [310912.440000] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
Nov 26 02:14:09 node-a kernel: [310914.440000] NVRM: Xid (PCI:0000:5e:00): 45, pid=1234, name=python, Ch 00000008
"""
KERNEL_B = "".join(
    f"2025-11-26T02:14:0{second}.000000+00:00 node-b kernel: NVRM: Xid (PCI:0000:{bus}:00): {code}, pid=99, name=python, Ch 00000008\n"
    for second, (bus, code) in enumerate([("1b", 31), ("3b", 31), ("43", 31), ("52", 13), ("5e", 43), ("61", 43)])
)
TRAINING = (
    "".join(
        f"[rank{number}]:[E1126 02:24:08.114208331 ProcessGroupNCCL.cpp:632] [Rank {number}] Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={7867 - (number == 3)}, OpType=ALLREDUCE, NumelIn=6553600, NumelOut=6553600, Timeout(ms)=600000) ran for 600006 milliseconds before timing out.\n"
        for number in range(8)
    )
    + "node-b:97:412 [3] NCCL WARN NET/IB : Got completion from peer 10.0.0.12<4711> with status=12 opcode=0 len=0 vendor err 129\n"
)
EVENTS = """\
$ kubectl get events -n train
LAST SEEN   TYPE      REASON             OBJECT                MESSAGE
12m         Warning   FailedScheduling   pod/worker-1          0/2 nodes are available: 2 Insufficient nvidia.com/gpu.
10m         Warning   BackOff            pod/worker-0          Back-off restarting failed container pytorch in pod worker-0_train
9m          Warning   FailedMount        pod/worker-2          MountVolume.SetUp failed for volume "pvc-1" : rpc error: code = DeadlineExceeded
"""
METRICS = "".join(
    f'DCGM_FI_DEV_{name}{{gpu="{gpu}",UUID="GPU-a{gpu}",pci_bus_id="00000000:{bus}:00.0",Hostname="node-a"}} {value} {1764123000000 + 60000 * step}\n'
    for step in range(12)
    for gpu, bus in enumerate(("1B", "3B", "43", "52"))
    for name, value in (
        ("GPU_TEMP", 91 if gpu == 1 else 60),
        ("GPU_UTIL", 0 if gpu == 3 else 97),
        ("XID_ERRORS", 79 if gpu == 1 and step > 6 else 0),
    )
)
CHINESE = """\
11月 26 02:14:08 node-c kernel: EXT4-fs error (device nvme0n1p1): ext4_find_entry:1446: inode #2: comm python: reading directory lblock 0
2025-11-26 02:14:10,123 ERROR 训练: 写入检查点失败：设备上没有空间 No space left on device: '/data/ckpt'
something quite unheard of failed with code 17
something quite unheard of failed with code 18
"""
GATHERED: Mapping[str, str] = {
    "node-a-dmesg.log": KERNEL_A, "node-b-dmesg.log": KERNEL_B, "train.log": TRAINING, "events.txt": EVENTS, "dcgm.prom": METRICS, "notes.txt": CHINESE,
}  # fmt: skip


@cache
def shipped() -> Knowledge:
    return Knowledge.build(load_rulebook())


def report_of(inputs: Sequence[tuple[str, str | bytes]], knowledge: Knowledge | None = None, **fields: Any) -> Report:
    return triage([text_input(name, data) for name, data in inputs], knowledge or shipped(), now=NOW, **fields)


def same(report: Report) -> str:
    return report.model_dump_json(by_alias=True, exclude={"id", "created"}, indent=1)


def gathered() -> list[list[tuple[str, str | bytes]]]:
    samples: list[list[tuple[str, str | bytes]]] = [
        [(path.name, path.read_bytes()) for path in sorted(sample.parent.iterdir()) if path.name != "case.yaml"]
        for sample in SAMPLES
    ]
    return [*samples, list(GATHERED.items())]


# --- the order of inputs


@pytest.mark.parametrize("inputs", gathered(), ids=[*(path.parent.name for path in SAMPLES), "gathered"])
def test_the_order_of_inputs_changes_no_byte(inputs: list[tuple[str, str | bytes]]) -> None:
    expected = same(report_of(inputs))
    assert '"diagnosed"' in expected or '"undecided"' in expected
    for seed in range(3):
        random.Random(seed).shuffle(inputs)
        assert same(report_of(inputs)) == expected
    assert same(report_of(inputs[::-1], language="zh")) == same(report_of(sorted(inputs), language="zh"))


_LINES = st.sampled_from([line for data in GATHERED.values() for line in data.splitlines()])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(_LINES, min_size=1, max_size=12), min_size=2, max_size=5), st.randoms())
def test_any_lines_in_any_order_of_inputs_give_one_report(texts: list[list[str]], chance: random.Random) -> None:
    inputs: list[tuple[str, str | bytes]] = [(f"{number}.log", "\n".join(lines)) for number, lines in enumerate(texts)]
    expected = same(report_of(inputs))
    chance.shuffle(inputs)
    assert same(report_of(inputs)) == expected


def test_both_engines_give_one_report() -> None:
    rulebook = load_rulebook()
    registry = Registry()
    engine = Re2Engine([*registry.patterns(), *rulebook.patterns, UNEXPLAINED])
    other = Knowledge.build(rulebook, engine=engine)
    for inputs in gathered():
        assert same(report_of(inputs, other)) == same(report_of(inputs))


def test_windows_newlines_change_nothing() -> None:
    inputs = list(GATHERED.items())
    assert same(report_of([(name, data.replace("\n", "\r\n")) for name, data in inputs])) == same(report_of(inputs))


# --- what the report says


@pytest.mark.parametrize("inputs", gathered(), ids=[*(path.parent.name for path in SAMPLES), "gathered"])
def test_a_report_cites_lines_as_they_stand(inputs: list[tuple[str, str | bytes]]) -> None:
    texts = {
        name: (data.encode() if isinstance(data, str) else data).decode("utf-8", "replace").split("\n")
        for name, data in inputs
    }
    report = report_of(inputs)
    jsonschema.validate(json.loads(report.model_dump_json(by_alias=True)), Report.model_json_schema(by_alias=True))
    cited = [line for cause in report.causes for line in cause.evidence]
    cited += [line for seen in report.symptoms for line in seen.evidence] + [part.first for part in report.unexplained]
    assert cited
    for line in cited:
        raw = texts[line.input][line.line - 1]
        if line.input.endswith(".prom"):  # a sample is cited by its name and value
            assert raw.startswith(line.text.split()[0])
        else:
            shown = line.text.count("\n") + 1
            assert line.text == "\n".join(texts[line.input][line.line - 1 : line.line - 1 + shown])[:2000]
            assert shown <= (line.line_end or line.line) - line.line + 1
        assert line.line_end is None or line.line < line.line_end <= len(texts[line.input])
    for part in report.inputs:
        text = texts[part.input]
        assert part.lines == len(text) - (text[-1] == "")
        assert part.recognised <= part.lines
    assert [cause.rank for cause in report.causes] == list(range(1, len(report.causes) + 1))
    assert {cause.because_of for cause in report.causes if cause.verdict == "consequence"} <= {
        cause.cause for cause in report.causes
    }


def test_stamps_without_a_year_take_that_of_the_other_inputs() -> None:
    report = report_of(list(GATHERED.items()))
    years = {line.time[:4] for cause in report.causes for line in cause.evidence if line.time}
    assert years == {"2025"}


# --- a small rulebook


@pytest.fixture
def small(tmp_path: Path) -> Knowledge:
    rulebook = make_rulebook(
        tmp_path,
        cause("gpu.lost", evidence({"kind": "xid", "code": 79}, "decisive"), leads_to=["gone", "nccl.peer"]),
        cause(
            "nccl.peer",
            evidence({"pattern": r"peer (?P<rank>\d+) went away"}, "strong"),
            leads_to=["hang"],
            entity="rank",
        ),
        symptom("hang", {"pattern": "collective timeout"}),
    )
    return Knowledge.build(rulebook, Library())


XID = "Nov 26 02:14:07 node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"


def test_the_root_is_told_from_its_consequence(small: Knowledge) -> None:
    report = report_of([("train.log", "peer 3 went away\ncollective timeout\n"), ("a.log", XID)], small)
    assert [(one.cause, one.verdict, one.entity) for one in report.causes] == [
        ("gpu.lost", "root", "gpu:node-a/0000:3b:00.0"), ("nccl.peer", "consequence", "rank:3"),
    ]  # fmt: skip
    assert [one.symptom for one in report.symptoms] == ["hang"]
    assert report.outcome == "diagnosed"


@pytest.mark.parametrize(
    "inputs",
    [
        [],
        [("a", b"")],
        [("a", b"\n\n")],
        [("a", bytes(range(256)) * 300)],
        [("a", b"\xff\xfe" + "Xid".encode("utf-16-le"))],
        [("a", b"x" * 5_000_000)],
        [("a", b"error " * 800_000)],
        [("a", "错误".encode("gb18030") * 100)],
        [("a", b"{" * 10_000)],
        [("a", b"[" * 100_000 + b"\n- " * 1000)],
        [("", "")],
    ],
)
def test_odd_input_gives_a_report(small: Knowledge, inputs: list[tuple[str, bytes]]) -> None:
    report = report_of(inputs, small)
    assert report.outcome == "nothing-found"
    assert [part.input for part in report.inputs] == [name for name, _ in inputs]


def test_two_inputs_of_one_name_are_two(small: Knowledge) -> None:
    report = report_of([("a.log", XID), ("a.log", "quiet\n" * 3)], small)
    assert sorted(part.lines for part in report.inputs) == [1, 3]
    assert same(report) == same(report_of([("a.log", "quiet\n" * 3), ("a.log", XID)], small))


def test_a_window_leaves_the_rest_out(small: Knowledge) -> None:
    at = 1764123247.0  # of the Xid
    assert report_of([("a.log", XID)], small, since=at, until=at).outcome == "diagnosed"
    assert report_of([("a.log", XID)], small, since=at + 1).outcome == "nothing-found"
    assert report_of([("a.log", XID)], small, until=at - 1).outcome == "nothing-found"


def test_what_is_kept_is_diagnosed_again(small: Knowledge, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "kept.duckdb")
    first = report_of([("a.log", XID)], small, store=store, batch="one")
    second = report_of([("b.log", "collective timeout\n")], small, store=store, batch="two")
    assert [one.cause for one in first.causes] == ["gpu.lost"]
    assert (second.causes, [one.symptom for one in second.symptoms]) == ([], ["hang"])
    store.close()
    store = Store.open(tmp_path / "kept.duckdb")
    whole = diagnose(store, small, now=NOW)
    assert [one.cause for one in whole.causes] == ["gpu.lost"]
    assert [one.symptom for one in whole.symptoms] == ["hang"]
    assert [part.input for part in whole.inputs] == ["a.log", "b.log"]
    assert [one.cause for one in diagnose(store, small, now=NOW, batches=["one"]).causes] == ["gpu.lost"]
    store.close()


def test_the_same_input_twice_proves_nothing_more(small: Knowledge) -> None:
    store = Store.open()
    for batch in ("one", "two"):
        take_in([text_input("a.log", XID)], small, store, now=NOW, batch=batch)
    twice = diagnose(store, small, now=NOW)
    assert [(one.cause, one.probability, len(one.evidence)) for one in twice.causes] == [("gpu.lost", 0.95, 1)]


def test_a_hundred_thousand_hits_are_diagnosed(small: Knowledge) -> None:
    report = report_of([("a.log", XID * 20_000 + "peer 3 went away\n" * 80_000)], small)
    assert [(one.cause, one.verdict) for one in report.causes] == [("gpu.lost", "root"), ("nccl.peer", "consequence")]
    assert report.inputs[0].lines == 100_000
