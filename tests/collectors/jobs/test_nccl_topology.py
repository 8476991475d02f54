"""NCCL's topology files."""

from __future__ import annotations

from pathlib import Path

from collectors.ingest import read_inputs, text_input
from collectors.observation import Observation, Sample
from collectors.registry import Registry
from collectors.scan import Scanner

LOG = Path(__file__).parents[3] / "fixtures" / "logs" / "nccl-topology" / "topo-dump.xml"


def test_sample() -> None:
    registry = Registry()
    text = LOG.read_text(encoding="utf-8")
    (intake,) = read_inputs([text_input("topo.xml", text)], Scanner(registry.patterns()), registry, now=1_764_547_200.0)
    assert intake.kind == "nccl-topology"
    found = {one.kind: one for one in intake.records if isinstance(one, Observation)}
    assert (found["topology-gpu"].entity, found["topology-gpu"].attributes["nvlinks"]) == ("gpu:0000:07:00.0", "12")
    assert (found["topology-net"].entity, found["topology-net"].attributes["gdr"]) == ("link:mlx5_0:1", "0")
    assert [one.value for one in intake.records if isinstance(one, Sample)] == [12.0]


def test_cut_off_file() -> None:
    registry = Registry()
    text = '<system version="1">\n  <cpu numaid="0">\n    <pci busid="0000:07:00.0">\n      <gpu dev="0"\n'
    (intake,) = read_inputs([text_input("topo.xml", text)], Scanner(registry.patterns()), registry, now=1_764_547_200.0)
    assert not [one for one in intake.records if isinstance(one, Observation)]
