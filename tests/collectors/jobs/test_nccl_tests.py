"""Output of nccl-tests of all versions is read, also between NCCL's lines and behind mpirun's prefixes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.ingest import read_inputs, text_input
from collectors.jobs import nccl_tests
from collectors.observation import Observation, Record, Relation
from collectors.prefix import peel
from collectors.registry import Registry
from collectors.scan import Scanner

SAMPLE = Path(__file__).parents[3] / "fixtures/logs/nccl-tests/all-reduce-two-hosts-without-gpudirect.log"


def read(raw: str) -> list[Record]:
    return list(nccl_tests.parse_line(peel("x.log", 1, raw)))


def row(raw: str) -> Observation:
    return next(one for one in read(raw) if isinstance(one, Observation))


@pytest.mark.parametrize(
    ("raw", "busbw", "in_place"),
    [
        ("  8589934592    2147483648     float     sum      -1    33589  255.74  479.50      0    33580  255.80  479.63      0",
         "479.50", "479.63"),
        ("       65536          1024   float             58.12    1.13    1.06  0e+00    57.80    1.13    1.06  0e+00", "1.06", "1.06"),
        ("     1048576        262144   float     sum    20.36    51.50    96.57  5e-07    20.57    50.98    95.58  5e-07", "96.57", "95.58"),
        (" 17179869184    2147483648    double     sum      -1  1128428   15.22   15.22       0  1128397   15.23   15.23    N/A",
         "15.22", "15.23"),
        ("   268435456       4194304  bfloat16    none      -1    870.2  308.47  289.19      0    872.7  307.59  288.36      0",
         "289.19", "288.36"),
        (("[1,0]<stdout>:  1073741824     268435456     float     sum      -1[1,0]<stdout>:   4577.2  234.59  439.85      0"
          "[1,0]<stdout>:   4635.4  231.64  434.32      0"), "439.85", "434.32"),
        ("[0]  1073741824     268435456     float     sum      -1[0]    340.8    1.54    2.95      0[0]    2302.3    0.46    0.87      0",
         "2.95", "0.87"),
    ],
)  # fmt: skip
def test_rows_of_all_versions(raw: str, busbw: str, in_place: str) -> None:
    found = row(raw)
    assert (found.kind, found.code) == ("test-row", "")
    assert (found.attributes["busbw"], found.attributes["in_place"]) == (busbw, in_place)


def test_wrong_results_are_told_from_an_error_bound() -> None:
    wrong = "   1048576        262144     float     sum      -1    140.3    7.47    7.01     16    139.8    7.50    7.03      0"
    assert row(wrong).code == "corrupt"


def test_devices_name_rank_host_and_gpu() -> None:
    found = read("#  Rank  9 Group  0 Pid  30211 on   node-a.example.net device  1 [0000:43:00] NVIDIA H100 80GB HBM3")
    one = next(record for record in found if isinstance(record, Observation))
    assert (one.node, one.attributes["rank"], one.attributes["model"]) == ("node-a", "9", "NVIDIA H100 80GB HBM3")
    assert {(one.upper, one.lower) for one in found if isinstance(one, Relation)} == {
        ("rank:9", "node:node-a"),
        ("rank:9", "gpu:0000:43:00.0"),
    }
    old = read("#   Rank  1 Pid 110419 on test-a device  1 [0x86] Tesla T4")
    assert {one.lower for one in old if isinstance(one, Relation)} == {"node:test-a", "gpu:0000:86:00.0"}


def test_table_of_the_torch_benchmark() -> None:
    found = row("|   16GiB | 482.26GBps | 275.58GBps |")
    assert (found.attributes["size"], found.attributes["busbw"]) == (str(16 << 30), "482.26")
    start = row("The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):")
    assert (start.code, start.attributes["ranks"]) == ("all_reduce", "8")
    hardware = row("- hardware: _CudaDeviceProperties(name='NVIDIA H200', major=9, minor=0, total_memory=143155MB)")
    assert hardware.attributes["model"] == "NVIDIA H200"


def test_sample_is_recognised() -> None:
    registry = Registry()
    (intake,) = read_inputs(
        [text_input(SAMPLE.name, SAMPLE.read_bytes())], Scanner(registry.patterns()), registry, now=1.0
    )
    assert {"nccl", "nccl-tests"} <= set(intake.kinds)
    assert sum(isinstance(one, Observation) and one.kind == "test-row" for one in intake.records) == 3


@given(st.text(max_size=120))
def test_any_line_is_taken(raw: str) -> None:
    read(raw)
    read("  1 2 float sum -1 " + raw)
