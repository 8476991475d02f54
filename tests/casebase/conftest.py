"""A taxonomy to check ids against, and small cases to work with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from casebase.case import Case, parse_case
from casebase.library import Library, load_cases

ROOT = Path(__file__).parents[2]

HEAD = """\
---
id: {id}
title: {{en: 'The {id}', zh: '案例 {id}'}}
cause: {cause}
also: [{also}]
layer: hardware
symptoms: [{symptoms}]
entity: gpu
signals: [{signals}]
summary: {{en: 'It failed.', zh: '出错了。'}}
fix: {{en: 'Replace it.', zh: '更换。'}}
source: 'example/repository issue 1'
confidence: confirmed
---
## What was seen
{body}
"""


@pytest.fixture(scope="session")
def taxonomy() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "rules" / "taxonomy.yaml").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def shipped() -> Library:
    return load_cases()


@pytest.fixture(scope="session")
def case_text() -> Callable[..., str]:
    def write(id: str = "lost-card", **fields: str) -> str:  # noqa: A002
        defaults = {
            "cause": "gpu.fell-off-bus",
            "also": "",
            "symptoms": "gpu-lost",
            "signals": "'xid:79'",
            "body": "Nothing.",
        }
        return HEAD.format(id=id, **defaults | fields)

    return write


@pytest.fixture(scope="session")
def make_case(case_text: Callable[..., str]) -> Callable[..., Case]:
    def make(id: str = "lost-card", **fields: str) -> Case:  # noqa: A002
        return parse_case(case_text(id, **fields), name=f"{id}.md")

    return make
