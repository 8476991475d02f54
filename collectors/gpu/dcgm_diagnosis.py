"""`dcgmi diag -j`: results of the diagnostic as JSON.

DCGM 2.x and 3.x (`DCGM GPU Diagnostic`, results by `gpu_ids`, warnings as texts or objects) and 4.x (`DCGM Diagnostic`, results
by `entity_group` and `entity_id`); format: NVIDIA/DCGM `nvvs/include/JsonOutput.h`, `dcgmi/Diag.cpp`. Sample::

    {
        "DCGM GPU Diagnostic": {
            "test_categories": [
                {
                    "category": "Hardware",
                    "tests": [
                        {
                            "name": "GPU Memory",
                            "results": [
                                {
                                    "gpu_ids": "0",
                                    "status": "FAIL",
                                    "warnings": [{"warning": "GPU 0 had an uncontained error", "error_id": 96}],
                                }
                            ],
                        }
                    ],
                }
            ]
        }
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collectors.block import Reader
from collectors.gpu.dcgm_messages import find_codes
from collectors.json_document import read_enclosing
from collectors.observation import Observation, Record
from collectors.tree import Tree

SOURCE = "dcgm"
LAYERS = ("hardware",)
SIGNATURES = (r'"DCGM (?:GPU )?Diagnostic"\s*:', r'"test_categories"\s*:')
HEADS = (r'"DCGM (?:GPU )?Diagnostic"\s*:',)
_RESULTS = {
    "pass": "pass",
    "fail": "fail",
    "warn": "warn",
    "skip": "skip",
    "skipped": "skip",
    "notrun": "skip",
    "not run": "skip",
}


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `dcgm_test` (code = the test's name, attribute result), `dcgm_warning` and `dcgm_code` observations, one for each
    result of a test, as the boxes of `dcgmi diag` give them."""
    document = read_enclosing(reader)
    root = next((one for name, one in document.fields.items() if name.startswith("DCGM ")), None)
    if root is None:
        return
    version = root.text("version") or document.text("metadata", "version")
    for category in root.at("test_categories").items:
        for test in category.at("tests").items:
            for result in test.at("results").items:
                yield from _read_result(test.text("name"), result, version, reader.input)


def _read_result(name: str, result: Tree, version: str, source: str) -> Iterator[Record]:
    test = re.sub(r"[ _]+", "_", name.strip().lower())
    outcome = _RESULTS.get(result.text("status").lower(), "")
    if not test or not outcome:
        return
    gpus = result.text("gpu_ids") or (result.text("entity_id") if result.text("entity_group") in ("GPU", "") else "")
    found = {"result": outcome, "test": test, **({"version": version} if version else {})}
    if outcome in ("fail", "warn") and gpus[:1].isdigit():
        found["gpu"] = gpus.partition(",")[0]
    warnings = [_warning(one) for one in [*result.at("warnings").items, *result.at("warning").items]]
    message = " ".join(text for text, _, _ in warnings)
    yield _observe(
        source,
        result.line,
        result.line,
        f"{name}: {outcome}",
        "dcgm_test",
        test,
        {**found, "message": message or outcome},
    )
    for text, error, line in warnings:
        more = {"message": text, "test": test, **({"error": error} if error else {})}
        gpu = re.search(r"\bGPU (\d{1,3})\b(?!-)", text)
        if gpu or "gpu" in found:
            more["gpu"] = gpu[1] if gpu else found["gpu"]
        yield _observe(source, line, line, text, "dcgm_warning", test, more)
        yield from find_codes(text, source, line)


def _warning(one: Tree) -> tuple[str, str, int]:
    text = one.text("warning") or one.text("message") or one.value
    return re.sub(r"\s+", " ", text).strip(), one.text("error_id"), one.at("warning").line or one.line


def _observe(
    name: str, line: int, last: int, text: str, kind: str, code: str, attributes: dict[str, str]
) -> Observation:
    entity = f"gpu:dcgm-{attributes['gpu']}" if "gpu" in attributes else ""
    return Observation(SOURCE, kind, name, line, last, text, code=code, entity=entity, attributes=attributes)
