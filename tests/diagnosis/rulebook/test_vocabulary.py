"""The taxonomy: layers, entities, symptoms and causes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from diagnosis.model import LAYERS
from diagnosis.rulebook import RuleError, find_rules_folder
from diagnosis.rulebook.schema import EntityKind
from diagnosis.rulebook.vocabulary import load_vocabulary
from tests.diagnosis.making import TAXONOMY


def write(folder: Path, value: object) -> Path:
    path = folder / "taxonomy.yaml"
    path.write_text(yaml.safe_dump(value), "utf-8")
    return path


def test_a_taxonomy_is_read(tmp_path: Path) -> None:
    vocabulary = load_vocabulary(write(tmp_path, TAXONOMY))
    assert vocabulary.layer_of("gpu.lost") == "hardware"
    assert vocabulary.layer_of("no.such-cause") == "application"
    assert vocabulary.causes["gpu.lost"] == ("hardware", "a GPU is lost")


def test_the_shipped_taxonomy_agrees_with_the_code() -> None:
    vocabulary = load_vocabulary(find_rules_folder() / "taxonomy.yaml")
    assert tuple(vocabulary.layers) == LAYERS
    assert set(vocabulary.entities) == set(EntityKind.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", ["layers", "entities", "symptoms", "causes"])
def test_a_part_that_is_missing_is_named(tmp_path: Path, key: str) -> None:
    taxonomy = {name: value for name, value in TAXONOMY.items() if name != key}
    with pytest.raises(
        RuleError, match=rf"^taxonomy\.yaml:1: expected layers, entities, symptoms and causes: '{key}'$"
    ):
        load_vocabulary(write(tmp_path, taxonomy))


@pytest.mark.parametrize(
    "value", [None, [], "text", {**TAXONOMY, "causes": {"a.b": "text"[:1]}}, {**TAXONOMY, "causes": {"a.b": 3}}]
)
def test_another_shape_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(RuleError, match=r"^taxonomy\.yaml:1: expected layers, entities, symptoms and causes"):
        load_vocabulary(write(tmp_path, value))


def test_an_unknown_layer_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, {**TAXONOMY, "causes": {"gpu.lost": ["hardwear", "x"]}})
    line = path.read_text("utf-8").splitlines().index("  gpu.lost:") + 1
    with pytest.raises(RuleError, match=rf"^taxonomy\.yaml:{line}: layer `hardwear` is none of application, "):
        load_vocabulary(path)


def test_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"^taxonomy\.yaml:1: can't be read: No such file or directory$"):
        load_vocabulary(tmp_path / "taxonomy.yaml")
