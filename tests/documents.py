"""What the documents say of the code, made from the code; `UPDATE_EXPECTED=1 pytest tests/test_documents.py` writes it."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

from collectors.registry import COLLECTORS
from diagnosis.model import Report
from diagnosis.rulebook import find_rules_folder, load_rulebook

ROOT = Path(__file__).resolve().parent.parent


def make_sources_table() -> str:
    """Return the table of sources: what each collector reads, and the layers that it lets one judge."""
    rows: dict[str, list[str]] = {}
    layers: dict[str, list[str]] = {}
    for module in COLLECTORS:
        head = (inspect.getdoc(module) or "").split("\n\n")[0].replace("\n", " ").strip()
        rows.setdefault(module.SOURCE, []).append(head.rstrip(".") + ".")
        layers.setdefault(module.SOURCE, []).extend(
            one for one in module.LAYERS if one not in layers.get(module.SOURCE, [])
        )
    lines = ["| source | what it is | layers it lets one judge |", "|---|---|---|"]
    lines += [
        f"| `{source}` | {' '.join(heads).replace('|', chr(92) + '|')} | {', '.join(layers[source]) or '–'} |"
        for source, heads in sorted(rows.items())
    ]
    return "\n".join(lines)


def make_layers_table() -> str:
    """Return the table of layers with how many causes have a rule."""
    rulebook = load_rulebook(find_rules_folder())
    lines = ["| layer | what belongs there | causes with a rule |", "|---|---|---|"]
    for layer, meaning in rulebook.vocabulary.layers.items():
        known = [cause for cause, (where, _) in rulebook.vocabulary.causes.items() if where == layer]
        ruled = [cause for cause in known if cause in rulebook.causes]
        lines.append(f"| {layer} | {meaning} | {len(ruled)} of {len(known)} |")
    return "\n".join(lines)


def make_report_schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "faultwalk.report/1", **schema}


def make_fields_table() -> str:
    """Return the report's fields, one section a part."""
    schema = make_report_schema()
    parts = [("Report", schema), *sorted(schema["$defs"].items())]
    lines: list[str] = []
    for name, part in parts:
        if "properties" not in part:
            continue
        lines += [
            f"### {name}",
            "",
            re.sub(r"\s+", " ", part.get("description", "")),
            "",
            "| field | type | meaning |",
            "|---|---|---|",
        ]
        for field, value in part["properties"].items():
            lines.append(f"| `{field}` | {_type(value)} | {value.get('description', '')} |")
        lines.append("")
    return "\n".join(lines).rstrip()


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    return str(value.get("type", "any"))


def put_between(text: str, mark: str, content: str) -> str:
    """Return a document with the part between `<!-- mark:begin -->` and `<!-- mark:end -->` replaced."""
    begin, end = f"<!-- {mark}:begin -->", f"<!-- {mark}:end -->"
    head, rest = text.split(begin, 1)
    return f"{head}{begin}\n{content}\n{end}{rest.split(end, 1)[1]}"


def expected_documents() -> dict[Path, str]:
    """Return every generated file with what it should hold."""
    readme = (ROOT / "README.md").read_text("utf-8")
    readme = put_between(put_between(readme, "sources", make_sources_table()), "layers", make_layers_table())
    report = put_between((ROOT / "docs/report.md").read_text("utf-8"), "fields", make_fields_table())
    schema = json.dumps(make_report_schema(), indent=2, ensure_ascii=False) + "\n"
    return {ROOT / "README.md": readme, ROOT / "docs/report.md": report, ROOT / "diagnosis/report.schema.json": schema}
