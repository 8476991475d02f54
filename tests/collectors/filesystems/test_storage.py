"""Lustre imports, JuiceFS requests, Ceph health; and the loading of weights."""

from __future__ import annotations

import pytest

from collectors.filesystems import storage
from collectors.jobs import weights
from tests.collectors.gpu.gpu_reading import FIXTURES, observed, read

CLIENTS = (FIXTURES / "storage/clients.txt").read_text("utf-8")


def test_lustre_imports() -> None:
    found = observed(read(storage, CLIENTS), "lustre-import")
    assert [(one.code, one.entity, one.line, one.line_end) for one in found] == [
        ("EVICTED", "filesystem:lfs01", 2, 3), ("FULL", "filesystem:lfs01", 7, 8),
    ]  # fmt: skip
    assert found[0].attributes["history"] == "CONNECTING EVICTED"


def test_juicefs() -> None:
    found = observed(read(storage, CLIENTS), "juicefs")
    assert [one.code for one in found] == ["slow-request", "slow-operation", "retry", "flush-timeout"]
    assert (found[0].attributes["seconds"], found[1].attributes["seconds"], found[2].attributes["try"]) == (
        "30.011",
        "34.108269",
        "4",
    )


def test_old_juicefs_in_syslog() -> None:
    text = "Feb 23 14:08:22 host /usr/local/bin/juicefs[15590]: juicefs[15590] <ERROR>: flush 3 timeout after waited 5m0s [writer.go:1]\n"
    assert [one.code for one in observed(read(storage, text), "juicefs")] == ["flush-timeout"]


def test_ceph() -> None:
    records = read(storage, CLIENTS)
    assert [one.code for one in observed(records, "ceph-health")] == ["WARN"]
    assert observed(records, "ceph-slow")[0].attributes == {"count": "256", "seconds": "3285"}
    jewel = read(storage, "            150 requests are blocked > 32 sec; 11 osds have slow requests\n")
    assert observed(jewel, "ceph-slow")[0].attributes["seconds"] == "32"


def test_weights() -> None:
    found = observed(read(weights, (FIXTURES / "serving/weights-over-slow-storage.log").read_text("utf-8")), "weights")
    assert [one.code for one in found] == ["start", "done", "done"]
    assert (found[1].time or 0) - (found[0].time or 0) == 7166
    (newer,) = observed(
        read(
            weights,
            "INFO 09-14 07:21:04 [gpu_model_runner.py:3911] Model loading took 64.8 GiB memory and 24.9 seconds\n",
        ),
        "weights",
    )
    assert (newer.attributes["gib"], newer.attributes["seconds"]) == ("64.8", "24.9")


@pytest.mark.parametrize(
    "text", ["osc.x.state=\n", "juicefs[1] <INFO>: \n", "HEALTH_OK\n", "mdc.a-MDT0000-mdc-1.state=\ncurrent_state:\n"]
)
def test_odd_input_yields_nothing(text: str) -> None:
    assert read(storage, text) == []


def test_slow_requests_of_the_metadata_server_are_its_own() -> None:
    text = "    mds.cephfs.a(mds.0): 12 slow requests are blocked > 30 secs\nHEALTH_WARN 31 slow ops, oldest one blocked for 712 sec\n"
    found = observed(read(storage, text), "ceph-slow")
    assert [one.attributes.get("daemon", "") for one in found] == ["mds", ""]
