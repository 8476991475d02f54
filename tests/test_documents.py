"""The documents are made from the code where they speak of it, and stay so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.documents import ROOT, expected_documents


@pytest.mark.parametrize("name", ["README.md", "docs/report.md", "docs/coverage.md", "diagnosis/report.schema.json"])
def test_generated_parts_are_current(name: str) -> None:
    path = ROOT / name
    wanted = expected_documents()[path]
    if os.environ.get("UPDATE_EXPECTED"):
        path.write_text(wanted, "utf-8")
    assert path.is_file(), "run UPDATE_EXPECTED=1 pytest tests/test_documents.py"
    assert path.read_text("utf-8") == wanted, "stale: run UPDATE_EXPECTED=1 pytest tests/test_documents.py"


def test_every_data_file_of_the_rules_is_read() -> None:
    from diagnosis.rulebook import load_rulebook

    rulebook = load_rulebook()
    read = {place.partition(":")[0] for place in rulebook.places.values()}
    files = {f"rules/{path.relative_to(ROOT / 'rules')}" for path in (ROOT / "rules").glob("*/*.yaml")}
    assert read == files


def test_each_case_names_known_ids() -> None:
    from casebase.library import load_cases
    from diagnosis.rulebook import load_rulebook

    vocabulary = load_rulebook().vocabulary
    assert len(load_cases(causes=vocabulary.causes, symptoms=vocabulary.symptoms)) >= 15


def test_the_vocabulary_of_the_code_is_that_of_the_taxonomy() -> None:
    from typing import get_args

    from diagnosis.model import LAYERS
    from diagnosis.rulebook import load_rulebook
    from diagnosis.rulebook.schema import EntityKind

    vocabulary = load_rulebook().vocabulary
    assert tuple(vocabulary.layers) == LAYERS
    assert set(get_args(EntityKind)) == set(vocabulary.entities)


def test_paths_in_documents_exist() -> None:
    for document in sorted((ROOT / "docs").glob("*.md")):
        assert Path(document).read_text("utf-8").startswith("# ")
